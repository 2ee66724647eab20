from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klda.text.documents import Documents, Ragged, distinct, merged
from klda.text.encoding import count_words
from klda.text.tokens import chained

lists = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=8)


def documents(rows: list[list[int]], times: list[int]) -> Documents:
    indptr, words, counts = count_words(Ragged.of(rows), 10)
    n = len(rows)
    return Documents(indptr, words, counts, np.array(times, dtype=np.int64), np.zeros(n, np.int32), np.arange(n))


@given(lists, st.data())
def test_taking_lists_is_taking_lists(rows: list[list[int]], data: st.DataObject) -> None:
    index = data.draw(st.lists(st.integers(0, max(0, len(rows) - 1)), max_size=6)) if rows else []
    assert Ragged.of(rows).take(np.array(index, dtype=np.int64)).lists() == [rows[i] for i in index]


@given(lists, lists)
def test_joined_lists_stand_one_after_another(first: list[list[int]], second: list[list[int]]) -> None:
    assert Ragged.joined([Ragged.of(first), Ragged.of(second)]).lists() == first + second


@given(lists, st.lists(st.lists(st.integers(0, 99), max_size=3), min_size=10, max_size=10))
def test_chained_lists_replace_each_value(outer: list[list[int]], inner: list[list[int]]) -> None:
    assert chained(Ragged.of(outer), Ragged.of(inner)).lists() == [[v for o in row for v in inner[o]] for row in outer]


@given(st.lists(st.integers(-5, 5)))
def test_distinct_numbers_are_counted(keys: list[int]) -> None:
    numbers, counts = distinct(np.array(keys, dtype=np.int64))
    assert dict(zip(numbers.tolist(), counts.tolist(), strict=True)) == {key: keys.count(key) for key in keys}
    assert numbers.tolist() == sorted(set(keys))


@given(lists)
def test_word_counts_are_those_of_the_lists(rows: list[list[int]]) -> None:
    made = documents(rows, list(range(len(rows))))
    assert made.lengths.tolist() == [len(row) for row in rows]
    for i, row in enumerate(rows):
        one = made.take(slice(i, i + 1))
        assert dict(zip(one.words.tolist(), one.counts.tolist(), strict=True)) == {w: row.count(w) for w in row}


@given(lists)
def test_a_slice_takes_what_an_index_takes(rows: list[list[int]]) -> None:
    made = documents(rows, list(range(len(rows))))
    for part in (slice(1, 4), slice(0, 0), slice(None, None, 2)):
        by_slice, by_index = made.take(part), made.take(np.arange(len(rows))[part])
        for name, array in by_slice.arrays().items():
            np.testing.assert_array_equal(array, getattr(by_index, name))


def test_merged_documents_are_in_the_order_of_time() -> None:
    both = merged(documents([[1], [2, 2]], [5, 20]), documents([[3]], [10]))
    assert both.time.tolist() == [5, 10, 20]
    assert both.words.tolist() == [1, 3, 2]
    assert both.counts.tolist() == [1, 1, 2]
