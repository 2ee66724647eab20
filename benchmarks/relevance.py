"""Fits the relevance of words from judged and labelled ones, and prints what each group of features is worth.

    python -m benchmarks.relevance [--data ../shared/data] [--work DIR] [--write] [--words] [--no-tables]

Tables: every subject scored by a model that was fitted without it (`subject`), and without its whole archive
(`archive`). `AP` is the average precision of grade 2 among judged words. `good` is the share of words of grade 2 among
ten chosen ones, `silly` the share of grade 0 among the judged of those, `unjudged` how many of ten nobody has graded.
Candidates, features and choice are those of `klda recommend`. Which keywords of a list are trusted is decided by the
coefficients that ship. Labelled words (`benchmarks.labelled_words`) join every fit that may know their archive. They
have the company that the coefficients of before gave. `--write` replaces the coefficients first. `--work` keeps the
archive of labelled words.

Rows `as shipped` go through the code that ships: a first model, the company of each term by it, and a second model,
halfway between one with products of features and one without. Rows `one look` compare groups of features by a single
model without products. All are fitted without what is left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from benchmarks.labelled_words import SAMPLE, Labelled, labelled_situations
from klda import read_posts
from klda.advice.advise import judged
from klda.advice.budget import Limits
from klda.advice.choose import Scores, covered_by, worth
from klda.advice.constants import SHORTLIST
from klda.advice.features import COMPANY, MEANING, NAMES, POSTS_MEANING, Features
from klda.advice.overlap import UnionVolume
from klda.advice.relevance import (
    FEATURES,
    FILE,
    GROUPS,
    LIST_ALONE,
    REGIMES,
    Relevance,
    company_of,
    design,
    groups_known,
    relevance,
    weighed,
)
from klda.advice.terms import Terms, terms_of
from klda.policies.recommend import MIN_COUNT
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet

Floats = NDArray[np.float64]

WEEKS = 11
LABELLED = "reddit_2013"
"""The archive whose labels are used."""
UNGRADED = 300
"""Terms of each subject, drawn by chance, that stand for the thousands that no judge saw: nearly all do not belong."""
LIKELIEST = 3_000
"""Two of three are drawn among the likeliest words by the coefficients of today: they are harder to tell apart."""
UNGRADED_WEIGHT = 0.3
"""What each of them counts beside a judged word. Of 0.03, 0.1 and 0.3 the last found most: `good` 0.48, 0.50, 0.52."""
LABELLED_WEIGHT = 0.3
"""What a labelled word counts beside a judged one: there are thirty times as many, of one archive. Of 0.03, 0.1, 0.3
and 1, `good` with each archive left out is 0.44, 0.48, 0.50, 0.50; with each subject left out 0.1 has 0.56, 0.3 has
0.54."""
FEWEST_NEW, HALF_SURE = 3, 10.0
"""New posts that a labelled word needs, and those at which it counts half."""
SOURCE = 3.0
"""Size of the sign that tells labelled words from judged ones, so that the penalty hardly holds it back. Labels are
stricter than judges: a post on the subject in another subreddit counts as off it. The sign is dropped after the fit."""
PENALTY, PENALTY_OF_PRODUCTS = 1.0, 900.0
"""On the squared weights. With 0.1, 1, 10 and 50, `good` with each archive left out is 0.49, 0.48, 0.44 and 0.42."""
SHIPPED = (
    ("all", True, "subject"),
    ("all", True, "archive"),
    ("all", False, "subject"),
    ("all", False, "archive"),
    ("sample", True, "subject"),
    ("sample", False, "subject"),
    ("none", True, "subject"),
    ("none", False, "subject"),
)
"""Ways in which the shipped call is measured: what is known of posts without the list, whether vectors are, and what is
left out of the fit."""
COMMAND = "python -m benchmarks.relevance --write"


@dataclass(frozen=True)
class Judged:
    """One judged subject: its terms, their features and grades (NaN where nobody graded)."""

    name: str
    archive: str
    terms: Terms
    features: Features
    grades: Floats  # (T,)
    best: int
    """The most words of grade 2 that ten can have."""

    @property
    def subject(self) -> str:
        """The subject, whatever the date."""
        return self.name.removesuffix("_june")

    def with_company(self, first: Relevance) -> Judged:
        """The same with the company that words keep among those that this first look finds likely."""
        company = company_of(self.terms, first(self.features.values), self.features.outside_known)
        return replace(self, features=self.features.with_company(company))

    def without_vectors(self) -> Judged:
        """The same where nobody knows what words mean."""
        values = self.features.values.copy()
        values[:, np.isin(NAMES, (*MEANING, *POSTS_MEANING))] = np.nan
        return replace(self, features=replace(self.features, values=values))


Key = Callable[[Judged], str]
"""What is left out together: a subject, or an archive."""
Fit = tuple[list[Judged], list[Labelled]]
"""What a model is fitted from."""
Fits = dict[bool, Fit]
"""The same where posts without the list are known, and where not."""


def judged_corpora(data: Path, only: str = "") -> Iterator[tuple[str, str, Corpus, dict[str, Any]]]:
    """Every judged subject: its name, its archive, the posts that are known with the list's keywords, and its file."""
    known: tuple[tuple[str, int], Corpus] | None = None
    files = {path: json.loads(path.read_text()) for path in (data / "judged").glob("*.json") if only in path.stem}
    for path, plain in sorted(files.items(), key=lambda file: (file[1]["archive"], file[1]["end"], file[0].stem)):
        current = KeywordSet.of(*plain["keywords"])
        key = (plain["archive"].removesuffix(".parquet"), plain["end"])
        if known is None or known[0] != key:
            end = datetime.fromtimestamp(key[1], UTC)
            inside = (pl.col("time") < end) & (pl.col("time") >= end - timedelta(weeks=WEEKS))
            posts = pl.scan_parquet(data / f"{key[0]}.parquet").filter(inside).collect()
            known = key, Corpus.from_posts(read_posts(posts), current, settings=TextSettings(min_count=MIN_COUNT))
        yield path.stem, key[0], known[1].with_candidates(current), plain


