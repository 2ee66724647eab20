from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from klda.model.klda import KLDA
from klda.text.corpus import Corpus
from klda.text.documents import Ragged
from tests.unit.model.small import QUICK, corpus_of, random_data


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    """The arrays here are tiny: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """Candidates are words 1 … 4: word 0 is the placeholder."""
    data = random_data(n_documents=60)
    data = replace(data, words=data.words + 1, n_words=13, keyword_words=Ragged.of([[j + 1] for j in range(4)]))
    return corpus_of(data)


@pytest.fixture(scope="session")
def model(corpus: Corpus) -> KLDA:
    """A model of these documents; tests may ask, save and fit it again, not train it on others."""
    return KLDA(**QUICK).fit(corpus)
