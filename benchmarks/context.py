"""Does KLDA tell which words belong? Context from a topic model against context from words, on judged words.

    python -m benchmarks.context [--data ../shared/data] [--only NAME] [--seeds 1]

Context asks whether the posts that a word would newly bring read like the subject's. For every judged subject a KLDA is
trained on recent posts, the graded words its candidates, as for a report. Three readings of it stand beside the two
that ship:

- `posterior`: how much better the model's words for posts of the list explain those posts than its words for all posts
- `divergence`: how far the words that the model expects of the word are from those it expects of the list
- `topic shares`: how alike the topics of those posts are to the topics of the list's posts
- `words` and `vectors`: the shipped features `context_list` and `context_meaning`, which train nothing

Prints the average precision of grade 2 among judged words: of each alone, and beside counts and meaning in a logistic
model that is fitted on the other subjects. Words without a new post in the model's sample have no reading.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from benchmarks.relevance import Judged, judged_corpora, judged_terms
from klda.advice.features import COUNTS, MEANING, NAMES
from klda.advice.prediction import ITERATIONS, N_TOPICS, N_WORDS, expected, recent_posts, train_model
from klda.advice.relevance import design
from klda.errors import TrainingError
from klda.text.corpus import Corpus
from klda.types import KeywordSet

Floats = NDArray[np.float64]

READINGS = ("posterior", "divergence", "topic shares")
SHIPPED = {"words": "context_list", "vectors": "context_meaning"}
TINY = 1e-9


@dataclass(frozen=True)
class Read:
    """One subject: the features of its graded words, the readings of a model, and which words belong."""

    subject: str
    features: Floats  # (T, F)
    readings: Floats  # (T, 3)
    belongs: NDArray[np.bool_]  # (T,)


def readings(corpus: Corpus, current: KeywordSet, words: KeywordSet, seed: int) -> Floats:
    """What a KLDA of recent posts says of each word. NaN where it says nothing. # (T, 3)"""
    known = corpus.span(max(0, corpus.n_windows - 4)).with_candidates(current | words)
    generator = np.random.default_rng(seed)
    every = np.arange(len(known.candidates))
    posts = known.take(recent_posts(known, every, seed))
    model = train_model(posts, n_topics=N_TOPICS, iterations=ITERATIONS, n_words=N_WORDS, seed=seed)
    found = expected(model, posts, generator)
    listed = np.array([posts.candidates.index(k) for k in current])
    columns = [posts.candidates.index(k) for k in words]
    rows, values = posts.observed.rows, posts.observed.values
    of_list = np.zeros(len(posts), dtype=np.bool_)
    of_list[rows[np.isin(values, listed)]] = True
    expects = found.words.sum(axis=1)  # (Q, words of the model)
    carried = np.bincount(values, minlength=len(posts.candidates))
    subject = np.average(expects[listed], axis=0, weights=carried[listed] + TINY)
    usual = np.average(expects, axis=0, weights=carried + TINY)
    subject, usual = (part / max(part.sum(), TINY) + TINY for part in (subject, usual))
    ratio = np.zeros(len(posts.vocabulary))
    ratio[found.vocabulary[1:]] = np.log(subject / usual)[1:]
    ratio[np.unique(posts.keyword_words.values)] = 0.0  # keywords and candidates are masked
    documents = posts.documents
    row_of = np.repeat(np.arange(len(posts)), np.diff(documents.indptr))
    sums = np.bincount(row_of, ratio[documents.words] * documents.counts, minlength=len(posts))
    score: Floats = sums / (documents.lengths + 3.0)
    ours = found.of_posts[of_list].mean(axis=0)
    result = np.full((len(columns), len(READINGS)), np.nan)
    for place, column in enumerate(columns):
        mine = rows[values == column]
        new = mine[~of_list[mine]]
        if len(new):
            result[place, 0] = score[new].sum() / (len(new) + 2)
            shares = found.of_posts[new].mean(axis=0)
            result[place, 2] = shares @ ours / (np.linalg.norm(shares) * np.linalg.norm(ours) + TINY)
        if expects[column].any():
            word = expects[column] / expects[column].sum() + TINY
            result[place, 1] = -float((subject * np.log(subject / word)).sum())
    return result


def read_subjects(data: Path, only: str, seed: int) -> Iterator[Read]:
    """Every judged subject with its readings; those on which no model can be trained have none."""
    for name, archive, corpus, plain in judged_corpora(data, only):
        whole: Judged = judged_terms(name, archive, corpus, plain)
        graded = np.flatnonzero(~np.isnan(whole.grades))
        graded = graded[graded >= whole.terms.n_current]
        words = KeywordSet(tuple(whole.terms.keywords[i] for i in graded.tolist()))
        try:
            found = readings(corpus, corpus.candidates, words, seed)
        except TrainingError:
            found = np.full((len(graded), len(READINGS)), np.nan)
        yield Read(whole.subject, whole.features.values[graded], found, whole.grades[graded] == 2)
        print(f"{name}: {len(graded)} words, {int(np.isfinite(found).all(axis=1).sum())} read", flush=True)


def alone(subjects: list[Read], values: list[Floats]) -> float:
    """Mean average precision of one number; words without it come last."""
    scores = [
        average_precision_score(s.belongs, np.nan_to_num(v, nan=-99.0)) for s, v in zip(subjects, values, strict=True)
    ]
    return float(np.mean(scores))


def beside(subjects: list[Read], values: list[Floats]) -> float:
    """Mean average precision of a logistic model of these features (T, F), each subject left out of its own fit."""
    scores = []
    for place, subject in enumerate(subjects):
        rest = [i for i, other in enumerate(subjects) if other.subject != subject.subject]
        x, y = np.vstack([values[i] for i in rest]), np.concatenate([subjects[i].belongs for i in rest])
        mean, spread = np.nanmean(x, axis=0), np.nanstd(x, axis=0) + TINY
        model = LogisticRegression(max_iter=200, solver="newton-cholesky").fit(design(x, mean, spread), y)
        chance = model.predict_proba(design(values[place], mean, spread))[:, 1]
        scores.append(average_precision_score(subject.belongs, chance))
    return float(np.mean(scores))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="", help="subjects whose name holds this")
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    print("| context | alone | beside counts and meaning |", "|---|---|---|", sep="\n")
    for seed in range(given.seeds):
        subjects = list(read_subjects(given.data, given.only, seed))
        base = [s.features[:, [NAMES.index(n) for n in (*COUNTS, *MEANING)]] for s in subjects]
        print(f"| none | – | {beside(subjects, base):.3f} |")
        columns = {name: [s.readings[:, i] for s in subjects] for i, name in enumerate(READINGS)}
        columns |= {name: [s.features[:, NAMES.index(f)] for s in subjects] for name, f in SHIPPED.items()}
        for name, values in columns.items():
            both = [np.column_stack([b, v]) for b, v in zip(base, values, strict=True)]
            print(f"| {name} | {alone(subjects, values):.3f} | {beside(subjects, both):.3f} |")
        shipped = [np.column_stack([b, *v]) for b, *v in zip(base, *(columns[name] for name in SHIPPED), strict=True)]
        every = [np.column_stack([b, *v]) for b, *v in zip(base, *columns.values(), strict=True)]
        print(f"| words and vectors (shipped) | – | {beside(subjects, shipped):.3f} |")
        print(f"| these and KLDA's three | – | {beside(subjects, every):.3f} |")


if __name__ == "__main__":
    main()
