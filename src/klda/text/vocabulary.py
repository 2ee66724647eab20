"""The words that the model knows, and how people write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from klda.errors import FormatError
from klda.types import Keyword

PLACEHOLDER = "<rare>"
"""Stands for every word that is rare, or unknown to a vocabulary made earlier. Always word 0."""


@dataclass(frozen=True)
class Vocabulary:
    """Stems by number, and the surface forms of each, most frequent first.

    >>> words = Vocabulary.of({"veteran": {"veterans": 70, "veteran": 28, "veteran's": 2}})
    >>> words.index("veteran"), words.index("never seen"), words.display(1)
    (1, 0, 'veterans')
    >>> words.keyword("veteran").forms
    ('veterans', 'veteran')
    """

    words: tuple[str, ...]
    forms: tuple[tuple[str, ...], ...]
    form_counts: tuple[tuple[int, ...], ...]
    language: str = "en"
    _index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.words or self.words[0] != PLACEHOLDER:
            raise FormatError(f"a vocabulary must start with {PLACEHOLDER}")
        object.__setattr__(self, "_index", {word: i for i, word in enumerate(self.words)})

    @classmethod
    def of(cls, forms: Mapping[str, Mapping[str, int]], language: str = "en") -> Vocabulary:
        """The vocabulary of these stems, each with its surface forms and how often they occurred."""
        ordered = {s: sorted(f.items(), key=lambda item: (-item[1], item[0])) for s, f in forms.items()}
        return cls(
            words=(PLACEHOLDER, *ordered),
            forms=((), *(tuple(form for form, _ in pairs) for pairs in ordered.values())),
            form_counts=((), *(tuple(count for _, count in pairs) for pairs in ordered.values())),
            language=language,
        )

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def index(self, word: str) -> int:
        """The number of a stem; that of the placeholder when it is not known."""
        return self._index.get(word, 0)

    def display(self, word: int) -> str:
        """A word as people write it most often."""
        return self.forms[word][0] if self.forms[word] else self.words[word]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurred when the vocabulary was made; 0 for the placeholder. # (V,)"""
        return np.array([sum(counts) for counts in self.form_counts], dtype=np.int64)

    def keyword(self, word: str | int, coverage: float = 0.95) -> Keyword:
        """A stem as a keyword with its most frequent forms, which cover this share of its occurrences."""
        index = word if isinstance(word, int) else self.index(word)
        forms, counts = self.forms[index], self.form_counts[index]
        if not forms:
            return Keyword(self.words[index] if index or isinstance(word, int) else word)
        enough = coverage * sum(counts)
        n = int(np.searchsorted(np.cumsum(counts), enough)) + 1
        return Keyword(forms[0], forms[:n])

    def extend(self, forms: Mapping[str, Mapping[str, int]]) -> Vocabulary:
        """This vocabulary with further stems at its end, and updated counts of all forms.

        >>> Vocabulary.of({"old": {"old": 3}}).extend({"new": {"new": 5}, "old": {"olds": 9}}).words
        ('<rare>', 'old', 'new')
        """
        merged = {
            w: dict(zip(f, c, strict=True)) for w, f, c in zip(self.words, self.forms, self.form_counts, strict=True)
        }
        merged.pop(PLACEHOLDER)
        for stem, more in forms.items():
            known = merged.setdefault(stem, {})
            for form, count in more.items():
                known[form] = known.get(form, 0) + count
        return Vocabulary.of(merged, self.language)

    def save(self, path: Path) -> None:
        """Writes the vocabulary as Parquet."""
        table = pa.table(
            {
                "word": pa.array(self.words, pa.string()),
                "forms": pa.array(self.forms, pa.list_(pa.string())),
                "form_counts": pa.array(self.form_counts, pa.list_(pa.int64())),
            },
            metadata={"language": self.language},
        )
        pq.write_table(table, path)

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """The vocabulary in a Parquet file."""
        try:
            table = pq.read_table(path)
            language = (table.schema.metadata or {})[b"language"].decode()
            columns: list[Sequence[object]] = [table.column(n).to_pylist() for n in ("word", "forms", "form_counts")]
        except (OSError, pa.ArrowInvalid, KeyError) as error:
            raise FormatError(f"{path}: not a readable vocabulary ({error}); prepare the corpus again") from error
        words, forms, counts = columns
        return cls(
            tuple(str(w) for w in words),
            tuple(tuple(f) for f in forms),  # type: ignore[arg-type]
            tuple(tuple(c) for c in counts),  # type: ignore[arg-type]
            language,
        )
