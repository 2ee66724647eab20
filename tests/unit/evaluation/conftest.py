from __future__ import annotations

import pytest

from klda.evaluation.archive import Archive
from klda.evaluation.subjects import Subject
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import KeywordSet


@pytest.fixture(scope="session")
def world():
    return World(weeks=8, posts_per_week=1500, seed=3)


@pytest.fixture(scope="session")
def archive(world):
    return Archive(Corpus.from_posts(world, KeywordSet.of("hospital"), workers=1))


@pytest.fixture(scope="session")
def health(world):
    founding = next(subject for subject in world.subjects if subject.name == "health")
    return Subject("health", KeywordSet.of(*founding.keywords), frozenset({"health"}))
