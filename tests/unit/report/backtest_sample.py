"""Backtests with made-up numbers, summed up as real ones are."""

from __future__ import annotations

from typing import Any

import numpy as np

from klda.evaluation.backtest_summary import closed_summary, open_summary

POLICIES = ("klda", "counting", "viral", "frequent", "tfidf", "textrank", "static", "ensemble", "random")
SUBJECTS = ("health", "climate", "immigration")
WEEKS = ("2020-04-06", "2020-04-13", "2020-04-20", "2020-04-27")
LEVELS = dict(zip(POLICIES, (0.36, 0.33, 0.22, 0.28, 0.25, 0.2, 0.24, 0.35, 0.18), strict=True))


def open_cases() -> list[dict[str, Any]]:
    generator = np.random.default_rng(0)
    return [_open_case(subject, week, generator) for week in WEEKS for subject in SUBJECTS] + [
        {"subject": "space", "week": WEEKS[0], "counts": False, "error": "no post of the 10 windows", "answers": {}}
    ]


def _open_case(subject: str, week: str, generator: np.random.Generator) -> dict[str, Any]:
    shift = generator.normal(0, 0.05)
    keywords = [f"{subject} {i}" for i in range(3)]
    lists = {keyword: [f"{subject} word {i}" for i in range(3)] for keyword in keywords}

    def scores(level: float) -> dict[str, dict[str, float]]:
        return {
            f"{reading}/{top}": {
                "accuracy": round(float(np.clip(level + shift + generator.normal(0, 0.04), 0, 1)), 4),
                "coverage": round(float(np.clip(level + generator.normal(0, 0.05), 0, 1)), 4),
                "keyword_accuracy": level,
            }
            for reading in ("raw", "corrected")
            for top in (2, 3)
        }

    answers: dict[str, Any] = {
        name: {"proposed": lists if name != "static" else keywords, "scores": scores(level), "seconds": 1.0}
        for name, level in LEVELS.items()
        if name != "viral"
    }
    answers["viral"] = {"error": "nothing is known about reposts", "scores": {}}
    return {
        "subject": subject,
        "week": week,
        "counts": True,
        "n_eligible": 33,
        "current": keywords,
        "truth": {"raw": lists, "corrected": lists},
        "ceiling": {reading: {"2": 0.45 + shift, "3": 0.48 + shift} for reading in ("raw", "corrected")},
        "answers": answers,
    }


def open_sample() -> dict[str, Any]:
    return open_summary(open_cases(), POLICIES, (2, 3))


def closed_sample(labelled: bool = True) -> dict[str, Any]:
    generator = np.random.default_rng(1)
    policies = (*POLICIES[:-1], "labels-next-week")
    results = []
    for subject in SUBJECTS:
        for place, name in enumerate(policies):
            level = 0.2 + 0.02 * place
            weeks = [
                {
                    "window": f"2013-{2 + w // 4:02d}-{1 + 7 * (w % 4):02d}",
                    "keywords": [f"{subject} {name} {i}" for i in range(4)],
                    "volume": int(300 + 30 * generator.normal()),
                    "relevant": 400 if labelled else None,
                    "recall": _share(level, generator) if labelled else None,
                    "precision": _share(level, generator) if labelled else None,
                    "f1": _share(level, generator) if labelled else None,
                    "retention": _share(0.7, generator),
                    "novelty": _share(0.3, generator),
                    "drift": _share(0.2, generator),
                }
                for w in range(12)
            ]
            results.append({"subject": subject, "policy": name, "cap": 450, "weeks": weeks})
    return closed_summary(results, policies)


def _share(level: float, generator: np.random.Generator) -> float:
    return round(float(np.clip(level + generator.normal(0, 0.04), 0, 1)), 4)
