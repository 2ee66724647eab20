"""How long it takes from files to advice: eleven weeks of an archive, one subject, report included.

    python -m benchmarks.advice congress_2020.parquet [--from 2020-01-20] [--keywords health,drug,medicare] [--runs 2]

Runs `klda prepare` and `klda recommend` on the same posts in turns, each in a process of its own. Prints JSON: `posts`,
seconds of each run, and `over_prepare`: the quickest advice over the quickest preparation.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl

WEEKS = 11


def seconds(*arguments: str | Path) -> float:
    """Wall-clock time of one call of the command."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "klda", *map(str, arguments)], check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--from", dest="start", default="2020-01-20", help="first day of the weeks")
    parser.add_argument("--keywords", default="health,drug,medicare")
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    start = datetime.fromisoformat(given.start).replace(tzinfo=UTC)
    inside = pl.col("time").is_between(start, start + timedelta(weeks=WEEKS), closed="left")
    took: dict[str, list[float]] = {"prepare": [], "recommend": []}
    with tempfile.TemporaryDirectory() as folder:
        posts, report = Path(folder) / "posts.parquet", Path(folder) / "report.html"
        chosen = pl.read_parquet(given.archive).filter(inside)
        chosen.write_parquet(posts)
        asked = (posts, "--keywords", given.keywords)
        for run in range(given.runs):
            took["prepare"].append(seconds("prepare", *asked, "--out", Path(folder) / f"corpus-{run}"))
            took["recommend"].append(seconds("recommend", *asked, "--report", report))
    result = {
        "posts": len(chosen),
        **{f"seconds_{name}": [round(each, 1) for each in runs] for name, runs in took.items()},
        "over_prepare": round(min(took["recommend"]) / min(took["prepare"]), 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
