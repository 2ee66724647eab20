"""How long klda takes to begin: `python -m benchmarks.startup`.

Each program runs in a process of its own, the three by turns; the first turn, which warms the cache, does not count.
Prints JSON:
  import_over_pass, help_over_pass   median times of `import klda` and of `klda --help`, divided by that of `pass`
  seconds                            the three medians
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from statistics import median

PROGRAMS = {
    "pass": ["-c", "pass"],
    "import": ["-c", "import klda"],
    "help": ["-m", "klda", "--help"],
}


def measured(turns: int) -> dict[str, float]:
    """Median seconds of each program."""
    seconds: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(turns + 1):
        for name, arguments in PROGRAMS.items():
            begun = time.perf_counter()
            subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - begun)
    return {name: median(taken[1:]) for name, taken in seconds.items()}


def main() -> None:
    """Measures, and prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=11)
    seconds = measured(parser.parse_args().turns)
    ratios = {f"{name}_over_pass": round(seconds[name] / seconds["pass"], 1) for name in ("import", "help")}
    print(json.dumps({**ratios, "seconds": {name: round(taken, 3) for name, taken in seconds.items()}}))


if __name__ == "__main__":
    main()
