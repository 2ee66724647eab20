"""Posts that mean what the subject's posts mean, beside what a list can bring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.errors import DataError
from klda.evaluation.archive import Archive
from klda.evaluation.oracle import best_keywords
from klda.evaluation.retrieval import retrieved
from klda.evaluation.subjects import Subject
from klda.text.vectors import word_vectors

WEEK, TERMS = 3, 8


def directions(archive, positions):
    """The vector of each post, word by word."""
    vocabulary = archive.corpus.vocabulary
    found = []
    for position in positions.tolist():
        post = archive.documents.take(slice(position, position + 1))
        total = np.zeros(256)
        for word, count in zip(post.words.tolist(), post.counts.tolist(), strict=True):
            if word:
                total += count * word_vectors([vocabulary.display(word)])[0]
        found.append(total / (np.linalg.norm(total) or 1))
    return np.array(found)


def test_a_post_means_the_mean_of_its_words(archive):
    positions = archive.positions(WEEK)[:40]
    np.testing.assert_allclose(archive.meaning(positions), directions(archive, positions), atol=1e-5)


def test_brings_the_nearest_posts_as_many_as_the_best_list(archive, health):
    found = retrieved(archive, WEEK, health, TERMS)
    assert len(found) == len(archive.collect(WEEK, best_keywords(archive, WEEK, health.labels, TERMS)))
    usual = archive.meaning(archive.positions(WEEK - 1)).mean(axis=0)

    def centred(positions):
        away = archive.meaning(positions) - usual
        return away / np.linalg.norm(away, axis=1, keepdims=True)

    subject = centred(archive.on_topic(health.labels, WEEK - 1)).mean(axis=0)
    inside = archive.positions(WEEK)
    cosine = centred(inside) @ subject
    assert cosine[np.isin(inside, found)].min() >= cosine[~np.isin(inside, found)].max()


def test_most_of_them_are_on_the_subject(archive, health):
    found = retrieved(archive, WEEK, health, TERMS)
    inside = archive.positions(WEEK)
    share = archive.labelled(inside, health.labels).mean()
    assert archive.labelled(found, health.labels).mean() > 3 * share


def test_without_posts_or_vectors_nothing_tells_what_the_subject_means(archive, health):
    with pytest.raises(DataError, match="no post of"):
        retrieved(archive, WEEK, Subject("none", health.keywords, frozenset({"no label"})), TERMS)
    german = replace(archive.corpus.vocabulary, language="de")
    with pytest.raises(DataError, match="'de'"):
        retrieved(Archive(replace(archive.corpus, vocabulary=german)), WEEK, health, TERMS)
