"""Tables of measured means and their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from klda.report.phrases import measured


@dataclass(frozen=True)
class Cell:
    """A mean and its interval, as texts."""

    mean: str
    interval: str = ""
    clear: bool = False
    """Whether it is a difference whose interval leaves nought out."""


EMPTY = Cell("")


@dataclass(frozen=True)
class ResultGrid:
    """A table; the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def cell(estimate: Mapping[str, float | None] | None, *, difference: bool = False) -> Cell:
    """An estimate as a cell; a difference has a sign.

    >>> cell({"mean": 0.05, "low": 0.01, "high": 0.09}, difference=True)
    Cell(mean='+0.05', interval='+0.01 to +0.09', clear=True)
    """
    mean, interval = measured(estimate, signed=difference)
    low, high = (estimate["low"], estimate["high"]) if estimate else (None, None)
    clear = difference and low is not None and high is not None and (low > 0 or high < 0)
    return Cell(mean, interval, clear)
