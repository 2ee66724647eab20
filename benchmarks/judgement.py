"""The numbers by which the default policy judges words without labels, fitted on subjects whose labels are known.

    python -m benchmarks.judgement reddit_2013.parquet --subjects subjects_reddit_2013.json further_subjects.json

Uses the `tune` subjects of the files (the second one is made by `benchmarks.subjects`). For each subject and each of
several weeks, the first list's posts up to that week say what the policy would see; the week after says which share of
a word's posts is on the subject. Prints JSON: the logistic models of `klda.selection.company`, each with how well it
tells subjects that it was not fitted on (`explained`: share of the deviance) and whether its shares are right.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.linear_model import LogisticRegression

from klda.corpus.corpus import Corpus
from klda.corpus.general_frequency import general_frequencies
from klda.corpus.text import TextSettings
from klda.evaluation.archive import Archive
from klda.evaluation.subjects import Subject, load_subjects
from klda.policies.company import HALF_LIFE
from klda.policies.incidence import words_in
from klda.selection.company import (
    Company,
    chance_on_subject,
    company,
    company_by_chance,
    log_company,
    log_sighting,
    share_by_sample,
    share_on_subject,
)
from klda.selection.trial import log_trial, speak_of_it, subject_words
from klda.sources.reader import read_posts
from klda.types import Keyword

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WEEKS = (3, 6, 9, 12, 15, 18, 21, 24)
REMEMBERED = 8
"""Weeks of collected posts that are looked at; earlier ones hardly count any more."""
FEWEST_POSTS = 4
ADDED = 0.1
"""Words that a sample shows to have so large a share of posts on the subject are such as the policy may add."""
SAMPLE = 0.01
FOLDS = 8
BINS = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


@dataclass(frozen=True)
class Stream:
    """All weeks of an archive as words: what the first list collects is a choice of rows."""

    weeks: Sequence[csr_array]  # (D, V) each, 0 or 1
    samples: Sequence[csr_array]
    labels: Sequence[NDArray[np.object_]]
    common: Floats  # (V,) how much of the language each word makes up
    place: dict[str, int]
    words_a_post: float

    @classmethod
    def of(cls, archive: Archive, generator: np.random.Generator) -> Stream:
        """The stream of an archive, with a sample of each week."""
        names = archive.corpus.vocabulary.words
        inside = [archive.positions(week) for week in range(archive.n_windows)]
        weeks = [words_in(archive.documents.take(positions), len(names)) for positions in inside]
        common = general_frequencies([Keyword(word) for word in names], archive.corpus.vocabulary.language)
        assert common is not None, "the language has no table of frequencies"
        return cls(
            weeks,
            [week[generator.random(week.shape[0]) < SAMPLE] for week in weeks],
            [archive.labels[positions] for positions in inside],
            common,
            {word: place for place, word in enumerate(names)},
            float(archive.documents.counts.sum() / len(archive.documents)),
        )


@dataclass(frozen=True)
class Rows:
    """What could be known of some words, and what came of them in the next week; n rows."""

    features: Floats  # (n, features)
    hits: Floats  # (n,) posts on the subject
    posts: Floats  # (n,)
    subject: NDArray[np.str_]  # (n,)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """All of them, one after the other."""
        return cls(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.hits for part in parts]),
            np.concatenate([part.posts for part in parts]),
            np.concatenate([part.subject for part in parts]),
        )

    def without(self, feature: int) -> Rows:
        """The same with one thing less known."""
        return Rows(np.delete(self.features, feature, axis=1), self.hits, self.posts, self.subject)


def observations(stream: Stream, subject: Subject) -> Iterator[tuple[str, Rows]]:
    """Rows for each model: of listed words, of others by a sample, of those by the posts that they bring (two ways)."""
    first = np.array([stream.place[k.text] for k in subject.keywords if k.text in stream.place], dtype=np.int64)
    common = stream.common
    is_first, together = np.ones(len(first), dtype=np.bool_), float(common[first].sum())
    by_chance = company_by_chance(common[first], is_first, together, stream.words_a_post)
    for week in (week for week in WEEKS if week + 1 < len(stream.weeks)):
        seen = range(max(0, week - REMEMBERED + 1), week + 1)
        caught = [stream.weeks[u][_carrying(stream.weeks[u], first)] for u in seen]
        collected = csr_array(vstack(caught))
        weight = np.concatenate(
            [np.full(posts.shape[0], 0.5 ** ((week - u) / HALF_LIFE)) for u, posts in zip(seen, caught, strict=True)]
        )
        carried = collected[:, first].toarray() > 0  # (D, n)
        known = company(carried, is_first, np.ones_like(carried), weight)

        def rows(words: Ints, *features: Floats, alone: bool = False, week: int = week) -> Rows:
            after, relevant = stream.weeks[week + 1], np.isin(stream.labels[week + 1], list(subject.labels))
            if alone:  # further posts only, those that the first keywords do not bring
                further = ~_carrying(after, first)
                after, relevant = after[further], relevant[further]
            after = after[:, words]
            posts, hits = np.asarray(after.sum(axis=0)).ravel(), np.asarray(relevant.astype(float) @ after).ravel()
            table = np.stack([-np.log10(common[words]), *features], axis=1)
            return Rows(table[posts > 0], hits[posts > 0], posts[posts > 0], np.full((posts > 0).sum(), subject.name))

        if len(first) > 1:
            yield "listed", rows(first, log_company(known, by_chance))
        share = share_on_subject(known, common[first], by_chance)
        believed = weight * chance_on_subject(carried, share)  # (D,)
        others = np.setdiff1d(np.flatnonzero(np.asarray(collected.sum(axis=0)).ravel() >= FEWEST_POSTS), [0, *first])
        mine = np.asarray(believed @ collected).ravel()[others]
        sample = csr_array(vstack(stream.samples[: week + 1]))
        outside = sample[~_carrying(sample, first)]
        in_sample = np.asarray(outside.sum(axis=0)).ravel()[others]
        yield "sighted", rows(others, *log_sighting(mine, float(believed.sum()), in_sample, outside.shape[0]))

        sure = share_by_sample(mine, float(believed.sum()), in_sample, outside.shape[0], common[others])
        chosen = others[sure > ADDED]
        if len(chosen):
            after = stream.weeks[week + 1]
            beside = _carrying(after, first).astype(np.float64)
            none_first = np.zeros(len(chosen), dtype=np.bool_)
            brought = Company(
                np.asarray(after[:, chosen].sum(axis=0)).ravel(),
                np.asarray(beside @ after[:, chosen]).ravel(),
                none_first,
            )
            chance = company_by_chance(common[chosen], none_first, together, stream.words_a_post)
            yield "others", rows(chosen, log_company(brought, chance))
            said = subject_words(
                np.asarray(believed @ collected).ravel(),
                float(believed.sum()),
                np.asarray(outside.sum(axis=0)).ravel(),
                outside.shape[0],
            )
            said[[0, *first]] = 0.0
            yield "tried", rows(chosen, *_trial(after, chosen, first, share, said, outside), alone=True)


def _trial(
    posts: csr_array, words: Ints, first: Ints, share: Floats, said: Floats, outside: csr_array
) -> tuple[Floats, Floats]:
    """What the posts that each of these words brings tell of it: the features of `Trial`. # (n,), (n,)"""
    carried = posts[:, first].toarray() > 0
    further = ~carried.any(axis=1)
    mine = posts[:, words].toarray() > 0  # (D, n)
    alone, known = mine & further[:, None], np.asarray(outside @ said)
    speaking = [
        np.count_nonzero(speak_of_it(posts[alone[:, row]] @ said - said[word], known)) for row, word in enumerate(words)
    ]
    believed = chance_on_subject(carried, share) @ mine
    return log_trial(mine.sum(axis=0), believed, alone.sum(axis=0), np.array(speaking, dtype=np.float64))


