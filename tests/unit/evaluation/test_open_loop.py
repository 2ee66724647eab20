from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from klda.baselines.ranked import stems_of
from klda.baselines.viral import Viral
from klda.errors import DataError
from klda.evaluation.archive import Archive
from klda.evaluation.open_loop import HISTORIES, PolicyAnswer, ask, open_loop_case, score
from klda.posts.schema import PostTable, microseconds
from klda.text.corpus import Corpus
from klda.types import Keyword, KeywordSet

WEEKS, TEST = 4, 6


def ids(posts, rows):
    return set(posts.column("id", rows).to_pylist())


@pytest.fixture(scope="module", params=HISTORIES)
def case(request, archive, health):
    generator = np.random.default_rng(0)
    return open_loop_case(
        archive, health, TEST, weeks=WEEKS, history=request.param, n_candidates=15, generator=generator
    )


def test_nothing_of_the_test_week_is_in_the_history(archive, case):
    window = archive.corpus.windows[TEST]
    begin, end = microseconds(window.start), microseconds(window.end)
    assert len(case.history) > 0
    assert case.history.documents.time.max() < begin
    assert case.history.documents.window.max() == WEEKS - 1
    assert len(case.history.apart) == 0
    assert case.test.documents.time.min() >= begin
    assert case.test.documents.time.max() < end


def test_a_full_history_has_every_post_that_carries_a_candidate_and_others_what_their_lists_collected(archive, case):
    weeks = range(TEST - WEEKS, TEST)
    everything = np.concatenate([archive.collect(week, case.candidates) for week in weeks])
    lists = zip(weeks, case.history.history, strict=True)
    listed = np.concatenate([archive.collect(week, keywords) for week, keywords in lists])
    found = ids(case.history.posts, case.history.documents.post)
    assert found in (ids(archive.corpus.posts, archive.documents.post[some]) for some in (everything, listed))
    assert set(case.test.documents.post) == set(archive.documents.post[archive.collect(TEST, case.candidates)])


def test_to_propose_nothing_where_there_was_something_to_find_is_wrong():
    silent = PolicyAnswer("silent", {"flu": (), "mask": ()}, (), 0.0)
    assert score(silent, {"flu": ("fever",), "mask": ()}, 2) == {
        "accuracy": 0.0,
        "coverage": 0.0,
        "keyword_accuracy": 0.0,
    }


def test_where_nothing_was_to_be_found_there_is_no_score():
    found = score(PolicyAnswer("eager", {"flu": ("fever",)}, ("fever",), 0.0), {"flu": ()}, 2)
    assert all(np.isnan(value) for value in found.values())


def asked(archive, subject, **options):
    return open_loop_case(
        archive, subject, TEST, weeks=WEEKS, n_candidates=15, generator=np.random.default_rng(0), **options
    )


def test_no_text_of_the_test_week_changes_what_is_asked(world, archive, health):
    spoilt = []
    last = archive.corpus.windows[TEST].start
    for batch in world.batches():
        for post in PostTable(pa.Table.from_batches([batch])):
            gibberish = f"{post.text} zyxxy zyxxy PATIENTS hospitals qwrt{len(spoilt) % 7}"
            spoilt.append(replace(post, text=gibberish) if post.time >= last else post)
    other = Archive(Corpus.from_posts(spoilt, KeywordSet.of("hospital"), workers=1))
    assert other.corpus.vocabulary.words != archive.corpus.vocabulary.words
    first, second = (asked(one, health, history="static") for one in (archive, other))
    assert first.candidates == second.candidates, "the same words in the same order, with the same forms"
    assert first.candidates.keywords == second.candidates.keywords
    assert first.history.vocabulary.words == second.history.vocabulary.words
    assert first.current == second.current


def test_viral_is_asked_every_week_again_and_says_what_it_could_not_do(archive, health, monkeypatch):
    weeks = []

    def recommended(self, history, current, *, generator):
        weeks.append(history.windows[-1])
        if len(weeks) == 1:
            raise DataError("virality cannot be learnt: no post is 28 days old yet")
        return [Keyword(f"{['patient', 'nurse', 'hospital'][len(weeks) - 2]}")]

    monkeypatch.setattr(Viral, "recommended", recommended)
    case = asked(archive, health, history="viral")
    assert [keywords.texts for keywords in case.history.history[1:]] == [
        health.keywords.texts,
        ("patient",),
        ("nurse",),
    ]
    assert case.notes == ("week 2: the list stays: virality cannot be learnt: no post is 28 days old yet",)
    assert weeks == list(archive.corpus.windows[TEST - WEEKS : TEST]), "once for each week"


def test_viral_learns_from_the_archive_and_the_lists_evolve(archive, health):
    case = open_loop_case(archive, health, 7, weeks=3, history="viral", generator=np.random.default_rng(0))
    assert len({keywords.texts for keywords in case.history.history}) > 1


def test_viral_answers_with_what_made_the_candidates(archive, health, monkeypatch):
    case = open_loop_case(archive, health, 7, weeks=3, history="viral", generator=np.random.default_rng(0))
    assert case.recommended
    monkeypatch.setattr(Viral, "recommended", lambda *_, **__: pytest.fail("asked again"))
    answer = ask(case.viral, case, np.random.default_rng(5))
    language = case.history.vocabulary.language
    assert {stems_of(Keyword(word), language) for word in answer.words} == {
        stems_of(keyword, language) for keyword in case.recommended
    }