def judged_subjects(data: Path) -> Iterator[dict[str, Judged]]:
    """Every judged subject by what is known: all posts, the list's and a thin sample of the rest, the list's alone."""
    for name, archive, corpus, plain in judged_corpora(data):
        drawn = np.random.default_rng(0).random(len(corpus.apart)) < SAMPLE
        sampled = replace(corpus, apart=corpus.apart.take(np.flatnonzero(drawn)))
        yield {
            "all": judged_terms(name, archive, corpus, plain),
            "sample": judged_terms(name, archive, sampled, plain, SAMPLE),
            "none": judged_terms(name, archive, corpus.without_apart(), plain),
        }


def judged_terms(name: str, archive: str, corpus: Corpus, plain: dict[str, Any], sample_share: float = 1.0) -> Judged:
    """The terms of a judged subject, their features and grades."""
    terms = terms_of(corpus, corpus.candidates)
    features, _ = judged(terms, "en", plain["subject"].replace("_", " "), sample_share=sample_share)
    given = {word.lower(): grade for word, grade in plain["judged"].items()}
    own = {word.lower(): grade for word, grade in plain["current"].items()}
    grades = np.full(len(terms), np.nan)
    for i, keyword in enumerate(terms.keywords):
        book = own if i < terms.n_current else given
        found = [book[form.lower()] for form in (keyword.text, *keyword.forms) if form.lower() in book]
        grades[i] = max(found, default=np.nan)
    best = min(10, sum(grade == 2 for grade in given.values()))
    return Judged(name, archive, terms, features, grades, best)


def two_looks(subjects: list[Judged], labelled: list[Labelled], names: tuple[str, ...]) -> dict[str, Relevance]:
    """The models of the first and of the second look. Labelled words have the company that they are stored with."""
    first = fitted(subjects, labelled, names)
    again = [subject.with_company(first) for subject in subjects]
    plain, products = (fitted(again, labelled, (*names, *COMPANY), products=products) for products in (False, True))
    return {"first": first, "second": between(plain, products)}


def between(plain: Relevance, products: Relevance) -> Relevance:
    """The mean of a model without products of features and one with them.

    Products find more on archives that the fit knows, and less on others: `good` is 0.60 and 0.48 with them, 0.56 and
    0.53 without, 0.60 and 0.52 halfway (all subjects in the fit; each archive left out).
    """
    longer = np.zeros(len(products.weights))
    longer[: len(plain.weights)] = plain.weights
    weights, intercept = (products.weights + longer) / 2, (products.intercept + plain.intercept) / 2
    return replace(products, weights=weights, intercept=intercept)


