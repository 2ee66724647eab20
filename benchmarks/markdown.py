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


def next_lists(summary: dict[str, Any]) -> str:
    """Recall, precision and F1 of next lists, their ratios to the current list, and the lead of the first policy."""
    order = sorted(summary["policies"].items(), key=lambda item: -(item[1]["f1"]["mean"] or 0))
    first = next(iter(summary["policies"]))
    measures = ("recall", "precision", "f1", "volume", "ratio")
    columns = (*measures, "by subject", "lowest subject", f"{first} less it")
    lines = [f"| policy | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, entry in order:
        lowest = "–" if entry["least_ratio"] is None else f"{entry['least_ratio']:.2f} ({entry['least_subject']})"
        by_subject = "–" if entry["subject_ratio"] is None else f"{entry['subject_ratio']:.2f}"
        cells = [*(text(entry[measure]) for measure in measures), by_subject, lowest]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {text(summary['paired'][first].get(name), 3)} |")
    told = f"{summary['n_cases']} cases; `ratio` is F1 over that of the current list (`static`)."
    return "\n".join([told, "", *lines]) + "\n"


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
    table = open_loop if "corrected" in found else next_lists if "n_cases" in found else closed_loop
    print(table(found))
