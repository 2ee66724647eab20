"""One simulated history, shared by tests of advice: seven weeks, with a health story that breaks in the fourth."""

from __future__ import annotations

import numpy as np
import pytest

from klda.baselines.candidates import assemble_candidates
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import KeywordSet

WORLD = World(weeks=7, posts_per_week=1200)


@pytest.fixture(scope="session")
def current() -> KeywordSet:
    return KeywordSet.of(*WORLD.best_keywords("health", week=0, n=3))


@pytest.fixture(scope="session")
def corpus(current: KeywordSet) -> Corpus:
    return Corpus.from_posts(WORLD, current)


@pytest.fixture(scope="session")
def candidates(corpus: Corpus, current: KeywordSet) -> KeywordSet:
    return assemble_candidates(
        corpus, current, sources=("history", "nouns"), size=20, generator=np.random.default_rng(0)
    ).keywords


@pytest.fixture(scope="session")
def history(corpus: Corpus, candidates: KeywordSet) -> Corpus:
    return corpus.with_candidates(candidates)
