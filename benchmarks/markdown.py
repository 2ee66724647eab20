"""A backtest's JSON as Markdown tables: `klda backtest … --format json | python -m benchmarks.markdown`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def open_loop(summary: dict[str, Any], shown: Callable[[str], bool] = bool) -> str:
    """Accuracy, coverage and skill of every policy that is `shown`, by raw and by corrected truth."""
    lines = []
    for title, part in (("Raw truth", summary), ("Corrected truth", summary["corrected"])):
        tops = list(part["ceiling"])
        columns = [f"{measure}, top {top}" for top in tops for measure in ("accuracy", "coverage", "skill")]
        limits = "; ".join(f"top {top} {text(part['ceiling'][top])}" for top in tops)
        lines += [f"**{title}** ({summary['n_cases']} cases; ceiling: {limits})", ""]
        lines += ["| policy | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        order = sorted(
            filter(shown, part["policies"]),
            key=lambda name: -(part["policies"][name]["accuracy"][tops[-1]]["mean"] or 0),
        )
        for name in order:
            entry = part["policies"][name]
            cells = [text(entry[m][top]) for top in tops for m in ("accuracy", "coverage", "skill")]
            lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def closed_loop(summary: dict[str, Any]) -> str:
    """Recall, precision, F1, volume and drift of every policy."""
    measures = ("recall", "precision", "f1", "volume", "drift")
    lines = ["| policy | " + " | ".join(measures) + " |", "|---" * (len(measures) + 1) + "|"]
    for name, entry in sorted(summary["policies"].items(), key=lambda item: -(item[1]["f1"]["mean"] or 0)):
        lines.append(f"| `{name}` | " + " | ".join(text(entry[measure]) for measure in measures) + " |")
    return "\n".join(lines) + "\n"


def text(value: dict[str, float | None] | None, digits: int = 2) -> str:
    """A mean with its interval.

    >>> text({"mean": 0.5, "low": 0.25, "high": 0.75})
    '0.50 (0.25 to 0.75)'
    """
    if value is None or value["mean"] is None:
        return "–"
    digits = 0 if abs(value["mean"]) >= 100 else digits
    spread = "" if value["low"] is None else f" ({value['low']:.{digits}f} to {value['high']:.{digits}f})"
    return f"{value['mean']:.{digits}f}{spread}"


if __name__ == "__main__":
    found = json.load(sys.stdin)
    print(open_loop(found) if "corrected" in found else closed_loop(found))
