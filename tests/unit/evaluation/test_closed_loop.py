from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.advice.proposal import Proposal
from klda.errors import SettingError
from klda.evaluation.closed_loop import LoopSettings, against_labels, run_closed_loop
from klda.evaluation.oracle import MIN_POSTS, best_keywords, best_single_keywords
from klda.evaluation.references import ORACLES
from klda.evaluation.subjects import Subject
from klda.policies.registry import policy
from klda.types import KeywordSet

OTHERS = KeywordSet.of("today", "horse")
WINDOWS = range(4)


class Switching:
    """Proposes other keywords, and notes what it was shown after so many windows."""

    name = "switching"

    def __init__(self):
        self.shown = {}

    def propose(self, situation, *, generator, progress=None):
        seen = set(situation.history.posts.column("id").to_pylist())
        self.shown[situation.history.n_windows] = seen, situation.budget
        return Proposal(self.name, situation.current, add=OTHERS, drop=situation.current)


def loop(archive, subject, policy, **settings):
    chosen = LoopSettings(**({"cap": 10_000} | settings))
    return run_closed_loop(archive, subject, policy, chosen, windows=WINDOWS, generator=np.random.default_rng(0))


def posts(archive, positions):
    return set(archive.corpus.posts.column("id", archive.documents.post[positions]).to_pylist())


def test_measures_are_those_of_the_posts_that_the_list_collected(archive, health):
    weeks = loop(archive, health, Switching())
    assert (weeks[0].keywords, weeks[-1].keywords) == (health.keywords.texts, OTHERS.texts)
    for window, week in enumerate(weeks):
        caught = set(archive.collect(window, KeywordSet.of(*week.keywords)).tolist())
        static = set(archive.collect(window, health.keywords).tolist())
        relevant = {int(p) for p in archive.positions(window) if archive.labels[p] == "health"}
        hits = len(caught & relevant)
        precision, recall = hits / len(caught), hits / len(relevant)
        assert (week.volume, week.matched) == (len(caught), len(caught))
        assert (week.precision, week.recall) == (pytest.approx(precision), pytest.approx(recall))
        assert week.f1 == pytest.approx(2 * precision * recall / (precision + recall) if hits else 0.0)
        assert week.novelty == pytest.approx(len(caught - static) / len(caught))
    assert weeks[0].retention == pytest.approx(1.0)
    assert weeks[0].drift == 0.0
    assert weeks[-1].retention < 0.9
    assert weeks[-1].drift > weeks[0].drift


def test_drift_is_the_distance_from_the_words_of_the_first_two_windows(archive, health):
    def words(*windows):
        tokens = archive.documents.take(np.concatenate([archive.collect(w, health.keywords) for w in windows]))
        counts = np.bincount(tokens.words, tokens.counts, len(archive.corpus.vocabulary))
        return counts / counts.sum()

    def bits(p, q):
        return (p[p > 0] * np.log2(p[p > 0] / q[p > 0])).sum()

    weeks, founding = loop(archive, health, "static"), words(0, 1)
    for window in (2, 3):
        now = words(window)
        middle = (now + founding) / 2
        expected = np.sqrt((bits(now, middle) + bits(founding, middle)) / 2)
        assert weeks[window].drift == pytest.approx(expected)


def test_a_policy_is_shown_what_its_lists_collected_and_nothing_else(archive, health):
    policy = Switching()
    weeks = loop(archive, health, policy)
    assert max(policy.shown) == len(WINDOWS) - 1
    for n_windows, (shown, _) in policy.shown.items():
        lists = enumerate(KeywordSet.of(*week.keywords) for week in weeks[:n_windows])
        assert shown == set().union(*(posts(archive, archive.collect(window, listed)) for window, listed in lists))


def test_what_is_beyond_the_cap_is_neither_counted_nor_shown(archive, health):
    policy = Switching()
    weeks = loop(archive, health, policy, cap=20)
    assert all(week.volume == min(20, week.matched) for week in weeks)
    assert max(week.matched for week in weeks) > 20
    for n_windows, (shown, _) in policy.shown.items():
        assert len(shown) == sum(week.volume for week in weeks[:n_windows])


def test_a_policy_may_plan_for_the_most_that_the_first_list_has_brought(archive, health):
    policy = Switching()
    loop(archive, health, policy, cap=1)
    for n_windows, (_, budget) in policy.shown.items():
        assert budget.max_posts == max(len(archive.collect(window, health.keywords)) for window in range(n_windows))


