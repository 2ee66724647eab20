"""The labelled open loop: what a next list would have brought, by labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.advice.constants import ROOM
from klda.advice.proposal import Proposal
from klda.errors import DataError, SettingError
from klda.evaluation.archive import Archive
from klda.evaluation.backtest import BacktestSettings, run, tasks
from klda.evaluation.labelled import LabelledCase, answered
from klda.evaluation.oracle import best_keywords
from klda.evaluation.subjects import Subject
from klda.text.storage import save_corpus
from klda.types import KeywordSet

TEST, HISTORY = 5, 3


class Noting:
    """Proposes a list of its own, and notes what it was asked."""

    name = "noting"
    finds_candidates = True

    def propose(self, situation, *, generator, progress=None):
        self.situation = situation
        return Proposal(self.name, situation.current, keep=situation.current, add=KeywordSet.of("flu"))


class Given(Noting):
    finds_candidates = False


class Mute:
    name = "mute"
    finds_candidates = True

    def propose(self, *_, **__):
        raise DataError("nothing to say")


@pytest.fixture
def case(archive, health):
    return LabelledCase(archive, health, TEST, HISTORY)


def ask(case, policy):
    return answered(case, policy, np.random.default_rng(0))


def test_a_next_list_is_judged_by_the_labels_of_the_test_week(archive, health, case):
    found = ask(case, Noting())
    assert found["keywords"] == [*health.keywords.texts, "flu"]
    caught = set(archive.collect(TEST, health.keywords | KeywordSet.of("flu")).tolist())
    relevant = set(archive.on_topic(health.labels, TEST).tolist())
    precision, recall = len(caught & relevant) / len(caught), len(caught & relevant) / len(relevant)
    assert found["volume"] == len(caught)
    assert (found["precision"], found["recall"]) == (pytest.approx(precision), pytest.approx(recall))
    assert found["f1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_every_post_of_the_weeks_before_is_known_and_none_of_the_test_week(archive, case):
    policy = Noting()
    ask(case, policy)
    known = np.concatenate([archive.positions(week) for week in range(TEST - HISTORY, TEST)])
    ids = archive.corpus.posts.column("id", archive.documents.post[known]).to_pylist()
    assert set(policy.situation.history.posts.column("id").to_pylist()) == set(ids)
    assert len(policy.situation.history) + len(policy.situation.history.apart) == len(known)
    assert policy.situation.history.windows == archive.corpus.windows[TEST - HISTORY : TEST]


def test_there_is_room_for_the_current_list_and_ten_more(health, case):
    for policy in (Noting(), Given()):
        ask(case, policy)
        assert policy.situation.budget.max_keywords == len(health.keywords) + ROOM
        assert policy.situation.current == health.keywords


def test_policies_that_find_no_candidates_are_given_the_same(health, case):
    one, other = Given(), Given()
    ask(case, one)
    ask(case, other)
    assert one.situation.candidates == other.situation.candidates
    assert len(one.situation.candidates) > len(health.keywords)


def test_who_cannot_answer_leaves_the_list_as_it_is_and_says_why(case):
    found, current = ask(case, Mute()), ask(case, "static")
    assert found["error"] == "nothing to say"
    assert (found["keywords"], found["f1"]) == (current["keywords"], current["f1"])


def test_references_know_the_labels_of_their_week(archive, health, case):
    room = len(health.keywords) + ROOM
    for name, week in (("labels-last-week", TEST - 1), ("labels-next-week", TEST)):
        assert ask(case, name)["keywords"] == list(best_keywords(archive, week, health.labels, room).texts)


@pytest.mark.parametrize("name", ["labels-keyselect", "labels-50", "labels-200", "labels-1000"])
def test_references_of_last_week_see_no_label_of_the_test_week(archive, health, case, name):
    found = ask(case, name)
    labels = archive.labels.copy()
    labels[archive.positions(TEST)] = None
    blind = Archive(archive.corpus)
    blind.__dict__["labels"] = labels
    assert ask(replace(case, archive=blind), name)["keywords"] == found["keywords"]
    assert 0 < len(found["keywords"]) <= len(health.keywords) + ROOM


def test_posts_by_meaning_have_no_keywords_and_as_many_posts_as_the_best_list(case):
    found, best = ask(case, "labels-retrieval"), ask(case, "labels-next-week")
    assert found["keywords"] == []
    assert found["volume"] == best["volume"]
    assert found["f1"] > 0


@pytest.fixture(scope="module")
def folder(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled") / "corpus"
    save_corpus(archive.corpus, folder)
    return folder


SETTINGS = BacktestSettings(policies=("frequent",), loop="labelled", weeks=HISTORY)


def test_answers_are_kept_and_only_missing_ones_are_asked_for(archive, health, folder, tmp_path, monkeypatch):
    (before,) = run(tasks(archive, folder, tmp_path, [health], SETTINGS, [TEST]))
    more = replace(SETTINGS, policies=("frequent", "static"))
    (after,) = run(tasks(archive, folder, tmp_path, [health], more, [TEST]))
    assert after["answers"]["frequent"] == before["answers"]["frequent"]
    assert list(after["answers"]) == ["frequent", "static"]


def test_variants_of_a_policy_have_settings_of_their_own(archive, health, folder, tmp_path):
    forbidding = {"klda~one word a keyword": {"top": 1}, "klda~without vectors": {"use_vectors": False}}
    settings = replace(SETTINGS, policies=("klda", *forbidding), policy_settings=forbidding)
    (found,) = run(tasks(archive, folder, tmp_path, [health], settings, [TEST]))
    assert found["answers"].keys() == {"klda", *forbidding}
    assert not any("error" in answer for answer in found["answers"].values())


def test_a_subject_without_labels_cannot_be_judged(archive, folder, tmp_path):
    with pytest.raises(SettingError, match="'racing' has no labels"):
        tasks(archive, folder, tmp_path, [Subject("racing", KeywordSet.of("horse"))], SETTINGS, [TEST])