def fitted(rows: Rows, names: Sequence[str]) -> dict[str, Any]:
    """A logistic model of the share of posts on the subject, and how it does on subjects left out of its fit.

    A word with many posts says more than one with few, but not in proportion: its share drifts. So each counts by the
    root of its posts.
    """
    groups = np.unique(rows.subject)
    fold = np.searchsorted(groups, rows.subject) % min(FOLDS, len(groups))
    predicted = np.zeros(len(rows.posts))
    for left_out in np.unique(fold):
        model = _logistic(rows, fold != left_out)
        predicted[fold == left_out] = model.predict_proba(rows.features[fold == left_out])[:, 1]
    model = _logistic(rows, np.ones(len(fold), dtype=np.bool_))
    share = rows.hits / rows.posts
    weight = np.sqrt(rows.posts)
    usual = np.full_like(predicted, np.average(share, weights=weight))
    bins = np.digitize(predicted, BINS[1:-1])
    return {
        "level": round(float(model.intercept_[0]), 2),
        **{name: round(float(value), 2) for name, value in zip(names, model.coef_[0], strict=True)},
        "explained": round(1.0 - _deviance(share, predicted, weight) / _deviance(share, usual, weight), 3),
        "n_words": len(predicted),
        "n_subjects": len(groups),
        "calibration": [
            {
                "predicted": round(float(predicted[bins == b].mean()), 3),
                "share": round(float(rows.hits[bins == b].sum() / rows.posts[bins == b].sum()), 3),
                "n_words": int((bins == b).sum()),
            }
            for b in np.unique(bins)
        ],
    }


