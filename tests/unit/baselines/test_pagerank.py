from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from klda.baselines.word_graph import pagerank
from klda.errors import DataError, SettingError


def solved(edges: np.ndarray, restart: np.ndarray, damping: float) -> np.ndarray:
    """The same by solving the linear equations of the stationary distribution."""
    begin = restart / restart.sum()
    total = edges.sum(axis=1, keepdims=True)
    step = np.where(total > 0, edges / np.where(total > 0, total, 1), begin)
    return np.linalg.solve(np.eye(len(edges)) - damping * step.T, (1 - damping) * begin)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 8))
    seed = draw(st.integers(0, 2**16))
    generator = np.random.default_rng(seed)
    edges = generator.random((n, n)) * (generator.random((n, n)) < draw(st.sampled_from([0.1, 0.5, 1.0])))
    restart = generator.random(n) * (generator.random(n) < 0.7)
    restart[generator.integers(n)] = 1.0
    return edges, restart


@given(graphs(), st.sampled_from([0.0, 0.3, 0.85, 0.99]))
def test_is_the_solution_of_the_walks_equations(graph, damping):
    edges, restart = graph
    found = pagerank(csr_array(edges), restart, damping=damping)
    np.testing.assert_allclose(found, solved(edges, restart, damping), atol=1e-9)
    assert found.sum() == pytest.approx(1)


@given(graphs())
def test_without_a_restart_the_walk_begins_everywhere_alike(graph):
    edges, _ = graph
    np.testing.assert_allclose(pagerank(csr_array(edges)), solved(edges, np.ones(len(edges)), 0.85), atol=1e-9)


def test_a_walk_that_never_goes_on_stays_where_it_starts():
    edges = csr_array(np.ones((3, 3)))
    np.testing.assert_allclose(pagerank(edges, np.array([1.0, 3.0, 0.0]), damping=0.0), [0.25, 0.75, 0])


def test_nonsense_is_refused():
    edges = csr_array(np.ones((2, 2)))
    with pytest.raises(SettingError, match="damping"):
        pagerank(edges, damping=1.0)
    with pytest.raises(DataError, match="start from"):
        pagerank(edges, np.zeros(2))
    with pytest.raises(DataError, match="start from"):
        pagerank(csr_array((0, 0)))
