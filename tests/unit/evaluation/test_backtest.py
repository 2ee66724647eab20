from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from klda.errors import DataError, SettingError
from klda.evaluation import backtest as module
from klda.evaluation.archive import Archive
from klda.evaluation.backtest import BacktestSettings, run, tasks
from klda.evaluation.backtest_summary import closed_summary, open_summary
from klda.evaluation.closed_loop import LoopSettings, run_closed_loop, volume_cap
from klda.evaluation.open_loop import LAST_TRUTH, last_truth, score
from klda.evaluation.oracle import best_keywords
from klda.evaluation.truth import Truth, TruthReading, TruthSettings, measure_truth, raw_ranking
from klda.policies.registry import policy
from klda.text.corpus import Corpus
from klda.text.storage import save_corpus
from klda.types import KeywordSet

SETTINGS = BacktestSettings(
    policies=("counting", "frequent", "random", "static"), weeks=3, history="static", n_candidates=15
)


@pytest.fixture(scope="session")
def corpus_folder(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive") / "corpus"
    save_corpus(archive.corpus, folder)
    return folder


@pytest.fixture
def quick_truth(monkeypatch):
    """A truth of few fits: these tests are about running cases, not about what is true."""
    few = TruthSettings(seeds=1, iterations=5, equal_samples=1)
    calls = []

    def measure(test, current, *, generator):
        calls.append(current)
        return measure_truth(test, current, generator=generator, settings=few)

    monkeypatch.setattr(module, "measure_truth", measure)
    return calls


def test_every_case_is_run_and_summed_up(archive, corpus_folder, health, tmp_path, quick_truth):
    jobs = tasks(archive, corpus_folder, tmp_path, [health], SETTINGS, [5, 6])
    results = list(run(jobs))
    assert [r["week"] for r in results] == [str(archive.corpus.windows[w].start.date()) for w in (5, 6)]
    assert all(set(r["answers"]) == set(SETTINGS.policies) for r in results)
    summary = open_summary([r | {"counts": True} for r in results], SETTINGS.policies, SETTINGS.tops)
    entry = summary["policies"]["counting"]
    assert set(entry) == {"accuracy", "coverage", "keyword_accuracy", "skill"}
    assert set(entry["accuracy"]["2"]) == {"mean", "low", "high"}
    assert summary["corrected"]["policies"].keys() == summary["policies"].keys()
    json.dumps(summary, allow_nan=False)


def test_long_lists_are_held_against_a_truth_as_long(archive, corpus_folder, health, tmp_path, monkeypatch):
    def measure(test, current, *, generator):
        reading = TruthReading(dict.fromkeys(current.texts, test.candidates.texts), halves=({}, {}))
        return Truth(reading, reading, n_eligible=len(test.candidates))

    monkeypatch.setattr(module, "measure_truth", measure)
    settings = replace(SETTINGS, policies=("static",), tops=(2, 12))
    (result,) = run(tasks(archive, corpus_folder, tmp_path, [health], settings, [5]))
    assert len(result["candidates"]) > 12
    assert result["answers"]["static"]["scores"]["raw/12"]["coverage"] == pytest.approx(len(health.keywords) / 12)


def test_a_run_that_was_killed_goes_on_where_it_was(archive, corpus_folder, health, tmp_path, quick_truth):
    first = replace(SETTINGS, policies=("frequent",))
    before = list(run(tasks(archive, corpus_folder, tmp_path, [health], first, [5])))
    assert len(quick_truth) == 1
    both = replace(SETTINGS, policies=("frequent", "random"))
    after = list(run(tasks(archive, corpus_folder, tmp_path, [health], both, [5])))
    assert len(quick_truth) == 1, "the truth was measured twice"
    assert after[0]["answers"]["frequent"] == before[0]["answers"]["frequent"]
    assert "random" in after[0]["answers"]


def test_the_same_seed_gives_the_same_result_whatever_else_runs(archive, corpus_folder, health, tmp_path, quick_truth):
    alone = replace(SETTINGS, policies=("random",))
    one = list(run(tasks(archive, corpus_folder, tmp_path / "a", [health], alone, [5])))
    two = list(run(tasks(archive, corpus_folder, tmp_path / "b", [health], SETTINGS, [5])))
    assert one[0]["answers"]["random"]["scores"] == two[0]["answers"]["random"]["scores"]


def test_chance_is_the_mean_of_many_draws(archive, corpus_folder, health, tmp_path, quick_truth, monkeypatch):
    drawn = []

    def noted(answer, truth, top):
        drawn.append((str(answer.lists), score(answer, truth, top)["accuracy"]))
        return score(answer, truth, top)

    monkeypatch.setattr(module, "score", noted)
    settings = replace(SETTINGS, policies=("random",), tops=(2,))
    (result,) = run(tasks(archive, corpus_folder, tmp_path, [health], settings, [5]))
    assert len({lists for lists, _ in drawn}) == module.RANDOM_DRAWS
    of_raw = [accuracy for _, accuracy in drawn[::2]]  # each draw is scored by both readings
    assert result["answers"]["random"]["scores"]["raw/2"]["accuracy"] == pytest.approx(np.mean(of_raw), abs=1e-6)


def test_a_subject_whose_labels_no_post_carries_is_refused_with_those_that_there_are(
    archive, corpus_folder, health, tmp_path
):
    closed = replace(SETTINGS, loop="closed")
    misspelt = replace(health, labels=frozenset({"helth"}))
    with pytest.raises(SettingError, match=r"'health': no post .* label helth; the most frequent .*health"):
        tasks(archive, corpus_folder, tmp_path, [health, misspelt], closed, [])
    for labels in (frozenset[str](), frozenset({"health", "helth"})):
        assert tasks(archive, corpus_folder, tmp_path, [replace(health, labels=labels)], closed, [])


def test_windows_of_hours_are_cases_of_their_own(world, health, tmp_path, quick_truth):
    corpus = Corpus.from_posts(world, health.keywords, window="12h", workers=1)
    save_corpus(corpus, tmp_path / "corpus")
    settings = replace(SETTINGS, policies=("frequent",), weeks=8)
    windows = [20, 21, 22, 23]
    results = list(run(tasks(Archive(corpus), tmp_path / "corpus", tmp_path / "work", [health], settings, windows)))
    assert [r["week"] for r in results] == [str(corpus.windows[w]) for w in windows]
    assert len({r["week"] for r in results}) == 4
    assert len(quick_truth) == 4


def test_a_window_with_too_few_posts_to_judge_is_said_to_be_so(archive, corpus_folder, health, tmp_path, monkeypatch):
    def too_few(test, current, *, generator):
        raise DataError("there are no documents")

    monkeypatch.setattr(module, "measure_truth", too_few)
    jobs = tasks(archive, corpus_folder, tmp_path, [health], SETTINGS, [5])
    assert [(found["error"], found["counts"]) for found in run(jobs)] == [("there are no documents", False)]
    assert list(run(jobs)) == list(run(jobs)), "it is known from then on"


def test_other_keywords_or_labels_under_an_old_name_are_run_anew(archive, corpus_folder, health, tmp_path):
    settings = replace(SETTINGS, policies=("static",), loop="closed", loop_weeks=2)
    others = replace(health, keywords=KeywordSet.of("doctor")), replace(health, labels=frozenset({"climate"}))
    before, other, judged = (
        next(run(tasks(archive, corpus_folder, tmp_path, [subject], settings, []))) for subject in (health, *others)
    )
    assert before["weeks"][0]["keywords"] == health.keywords.texts
    assert other["weeks"][0]["keywords"] == ("doctor",)
    assert judged["weeks"][0]["recall"] != before["weeks"][0]["recall"]


def test_last_weeks_truth_is_right_where_nothing_changes(archive, corpus_folder, health, tmp_path):
    """Asked about the week that it has measured, it says what the truth says."""
    case = module.case_of(tasks(archive, corpus_folder, tmp_path, [health], SETTINGS, [5])[0])
    same = replace(case, test=case.history.window(-1))
    answer = last_truth(same, top=3)
    truth = raw_ranking(same.test, same.current, TruthSettings())
    assert score(answer, truth, 3)["accuracy"] == 1
    settings = replace(SETTINGS, policies=(LAST_TRUTH,))
    (result,) = run(tasks(archive, corpus_folder, tmp_path, [health], settings, [5]))
    assert result["answers"][LAST_TRUTH]["proposed"].keys() == answer.lists.keys()


def test_a_test_window_without_enough_history_is_refused(archive, corpus_folder, health, tmp_path):
    with pytest.raises(SettingError, match="3 windows before"):
        tasks(archive, corpus_folder, tmp_path, [health], SETTINGS, [2])


def test_a_static_list_never_drifts_from_itself(archive, health):
    windows = range(4)
    settings = LoopSettings(cap=volume_cap(archive, health, windows))
    weeks = run_closed_loop(
        archive, health, policy("static"), settings, windows=windows, generator=np.random.default_rng(0)
    )
    assert {week.keywords for week in weeks} == {health.keywords.texts}
    assert all(week.novelty == 0 for week in weeks)
    assert all(week.volume <= settings.cap for week in weeks)
    assert all(0 < week.precision <= 1 and 0 < week.recall <= 1 for week in weeks)


def test_a_burst_beyond_the_cap_takes_no_keyword_from_a_static_list(archive, health):
    windows = range(archive.n_windows)
    tight = LoopSettings(cap=volume_cap(archive, health, windows) // 3)
    weeks = run_closed_loop(
        archive, health, policy("static"), tight, windows=windows, generator=np.random.default_rng(0)
    )
    assert {week.keywords for week in weeks} == {health.keywords.texts}
    assert all(week.volume <= tight.cap < week.matched for week in weeks)


def test_knowing_next_weeks_labels_beats_a_static_list(archive, health):
    windows = range(4)
    settings = LoopSettings(cap=10_000)
    f1 = {}
    for name in (policy("static"), "labels-next-week"):
        weeks = run_closed_loop(archive, health, name, settings, windows=windows, generator=np.random.default_rng(0))
        f1[str(name)] = np.mean([week.f1 for week in weeks[1:]])
    static, oracle = f1.values()
    assert oracle > static


def test_an_oracle_keeps_to_its_number_of_terms(archive):
    found = best_keywords(archive, 3, frozenset({"health"}), max_terms=4)
    assert 1 <= found.n_terms <= 4


def test_closed_loops_are_summed_up_by_policy_and_subject(archive, corpus_folder, health, tmp_path):
    settings = replace(SETTINGS, loop="closed", policies=("static", "frequent", "labels-last-week"))
    results = list(run(tasks(archive, corpus_folder, tmp_path, [health], settings, [])))
    summary = closed_summary(results, settings.policies)
    assert set(summary["policies"]) == set(settings.policies)
    assert summary["paired"]["frequent"]["static"]["f1"]["mean"] is not None
    assert set(summary["subjects"]["health"]) == set(settings.policies)
    json.dumps(summary, allow_nan=False)
    assert summary["n_comparisons"] == len(summary["paired"]) == 2
    alone = closed_summary(results, settings.policies[1:])
    assert (alone["n_comparisons"], alone["paired"]) == (0, {}), "only with the static list is anything compared"


def test_a_closed_loop_may_stop_after_its_first_weeks(archive, corpus_folder, health, tmp_path):
    settings = replace(SETTINGS, loop="closed", policies=("static",), loop_weeks=3)
    (result,) = run(tasks(archive, corpus_folder, tmp_path, [health], settings, []))
    assert [week["window"] for week in result["weeks"]] == [str(window) for window in archive.corpus.windows[:3]]


def test_a_closed_loop_of_a_single_window_is_refused(archive, health, tmp_path):
    closed = replace(SETTINGS, loop="closed")
    with pytest.raises(SettingError, match="it takes two"):
        tasks(Archive(archive.corpus.window(0)), tmp_path, tmp_path, [health], closed, [])
