"""How often next week's numbers lie in the 90 % intervals of a proposal, on past weeks of an archive.

    python -m benchmarks.coverage congress_2020.parquet --subjects subjects_congress_2020.json --split tune \\
      --last 10,12,14,16,17

For each subject and each last week the policy proposes from the ten weeks up to it; the week after, collected as they
were, tells. `shown` counts the numbers in reasons; `all pairs` every current keyword with every candidate; `sampling
noise only` is what the intervals would hold without past weeks to test them on.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from klda.advice.evidence import Evidence
from klda.advice.interval import Interval
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.advice.word_counts import keyword_word_matrix
from klda.baselines.candidates import assemble_candidates
from klda.baselines.uncertainty import Forecast, Measured, forecast_measurement, measure
from klda.evaluation.subjects import Subject, load_subjects
from klda.policies.registry import policy
from klda.posts.reader import read_posts
from klda.text.corpus import Corpus
from klda.types import Estimate, KeywordSet

Held = Iterator[tuple[str, bool]]
"""What was forecast, and whether it came out within its interval."""


def main() -> None:
    """Prints one JSON object: the share of intervals that held, by what they are of, and their number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--subjects", type=Path, required=True)
    parser.add_argument("--split", default="tune")
    parser.add_argument("--last", default="10,12,14,16", help="numbers of the last weeks known, the first week being 1")
    parser.add_argument("--policy", default="counting-scored")
    options = parser.parse_args()
    subjects = load_subjects(options.subjects, options.split)
    keywords = KeywordSet(tuple(k for subject in subjects for k in subject.keywords))
    corpus = Corpus.from_posts(read_posts(options.archive), keywords)
    found: dict[str, list[bool]] = defaultdict(list)
    for subject in subjects:
        for week in map(int, options.last.split(",")):
            for collected in ("everything", "current list only"):
                for name, inside in held(corpus, subject, week, collected == "everything", options.policy):
                    found[f"{collected}: {name}"].append(inside)
    shares = {name: {"held": round(float(np.mean(v)), 3), "of": len(v)} for name, v in sorted(found.items())}
    print(json.dumps({"policy": options.policy, "cases": len(subjects) * len(options.last.split(","))} | shares))


def held(corpus: Corpus, subject: Subject, week: int, whole: bool, name: str) -> Held:
    """Whether each number forecast for the week after `week` came out within its interval."""
    past = corpus.span(max(0, week - 10), week)
    past = past.with_history([subject.keywords] * past.n_windows).with_candidates(subject.keywords)
    after = corpus.window(week)
    if not whole:
        past = past.without_apart()
    generator = np.random.default_rng(0)
    candidates = assemble_candidates(past, subject.keywords, size=45, generator=generator).keywords
    history, after = past.with_candidates(candidates), after.with_candidates(candidates)
    if not whole:
        after = after.take(after.carrying(subject.keywords))
    proposal = policy(name).propose(
        Situation(history=history, current=subject.keywords, candidates=candidates), generator=generator
    )
    evidence = Evidence.of(Situation(history=history, current=subject.keywords, candidates=candidates))
    forecast = forecast_measurement(evidence, generator=generator)
    measured = measure(keyword_word_matrix(after), evidence.current, forecast.threshold)
    yield from _shown(proposal, after, measured)
    yield from _pairs("all pairs", forecast, measured)
    one = Evidence.of(Situation(history=history.window(-1), current=subject.keywords, candidates=candidates))
    alone = forecast_measurement(one, generator=generator)
    yield from _pairs("sampling noise only", alone, measured)


def _shown(proposal: Proposal, after: Corpus, measured: Measured) -> Held:
    texts = after.candidates.texts
    posts = np.bincount(after.observed.values, minlength=len(texts))
    for reason in proposal.reasons:
        column = texts.index(reason.keyword.text)
        if reason.expected_posts is not None:
            yield "shown, posts of a keyword", _inside(posts[column], reason.expected_posts)
        if reason.divergence is None or reason.high_frequency_distance is None or reason.extends is None:
            continue
        row = proposal.current.texts.index(reason.extends)
        if np.isfinite(measured.divergence[row, column]):
            yield "shown, divergence", _inside(measured.divergence[row, column], reason.divergence)
            yield "shown, R", _inside(measured.distance[row, column], reason.high_frequency_distance)
    if proposal.expected_posts is not None:
        yield "shown, posts of the list", _inside(len(after.carrying(proposal.next_keywords)), proposal.expected_posts)


def _inside(value: float, estimate: Estimate) -> bool:
    return bool(estimate.low <= value <= estimate.high)


def _pairs(name: str, forecast: Forecast, measured: Measured) -> Held:
    for what, interval, values in (
        ("divergence", forecast.divergence, measured.divergence),
        ("R", forecast.distance, measured.distance),
    ):
        for inside in _held(interval, values):
            yield f"{name}, {what}", inside


def _held(interval: Interval, values: NDArray[np.float64]) -> list[bool]:
    known = np.isfinite(values) & np.isfinite(interval.mean)
    inside: list[bool] = ((interval.low <= values) & (values <= interval.high))[known].tolist()
    return inside


if __name__ == "__main__":
    main()
