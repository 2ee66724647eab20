from __future__ import annotations

import json
from dataclasses import replace

import pytest

from klda.errors import DataError
from klda.evaluation import backtest, studies
from klda.evaluation.backtest import BacktestSettings, tasks
from klda.evaluation.studies import StudyTask, run_study
from klda.evaluation.study_tables import divergence_tables, perplexity_tables, study_tables
from klda.evaluation.subjects import Subject
from klda.evaluation.truth import TruthSettings, measure_truth
from klda.text.storage import save_corpus
from klda.types import KeywordSet

SETTINGS = BacktestSettings(policies=("counting", "frequent"), weeks=3, history="static", n_candidates=12)
QUICK = {
    "tables": {},
    "perplexity": {"pretraining_iterations": 20, "max_iterations": 0},
    "divergence": {"iterations": 5},
}
"""The preset `paper` has tests of its own."""


@pytest.fixture(scope="module")
def corpus_folder(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive") / "corpus"
    save_corpus(archive.corpus, folder)
    return folder


@pytest.fixture(autouse=True)
def quick_truth(monkeypatch):
    few = TruthSettings(seeds=1, iterations=5, equal_samples=1)
    monkeypatch.setattr(
        backtest,
        "measure_truth",
        lambda test, current, *, generator: measure_truth(test, current, generator=generator, settings=few),
    )


def jobs(study, archive, corpus_folder, work, subjects):
    cases = tasks(archive, corpus_folder, work, subjects, SETTINGS, [5, 6])
    return [StudyTask(study, case, QUICK[study]) for case in cases]


@pytest.mark.parametrize("study", QUICK)
def test_a_study_asks_every_case_and_comes_out_as_tables(study, archive, corpus_folder, health, tmp_path):
    results = list(run_study(jobs(study, archive, corpus_folder, tmp_path, [health])))
    assert [(r["subject"], r["week"]) for r in results] == [
        ("health", str(archive.corpus.windows[w].start.date())) for w in (5, 6)
    ]
    tables = study_tables(study, results, (2, 3))
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    json.dumps([table.to_dict() for table in tables] + results, allow_nan=False)


def test_a_study_that_was_killed_goes_on_where_it_was(archive, corpus_folder, health, tmp_path, monkeypatch):
    both = jobs("divergence", archive, corpus_folder, tmp_path, [health])
    first = next(run_study(both[:1]))
    asked = []
    original = studies.case_of
    monkeypatch.setattr(studies, "case_of", lambda task: asked.append(task) or original(task))
    again, _ = run_study(both)
    assert again == first
    assert asked == [both[1].task]


def test_answers_under_other_settings_are_not_taken_for_these(archive, corpus_folder, health, tmp_path):
    (job, *_) = jobs("perplexity", archive, corpus_folder, tmp_path, [health])
    (short,) = run_study([job])
    (shorter,) = run_study([replace(job, settings=job.settings | {"pretraining_iterations": 2})])
    assert shorter["models"]["klda"] != short["models"]["klda"]
    assert shorter["models"]["unigram"] == short["models"]["unigram"]


def test_tables_show_policies_that_are_asked_for_later(archive, corpus_folder, health, tmp_path):
    (job, *_) = jobs("tables", archive, corpus_folder, tmp_path, [health])
    next(run_study([job]))
    more = replace(job, task=replace(job.task, settings=replace(SETTINGS, policies=("counting", "static"))))
    assert "static" in next(run_study([more]))["answers"]


def test_tables_do_not_depend_on_what_an_earlier_run_asked(archive, corpus_folder, health, tmp_path):
    (job, *_) = jobs("tables", archive, corpus_folder, tmp_path, [health])
    one = replace(job, task=replace(job.task, settings=replace(SETTINGS, policies=("counting",))))
    fresh = next(run_study([replace(one, task=replace(one.task, work=str(tmp_path / "fresh")))]))
    more = replace(job, task=replace(job.task, settings=replace(SETTINGS, policies=("counting", "frequent", "static"))))
    next(run_study([more]))
    after = next(run_study([one]))
    assert list(after["answers"]) == ["counting"]
    tables = [
        [table.to_dict() for table in study_tables("tables", [case], (2, 3)) if "by keyword" not in table.title]
        for case in (fresh, after)
    ]
    assert tables[0] == tables[1]


def test_a_subject_that_nobody_writes_about_is_left_out(archive, corpus_folder, health, tmp_path):
    unheard = Subject("unheard", KeywordSet.of("xyzzyplugh"))
    results = list(run_study(jobs("divergence", archive, corpus_folder, tmp_path, [health, unheard])))
    assert [r["subject"] for r in results if "error" in r] == ["unheard", "unheard"]
    assert all("2 cases" in table.title for table in study_tables("divergence", results, (2, 3)))
    with pytest.raises(DataError, match="unheard"):
        study_tables("divergence", [r for r in results if "error" in r], (2, 3))


def perplexity_case(subject, week, klda, unigram, same):
    scores = {"untrained": -9.0, "unigram": unigram, "klda": klda, "lda-last": -6.5, "lda-same": same}
    topics = {name: {"npmi": 0.1, "c_v": 0.5, "diversity": 0.9} for name in ("klda", "lda-last")}
    models = {name: {"log_likelihood": score, "completion": score + 1} for name, score in scores.items()}
    return {"subject": subject, "week": week, "models": models, "topics": topics}


def test_the_gap_is_a_ratio_of_means_with_an_interval():
    cases = [
        perplexity_case("a", "1", -6.5, -7.0, -6.0),
        perplexity_case("b", "1", -6.9, -7.0, -6.0),
    ]
    likelihood, completion, topics = perplexity_tables(cases)
    gap = likelihood.rows[-1]
    assert gap[1:3] == (0.5, 0.1)
    assert gap[3]["mean"] == 0.3
    assert gap[3]["low"] <= 0.3 <= gap[3]["high"]
    assert completion.rows[-1][3]["mean"] == 0.3
    assert topics.rows[0][1]["mean"] == 0.1


def test_overlaps_that_are_not_known_do_not_count():
    cases = [
        {"subject": "a", "week": "1", "overlap": {"counting": {"hellinger": {"2": 1.0}, "chance": {"2": None}}}},
        {"subject": "b", "week": "1", "overlap": {"counting": {"hellinger": {"2": None}, "chance": {"2": 0.2}}}},
    ]
    (table,) = divergence_tables(cases, (2,))
    assert {row[0]: row[1]["mean"] for row in table.rows} == {"hellinger": 1.0, "random orders": 0.2}
