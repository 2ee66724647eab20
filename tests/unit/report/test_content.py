"""Volumes and words of a report are those that counting by hand gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from klda.advice.proposal import Proposal
from klda.advice.topics import TopicShare
from klda.errors import DataError
from klda.posts.schema import PostTable, microseconds
from klda.report.content import activity_in, report_of, word_changes
from klda.report.proposal_report import topics_between
from klda.text.corpus import Corpus
from klda.text.documents import Documents, Ragged, offsets
from klda.text.matching import Matcher
from klda.text.vocabulary import Vocabulary
from klda.types import Budget, KeywordSet, Post, Window

START = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(weeks=1)
TEXTS = (
    ("health care costs", "drug prices", "health drug"),
    ("health mask supplies", "mask supplies shortage", "drug prices", "health care", "mask health drug supplies"),
)
CANDIDATES = KeywordSet.of("health", "drug", "mask")
HISTORY = (KeywordSet.of("health", "drug"), KeywordSet.of("health", "mask"))


def corpus_of(texts: tuple[tuple[str, ...], ...], candidates: KeywordSet) -> Corpus:
    posts = [
        Post(f"{w}-{i}", START + w * WEEK + timedelta(hours=i), text)
        for w, week in enumerate(texts)
        for i, text in enumerate(week)
    ]
    words = sorted({word for post in posts for word in post.text.split()})
    vocabulary = Vocabulary.of({word: {word: 1} for word in words})
    lists = [sorted(vocabulary.index(word) for word in post.text.split()) for post in posts]
    documents = Documents(
        offsets(np.array([len(row) for row in lists])),
        np.array([word for row in lists for word in row], dtype=np.int32),
        np.ones(sum(map(len, lists)), dtype=np.int32),
        np.array([microseconds(post.time) for post in posts]),
        np.array([(post.time - START) // WEEK for post in posts], dtype=np.int32),
        np.arange(len(posts)),
    )
    matcher = Matcher(candidates)
    return Corpus(
        documents=documents,
        observed=Ragged.of([matcher.match(post.text) for post in posts]),
        apart=documents.take(slice(0, 0)),
        vocabulary=vocabulary,
        candidates=candidates,
        windows=tuple(Window(START + w * WEEK, START + (w + 1) * WEEK) for w in range(len(texts))),
        history=HISTORY,
        posts=PostTable.of(posts),
    )


CORPUS = corpus_of(TEXTS, CANDIDATES)


def test_activity_counts_the_posts_of_each_keyword_in_each_window() -> None:
    found = {(row.window, row.keyword): row for row in activity_in(CORPUS, CANDIDATES)}
    for week, texts in enumerate(TEXTS):
        for keyword in CANDIDATES.texts:
            row = found[START + week * WEEK, keyword]
            assert row.posts == sum(keyword in text.split() for text in texts)
            assert row.active == (keyword in HISTORY[week])


def test_collected_posts_are_shared_and_add_up_to_distinct_posts() -> None:
    rows = activity_in(CORPUS, CANDIDATES)
    for week, texts in enumerate(TEXTS):
        distinct = sum(any(k in text.split() for k in HISTORY[week].texts) for text in texts)
        assert sum(r.collected for r in rows if r.window == START + week * WEEK) == pytest.approx(distinct)
    assert all(row.collected == 0 for row in rows if not row.active)


def test_words_are_compared_by_the_share_of_posts() -> None:
    changes = word_changes(CORPUS.window(-1), KeywordSet.of("health", "drug"), KeywordSet.of("health", "mask"))
    shares = {change.word: (change.current, change.proposed) for change in changes}
    assert shares == {
        "shortage": (0, 1 / 4),
        "supplies": (2 / 4, 3 / 4),
        "prices": (1 / 4, 0),
    }
    assert [change.word for change in changes] == ["shortage", "supplies", "prices"]


def test_keywords_the_corpus_was_not_matched_against_are_matched_now() -> None:
    proposal = Proposal("klda", KeywordSet.of("health"), keep=KeywordSet.of("health"), add=KeywordSet.of("supplies"))
    report = report_of(proposal, CORPUS)
    assert sum(row.posts for row in report.activity if row.keyword == "supplies") == 3


def test_a_report_carries_what_the_caller_adds() -> None:
    proposal = Proposal("klda", KeywordSet.of("health", "drug"), keep=KeywordSet.of("health"))
    topic = TopicShare(("care",), 1.0, 1.0)
    report = report_of(proposal, CORPUS, budget=Budget(max_posts=9), topics=[topic], settings={"novelty": "0.5"})
    assert report.title == "Keywords for health, drug"
    assert report.windows == (START, START + WEEK)
    assert (report.budget.max_posts, report.topics, report.settings) == (9, (topic,), {"novelty": "0.5"})


def test_a_proposal_without_keywords_is_refused() -> None:
    with pytest.raises(DataError, match="has no keyword"):
        report_of(Proposal("klda", KeywordSet()), CORPUS.with_history([KeywordSet(), KeywordSet()]))


def test_words_of_topics_are_keywords_of_neither_list() -> None:
    corpus = corpus_of((TEXTS[0] * 20, TEXTS[1] * 20), CANDIDATES)
    health, both = KeywordSet.of("health"), KeywordSet.of("health", "mask")
    found, note = topics_between(Proposal("klda", health, keep=health, add=both - health), corpus)
    words = {word for topic in found for word in topic.words}
    assert note is None
    assert {"care", "supplies"} <= words
    assert not {"health", "mask"} & words
    assert sum(topic.now for topic in found) == pytest.approx(1)
    assert sum(topic.then for topic in found) == pytest.approx(1)


def test_few_posts_have_no_topics_and_the_report_says_why() -> None:
    health = KeywordSet.of("health")
    found, note = topics_between(Proposal("klda", health, keep=health), CORPUS)
    assert found == ()
    assert note is not None
    assert "fewer than 20 recent posts" in note