def fitted(
    subjects: list[Judged], labelled: list[Labelled], names: tuple[str, ...], products: bool = False
) -> Relevance:
    """The model of these features, from graded terms, some that nobody graded, and labelled ones. Grade 1 is half."""
    generator = np.random.default_rng(0)
    rows, target, weight, source = [], [], [], []
    columns = [NAMES.index(name) for name in names]
    for subject in subjects:
        graded = np.flatnonzero(~np.isnan(subject.grades))
        free = np.flatnonzero(np.isnan(subject.grades))
        likely = free[np.argsort(-relevance(subject.features)[free], kind="stable")[:LIKELIEST]]
        some = generator.choice(likely, min(2 * UNGRADED // 3, len(likely)), replace=False)
        others = np.union1d(some, generator.choice(free, min(UNGRADED // 3, len(free)), replace=False))
        rows.append(subject.features.values[np.concatenate([graded, others])][:, columns])
        target.append(np.concatenate([subject.grades[graded] / 2, np.zeros(len(others))]))
        weight.append(np.concatenate([np.ones(len(graded)), np.full(len(others), UNGRADED_WEIGHT)]))
        source.append(np.zeros(len(graded) + len(others)))
    for words in labelled:
        known = words.posts >= FEWEST_NEW
        rows.append(words.features.values[known][:, columns])
        target.append(words.share[known])
        weight.append(LABELLED_WEIGHT * words.posts[known] / (words.posts[known] + HALF_SURE))
        source.append(np.full(np.count_nonzero(known), SOURCE))
    values, y, w = np.vstack(rows), np.concatenate(target), np.concatenate(weight)
    mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0) + 1e-9
    x = np.hstack([design(values, mean, spread, products), np.concatenate(source)[:, None], np.ones((len(y), 1))])
    penalty = np.full(x.shape[1], PENALTY)
    penalty[2 * len(names) : -2] = PENALTY_OF_PRODUCTS
    penalty[-1] = 0.0
    weights = logistic(x, y, w, penalty)
    return Relevance(names, mean, spread, weights[:-2], float(weights[-1]))


def logistic(x: Floats, y: Floats, weight: Floats, penalty: Floats) -> Floats:
    """The weights (F,) of a logistic model of x (N, F) for targets y (N,) between 0 and 1, by Newton's method."""
    found = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        slope = x.T @ (weight * (p - y)) + penalty * found
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-6:
            break
    return found


def best_terms(subject: Judged, chance: Floats, most: int = 10) -> list[int]:
    """The terms that the shipped choice adds, with room for so many."""
    terms, features = subject.terms, subject.features
    new = features.new if features.outside_known else features.posts
    value = np.where(new > 0, worth(chance, new, features.rise), -np.inf)
    value[: terms.n_current] = -np.inf
    best = np.argsort(-value, kind="stable")[:SHORTLIST]
    columns = np.concatenate([np.arange(terms.n_current), best[value[best] > 0]])
    posts = terms.posts[:, columns].tocoo()
    scores = Scores(
        chance=chance[columns],
        rise=features.rise[columns],
        union=UnionVolume(np.full(len(terms.last), 1 / max(terms.n_windows, 1)), posts.row, posts.col, len(columns)),
        covers=covered_by([terms.keywords[c] for c in columns.tolist()]),
        current=np.arange(terms.n_current),
        outside_known=features.outside_known,
        unseen=features.unseen[columns],
        unsure=np.arange(terms.n_current),  # what is dropped makes no room for more
    )
    chosen = scores.choose(Limits(max_keywords=terms.n_current + most))
    return [int(columns[c]) for c in chosen.tolist() if c >= terms.n_current]


def scores(subjects: list[Judged], chances: list[Floats], *, words: bool = False) -> dict[str, float]:
    """Average precision of these chances, and what the shipped choice makes of them."""
    precision, good, silly, graded, added = [], [], 0, 0, 0
    for subject, chance in zip(subjects, chances, strict=True):
        pool = np.flatnonzero(~np.isnan(subject.grades))
        pool = pool[pool >= subject.terms.n_current]
        precision.append(average_precision_score(subject.grades[pool] == 2, chance[pool]))
        chosen = best_terms(subject, chance)
        grades = subject.grades[chosen]
        good.append(min(1.0, float((grades == 2).sum()) / subject.best))
        silly += int((grades == 0).sum())
        graded += int((~np.isnan(grades)).sum())
        added += len(chosen)
        if words:
            shown = [
                f"{subject.terms.keywords[c].text}:{'?' if np.isnan(g) else int(g)}"
                for c, g in zip(chosen, grades, strict=True)
            ]
            print(f"{subject.name} {good[-1]:.2f} {', '.join(shown)}")
    return {
        "AP": float(np.mean(precision)),
        "good": float(np.mean(good)),
        "silly": silly / max(graded, 1),
        "unjudged": (added - graded) / len(subjects),
        "added": added / len(subjects),
    }


def left_out(subjects: list[Judged], key: Key, model: Callable[[str], Callable[[Judged], Floats]]) -> list[Floats]:
    """The chances of every subject's terms, by `model` of all that do not share its key."""
    models = {name: model(name) for name in sorted({key(subject) for subject in subjects})}
    return [models[key(subject)](subject) for subject in subjects]


def one_look(known: Fit, names: tuple[str, ...], key: Key, left: str) -> Callable[[Judged], Floats]:
    """Chances by a single model of these features, fitted without what has the key that is left out."""
    found = fitted(*without(known, key, left), names)
    return lambda subject: found(subject.features.values)


def as_shipped(fits: Fits, regimes: Sequence[str], key: Key, left: str) -> Callable[[Judged], Floats]:
    """Chances as they ship, by models of these regimes that are fitted without what has the key that is left out."""
    models = {name: two_looks(*without(fits[REGIMES[name][0]], key, left), FEATURES[name]) for name in regimes}
    return lambda subject: relevance(weighed(subject.terms, subject.features, models), models=models)


def without(known: Fit, key: Key, left: str) -> Fit:
    """What a fit may know where everything of a key is left out."""
    subjects, labelled = known
    return [subject for subject in subjects if key(subject) != left], [] if left == LABELLED else labelled


def main() -> None:
    """Prints the tables; writes the coefficients if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--write", action="store_true", help="replace the coefficients that ship")
    parser.add_argument("--work", type=Path, help="where the labelled archive is kept; the user's cache by default")
    parser.add_argument("--no-tables", dest="tables", action="store_false", help="print no tables, which take long")
    parser.add_argument("--words", action="store_true", help="print the chosen words of every subject")
    given = parser.parse_args()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as beside:
        waiting = beside.submit(_labelled, given.data, given.work)
        read = list(judged_subjects(given.data))
        every = waiting.result()
    subjects = {known: [each[known] for each in read] for known in ("all", "sample", "none")}
    # judged subjects with a sample, in the fit too: closed loop 0.247, not 0.279 (1 % sample, earlier coefficients)
    fits = {
        True: (subjects["all"], [words for words in every if words.known != "none"]),
        False: (subjects["none"], [words for words in every if words.known == "none"]),
    }
    if given.write:
        _write(fits, n_judged=len(read), n_labelled=len(every))
    if given.tables:
        _print_tables(subjects, fits, words=given.words)


def _labelled(data: Path, work: Path | None) -> list[Labelled]:
    return list(labelled_situations(data / f"{LABELLED}.parquet", data / f"subjects_{LABELLED}.json", work))


def _print_tables(subjects: dict[str, list[Judged]], fits: Fits, *, words: bool) -> None:
    leaving: dict[str, Key] = {"subject": lambda s: s.subject, "archive": lambda s: s.archive}
    print("| what is known | left out | AP | good | silly | unjudged | added |", "|---" * 7 + "|", sep="\n", flush=True)

    def show(name: str, left: str, found: dict[str, float]) -> None:
        print(f"| {name} | {left} | {' | '.join(f'{value:.2f}' for value in found.values())} |", flush=True)

    for known, vectors, left in SHIPPED:
        asked = subjects[known] if vectors else [subject.without_vectors() for subject in subjects[known]]
        regime = groups_known(asked[0].features)
        regimes = (regime, LIST_ALONE[regime]) if known == "sample" else (regime,)
        chances = left_out(asked, leaving[left], partial(as_shipped, fits, regimes, leaving[left]))
        listed = words and (known, vectors, left) == SHIPPED[1]
        name = f"as shipped: {known}, {'with' if vectors else 'without'} vectors"
        show(name, left, scores(asked, chances, words=listed))
    for group, names in GROUPS.items():
        for left, key in leaving.items():
            chances = left_out(subjects["all"], key, partial(one_look, fits[True], names, key))
            show(f"one look: {group}", left, scores(subjects["all"], chances))


def _write(fits: Fits, *, n_judged: int, n_labelled: int) -> None:
    archives = sorted({subject.archive for subject in fits[True][0]})
    plain: dict[str, Any] = {
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "by": COMMAND,
        "from": f"{n_judged} judged subjects of {', '.join(archives)}; {n_labelled} labelled situations of {LABELLED}",
        "models": {},
    }
    for known, names in FEATURES.items():
        outside, _ = REGIMES[known]
        found = two_looks(*fits[outside], names)
        plain["models"][known] = {look: _plain(model) for look, model in found.items()}
    FILE.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    print(f"written: {FILE.name}", flush=True)


def _plain(model: Relevance) -> dict[str, Any]:
    return {
        "names": list(model.names),
        **{name: np.round(getattr(model, name), 5).tolist() for name in ("mean", "spread", "weights")},
        "intercept": round(model.intercept, 5),
    }


if __name__ == "__main__":
    main()
