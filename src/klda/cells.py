"""How tables show a value: the same words at a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from klda.errors import MissingExtraError, SettingError
from klda.safe_text import visible

UNKNOWN = "–"


def estimate_text(value: Mapping[str, float | None] | None) -> str:
    """A mean with its interval.

    >>> estimate_text({"mean": 0.301, "low": 0.25, "high": 0.36}), estimate_text(None)
    ('0.30 (0.25–0.36)', '–')
    >>> estimate_text({"mean": 37, "low": 0, "high": 139})
    '37 (0–139)'
    """
    if value is None or value["mean"] is None:
        return UNKNOWN
    size = abs(value["mean"])
    digits = 0 if size >= 100 or isinstance(value["mean"], int) else 1 if size >= 10 else 2
    if value["low"] is None or value["high"] is None:
        return f"{value['mean']:.{digits}f}"
    to = "–" if value["low"] >= 0 else " to "
    return f"{value['mean']:.{digits}f} ({value['low']:.{digits}f}{to}{value['high']:.{digits}f})"


def cell_text(value: Any) -> str:
    """The text of a value in a table.

    >>> [cell_text(value) for value in (None, True, 12345, 0.5, "redlung")]
    ['–', 'yes', '12,345', '0.5', 'redlung']
    """
    if value is None or isinstance(value, Mapping):
        return estimate_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"
    return visible(str(value))


def is_number(value: Any) -> bool:
    """Whether a value is aligned to the right: numbers and unknown values are."""
    return (
        value is None or isinstance(value, Mapping | float) or (isinstance(value, int) and not isinstance(value, bool))
    )


def html_text(text: str) -> str:
    """A text escaped for HTML, without characters that mislead the reader.

    >>> html_text("<b>you & me</b>")
    '&lt;b&gt;you &amp; me&lt;/b&gt;'
    """
    return escape(visible(text))


def html_paragraph(text: str, *, strong: bool = False) -> str:
    """A text as a paragraph of a notebook."""
    return f"<p><strong>{html_text(text)}</strong></p>" if strong else f"<p>{html_text(text)}</p>"


def html_table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> str:
    """Rows as a table for notebooks. It names no colour, so that it is read in light and in dark ones alike.

    >>> html_table(["word", "posts"], [["<i>", 1200]]).count("&lt;i&gt;")
    1
    """
    body = [list(row) for row in rows]
    sides = ["right" if body and all(is_number(row[i]) for row in body) else "left" for i in range(len(header))]
    lines = ["<table>"]
    lines += [f'<caption style="text-align:left">{html_text(title)}</caption>'] if title else []
    names = (_cell("th", side, name) for side, name in zip(sides, header, strict=True))
    lines.append(f"<thead><tr>{''.join(names)}</tr></thead>")
    for row in body:
        cells = (_cell("td", side, cell_text(value)) for side, value in zip(sides, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def frame_of(rows: Sequence[Sequence[Any]], columns: Mapping[str, type], library: str) -> Any:
    """Rows as a frame of Polars or pandas; columns hold `str` or `float`."""
    if library not in ("polars", "pandas"):
        raise SettingError(f'library must be "polars" or "pandas", got {library!r}')
    if library == "polars":
        import polars  # which tables can do without

        return polars.DataFrame(rows, schema=dict(columns), orient="row")
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingExtraError('to_frame("pandas") needs pandas: pip install pandas') from error
    numbers = [name for name, kind in columns.items() if kind is float]
    return pandas.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(numbers, "float64"))


def _cell(tag: str, side: str, text: str) -> str:
    return f'<{tag} style="text-align:{side}">{html_text(text)}</{tag}>'