def _logistic(rows: Rows, chosen: NDArray[np.bool_]) -> Any:
    features, hits, posts = rows.features[chosen], rows.hits[chosen], rows.posts[chosen]
    weight = np.concatenate([hits, posts - hits]) / np.sqrt(np.concatenate([posts, posts]))
    outcome = np.repeat([1, 0], len(posts))
    return LogisticRegression(C=100.0, max_iter=1000).fit(np.vstack([features, features]), outcome, weight)


def _deviance(share: Floats, predicted: Floats, weight: Floats) -> float:
    return float(-(weight * (share * np.log(predicted) + (1 - share) * np.log1p(-predicted))).sum())


def _carrying(posts: csr_array, words: Ints) -> NDArray[np.bool_]:
    """Which posts carry one of these words. # (D,)"""
    return np.asarray(posts[:, words].sum(axis=1)).ravel() > 0


def main() -> None:
    """Fits and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="an archive with labels, reddit_2013.parquet for example")
    parser.add_argument("--subjects", type=Path, nargs="+", required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    subjects = [subject for path in given.subjects for subject in load_subjects(path, "tune")]
    corpus = Corpus.from_posts(read_posts(given.archive), ["reddit"], settings=TextSettings(stem=False))
    stream = Stream.of(Archive(corpus), np.random.default_rng(given.seed))
    found: dict[str, list[Rows]] = {"listed": [], "others": [], "sighted": [], "tried": []}
    for subject in subjects:
        for name, rows in observations(stream, subject):
            found[name].append(rows)
    listed, others, sighted, tried = (Rows.joined(rows) for rows in found.values())
    models = {
        "LISTED": fitted(listed, ["rarity", "company"]),
        "LISTED_ALONE": fitted(listed.without(0), ["company"]),
        "OTHERS": fitted(others, ["rarity", "company"]),
        "TRIED": fitted(tried, ["rarity", "company", "speaking"]),
        "TRIED_ALONE": fitted(tried.without(0), ["company", "speaking"]),
        "SIGHTED": fitted(sighted, ["rarity", "lift", "believed"]),
        "SIGHTED_ALONE": fitted(sighted.without(0), ["lift", "believed"]),
    }
    print(json.dumps(models, indent=1))


if __name__ == "__main__":
    main()
