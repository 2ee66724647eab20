"""When two corpora are the same."""

from __future__ import annotations

import numpy as np

from klda.text.corpus import Corpus


def assert_same(first: Corpus, second: Corpus) -> None:
    for part in ("documents", "apart"):
        for name, array in getattr(first, part).arrays().items():
            np.testing.assert_array_equal(array, getattr(getattr(second, part), name))
            assert array.dtype == getattr(getattr(second, part), name).dtype
    assert first.observed.lists() == second.observed.lists()
    assert first.vocabulary == second.vocabulary
    for name in ("candidates", "windows", "history", "adjacent", "settings", "windowing", "n_distinct"):
        assert getattr(first, name) == getattr(second, name), name
    assert first.posts.table.equals(second.posts.table)
