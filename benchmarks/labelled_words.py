"""Words whose share on the subject is known from labels: relevance is fitted on them, beside graded words.

Subjects are groups of subreddits (`benchmarks.subjects`, and the `tune` subjects of the archive). None shares a label
with the subjects that are kept for scoring. Each is seen as a collector sees it: all posts, the list's posts and a 1 %
sample, or the list's posts alone; with a list of ten, three or one keywords. A word's share is that of the posts that
it would newly bring, over five windows of all posts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.subjects import GROUPS, first_list, usable_words
from klda.advice.advise import judged
from klda.advice.features import Features
from klda.advice.terms import terms_of
from klda.cli.archives import open_replay
from klda.cli.inputs import Reading
from klda.evaluation.archive import Archive
from klda.evaluation.subjects import Subject, load_subjects
from klda.text.matching import Matcher
from klda.text.tokens import Pieces, cut
from klda.types import KeywordSet, silent

Floats = NDArray[np.float64]

SAMPLE = 0.01
HISTORY = 8
"""Windows that a collector has seen."""
BEST, DRAWN = 300, 300
"""Words of each situation: those that the coefficients of today find likeliest, and some by chance."""
SITUATIONS = (
    ("sample", 8, 10),
    ("sample", 12, 10),
    ("sample", 16, 3),
    ("none", 10, 10),
    ("none", 18, 3),
    ("all", 10, 3),
    ("all", 16, 10),
)
"""What is known, the last window that is seen, and the most keywords of the list."""


@dataclass(frozen=True)
class Labelled:
    """One situation: its words, their features, and what the labels say of the posts that they would newly bring."""

    name: str
    known: str
    n_current: int
    words: tuple[str, ...]
    features: Features
    share: Floats  # (T,)  of its new posts those on the subject
    posts: Floats  # (T,)  new posts


def labelled_situations(archive: Path, subjects: Path, work: Path | None = None) -> Iterator[Labelled]:
    """Every situation of every subject, of an archive with labels and its file of subjects."""
    own = load_subjects(subjects, "tune")
    replay = open_replay([archive], own, Reading({}), "7d", language="en", work=work, training=None, progress=silent)
    stream = replay.archive
    inside = np.concatenate([stream.positions(week) for week in (0, 1)])
    names, present = usable_words(stream, inside)
    labels = stream.labels[inside]
    groups = {name: frozenset(group.split()) for name, group in GROUPS.items()}
    further = [
        Subject(name, KeywordSet.of(*first_list(present, names, np.isin(labels, list(group)))), group)
        for name, group in groups.items()
    ]

    @lru_cache(maxsize=2)
    def pieces(window: int) -> tuple[NDArray[np.int64], Pieces]:
        """The posts by which words are judged that are asked for after a window."""
        windows = [w for w in range(window - 2, window + 3) if w < stream.n_windows]
        positions = np.concatenate([stream.positions(w) for w in windows])
        return positions, cut(stream.corpus.posts.texts(stream.documents.post[positions]))

    for known, window, most in sorted(SITUATIONS, key=lambda s: s[1]):
        for subject in (*own, *further):
            generator = np.random.default_rng([window, crc32(subject.name.encode())])
            yield _situation(stream, subject, known, window, most, generator, *pieces(window))


def _situation(
    stream: Archive,
    subject: Subject,
    known: str,
    window: int,
    most: int,
    generator: np.random.Generator,
    positions: NDArray[np.int64],
    pieces: Pieces,
) -> Labelled:
    keywords = list(subject.keywords)
    if len(keywords) > most:  # the better ones come first
        keywords = [keywords[i] for i in sorted(generator.choice(min(2 * most, len(keywords)), most, replace=False))]
    current = KeywordSet(tuple(keywords))
    windows = range(max(0, window + 1 - HISTORY), window + 1)
    if known == "all":
        seen = [stream.positions(w) for w in windows]
    else:
        rate = SAMPLE if known == "sample" else 0.0
        seen = [np.union1d(stream.collect(w, current), stream.sample(w, rate, generator)) for w in windows]
    corpus = stream.seen(np.concatenate(seen), [current] * len(windows), first_window=windows[0], min_count=3)
    terms = terms_of(corpus, current)
    said = subject.name.replace("_", " ") if generator.random() < 0.5 else None
    features, chance = judged(terms, "en", said, sample_share=SAMPLE if known == "sample" else 1.0)
    best = np.argsort(-chance, kind="stable")[:BEST]
    drawn = generator.choice(len(terms), min(DRAWN, len(terms)), replace=False)
    kept = np.unique(np.concatenate([np.arange(len(current)), best, drawn]))
    share, posts = _shares(stream, subject, [terms.keywords[c] for c in kept], len(current), positions, pieces)
    return Labelled(
        f"{subject.name}-{known}-{window}",
        known,
        len(current),
        tuple(terms.keywords[c].text for c in kept),
        features.take(kept),
        share,
        posts,
    )


def _shares(
    stream: Archive,
    subject: Subject,
    keywords: Sequence[object],
    n_current: int,
    positions: NDArray[np.int64],
    pieces: Pieces,
) -> tuple[Floats, Floats]:
    """Of the posts that each word newly brings, the share on the subject, and how many there are. # (T,), (T,)"""
    found = Matcher(KeywordSet(tuple(keywords))).match_pieces(pieces)  # type: ignore[arg-type]
    on_subject = np.isin(stream.labels[positions], list(subject.labels))
    listed = np.bincount(found.rows[found.values < n_current], minlength=len(positions))
    others = listed[found.rows] - (found.values < n_current)
    new = others == 0
    posts = np.bincount(found.values[new], minlength=len(keywords)).astype(np.float64)
    hits = np.bincount(found.values[new], on_subject[found.rows[new]], minlength=len(keywords))
    return hits / np.maximum(posts, 1), posts
