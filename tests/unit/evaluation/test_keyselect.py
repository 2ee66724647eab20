"""Words by the company they keep, accepted or rejected by labels."""

from __future__ import annotations

import pytest

from klda.evaluation.keyselect import keyselect_keywords
from klda.evaluation.oracle import MIN_POSTS
from klda.types import KeywordSet

WEEK = 2


def written_out(archive, subject, max_terms, n_questions):
    """The same with sets of posts: ask, accept if F1 rises, and count company anew for every question."""
    inside = archive.positions(WEEK).tolist()
    of_word = {}
    for position in inside:
        for word in archive.documents.take(slice(position, position + 1)).words.tolist():
            of_word.setdefault(word, set()).add(position)
    of_word = {word: posts for word, posts in of_word.items() if word and len(posts) >= MIN_POSTS}
    relevant = {position for position in inside if archive.labels[position] in subject.labels}
    accepted, rejected, caught, terms, best = [], [], set(), [], 0.0

    def answer(keyword, posts):
        nonlocal best, caught
        f1 = 2 * len((caught | posts) & relevant) / (len(caught | posts) + len(relevant))
        if f1 > best:
            best, caught = f1, caught | posts
            accepted.append(posts)
            terms.append(keyword)
        else:
            rejected.append(posts)

    def room():
        return max_terms - sum(len(keyword.forms) for keyword in terms)

    asked = 0
    for keyword in subject.keywords:
        if asked < n_questions and len(keyword.forms) <= room():
            answer(keyword, set(archive.collect(WEEK, KeywordSet((keyword,))).tolist()))
            asked += 1
    while asked < n_questions and of_word and room():

        def score(word):
            posts = of_word[word]
            return sum(len(posts & other) for other in accepted) - sum(len(posts & other) for other in rejected)

        word = max(of_word, key=lambda w: (score(w), len(of_word[w]), -w))
        posts, keyword = of_word.pop(word), archive.corpus.vocabulary.keyword(word)
        if len(keyword.forms) <= room():
            answer(keyword, posts)
            asked += 1
    return [keyword.text for keyword in terms]


@pytest.mark.parametrize(("max_terms", "n_questions"), [(8, 25), (12, 60), (2, 10)])
def test_is_the_greedy_choice_written_out(archive, health, max_terms, n_questions):
    found = keyselect_keywords(archive, WEEK, health, max_terms, n_questions)
    assert list(found.texts) == written_out(archive, health, max_terms, n_questions)
    assert sum(len(keyword.forms) for keyword in found) <= max_terms


def test_the_first_list_is_asked_about_first(archive, health):
    found = keyselect_keywords(archive, WEEK, health, 20, n_questions=len(health.keywords))
    assert set(found.texts) <= set(health.keywords.texts)


def test_more_questions_find_more_posts_of_the_subject(archive, health):
    relevant = set(archive.on_topic(health.labels, WEEK).tolist())

    def f1(n_questions):
        caught = set(archive.collect(WEEK, keyselect_keywords(archive, WEEK, health, 20, n_questions)).tolist())
        return 2 * len(caught & relevant) / (len(caught) + len(relevant))

    assert f1(100) > f1(len(health.keywords))