@pytest.mark.parametrize("reference", ORACLES)
def test_references_start_from_the_first_list_too(archive, health, reference):
    assert loop(archive, health, reference)[0].keywords == health.keywords.texts


def test_posts_by_meaning_need_no_list_from_the_second_week_on(archive, health):
    first, *later = loop(archive, health, "labels-retrieval", cap=50)
    assert first.keywords == health.keywords.texts
    assert all(week.keywords == () and 0 < week.volume <= 50 for week in later)


def test_the_first_list_stays_where_nothing_tells_what_a_subject_means(archive, health):
    unknown = replace(health, labels=frozenset({"no label"}))
    weeks = loop(archive, unknown, "labels-retrieval")
    assert {week.keywords for week in weeks} == {health.keywords.texts}


def words_and_f1(archive):
    """The posts that carry each word worth a look in the third window, and F1 of what was caught there, plainly."""
    inside = archive.positions(2)
    carrying = {}
    for place, position in enumerate(inside):
        for word in archive.documents.take(np.array([position])).words.tolist():
            carrying.setdefault(word, set()).add(place)
    relevant = {place for place, position in enumerate(inside) if archive.labels[position] == "health"}
    carrying = {w: posts for w, posts in carrying.items() if w and len(posts & relevant) >= MIN_POSTS}
    return carrying, lambda caught: 2 * len(caught & relevant) / (len(caught) + len(relevant))


@pytest.mark.parametrize("max_terms", [3, 200])
def test_a_reference_takes_the_word_that_raises_f1_most_until_none_does(archive, max_terms):
    carrying, f1 = words_and_f1(archive)
    chosen, caught, room = [], set(), max_terms
    while carrying:
        word = max(carrying, key=lambda w: (f1(caught | carrying[w]), -w))
        posts, keyword = carrying.pop(word), archive.corpus.vocabulary.keyword(word)
        if f1(caught | posts) <= f1(caught):
            break
        if len(keyword.forms) <= room:
            chosen.append(keyword.text)
            caught, room = caught | posts, room - len(keyword.forms)
    assert best_keywords(archive, 2, frozenset({"health"}), max_terms).texts == tuple(chosen)


def test_a_reference_word_by_word_takes_those_with_the_best_f1_of_their_own(archive):
    carrying, f1 = words_and_f1(archive)
    chosen, room = [], 4
    for word in sorted(carrying, key=lambda w: (-f1(carrying[w]), w)):
        keyword = archive.corpus.vocabulary.keyword(word)
        if len(keyword.forms) <= room:
            chosen.append(keyword.text)
            room -= len(keyword.forms)
    assert best_single_keywords(archive, 2, frozenset({"health"}), max_terms=4).texts == tuple(chosen)


def test_what_cannot_be_measured_is_no_number(archive):
    nothing = np.empty(0, dtype=np.int64)
    assert set(against_labels(archive, frozenset(), 0, nothing).values()) == {None}
    empty = against_labels(archive, frozenset({"health"}), 0, nothing)
    assert empty == {"relevant": empty["relevant"], "recall": 0.0, "precision": None, "f1": 0.0}
    assert empty["relevant"] == np.count_nonzero(archive.labels[archive.positions(0)] == "health") > 0
    nowhere = against_labels(archive, frozenset({"no such label"}), 0, archive.positions(0))
    assert nowhere == {"relevant": 0, "recall": None, "precision": 0.0, "f1": None}


def test_a_week_in_which_nothing_was_caught_says_nothing_of_words(archive):
    silent = Subject("silence", KeywordSet.of("nobody says this"), frozenset({"health"}))
    for week in loop(archive, silent, policy("static")):
        assert (week.volume, week.precision, week.retention, week.novelty, week.drift) == (0, None, None, None, None)


class Pessimist(Switching):
    """Is told apart from the yardstick by its name alone."""

    name = "static"


def test_the_yardstick_keeps_the_first_list_whatever_a_forecast_says(archive, health):
    asked = Pessimist()
    lists = {week.keywords for week in loop(archive, health, asked, cap=1)}
    assert lists == {health.keywords.texts}
    assert not asked.shown, "it was not even asked"


def test_a_policy_by_name_is_that_policy_and_no_other(archive, health):
    assert loop(archive, health, "counting") == loop(archive, health, policy("counting"))
    with pytest.raises(SettingError, match="foo"):
        loop(archive, health, "foo")
    with pytest.raises(SettingError, match="window 99: the archive has"):
        run_closed_loop(
            archive, health, "static", LoopSettings(cap=9), windows=[99], generator=np.random.default_rng(0)
        )
