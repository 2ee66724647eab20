"""What the last run with `--cov` reached: the share of all lines, and the modules where most is missing.

`python -m tests.least_covered tests/unit/text` looks at the modules that this folder tests, those of `klda/text`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from coverage import Coverage

SHOWN = 10


def lines(found: dict[str, tuple[int, int]]) -> list[str]:
    """The total and the least covered modules, from the number of lines and of those missed in each.

    >>> lines({"a.py": (10, 1), "b.py": (10, 5), "empty.py": (0, 0)})
    ['70 % of 20 lines', ' 50 %  b.py: 5 of 10 lines missed', ' 90 %  a.py: 1 of 10 lines missed']
    """
    filled = {name: counts for name, counts in found.items() if counts[0]}
    total, missed = (sum(counts[i] for counts in filled.values()) for i in (0, 1))
    least = sorted(filled, key=lambda name: (1 - filled[name][1] / filled[name][0], -filled[name][1]))[:SHOWN]
    return [
        f"{_percent(total, missed)} % of {total:,} lines",
        *(
            f"{_percent(*filled[name]):3} %  {name}: {filled[name][1]} of {filled[name][0]} lines missed"
            for name in least
        ),
    ]


def _percent(count: int, missed: int) -> int:
    return 100 * (count - missed) // max(count, 1)


def main() -> None:
    """Prints them."""
    folder = Path("src") / "klda" / Path(*sys.argv[1:]).relative_to("tests/unit")
    coverage = Coverage()
    coverage.load()
    found = {}
    for file in sorted(folder.rglob("*.py")):
        _, statements, _, missing, _ = coverage.analysis2(str(file))
        found[file.relative_to("src").as_posix()] = (len(statements), len(missing))
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
