"""How long it takes from files to advice: eleven weeks of an archive, one subject, report included.

    python -m benchmarks.advice congress_2020.parquet [--from 2020-01-20] [--keywords health,drug,medicare] [--runs 2]

Runs `klda recommend` in a process of its own and prints JSON: `seconds` of each run, `posts`, and `versus_counting`:
the quickest run over that of `--policy counting`, which reads and reports the same and trains nothing.
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


def seconds(posts: Path, keywords: str, policy: str, report: Path) -> float:
    """Wall-clock time of one call of the command."""
    command = [sys.executable, "-m", "klda", "recommend", str(posts), "--keywords", keywords, "--policy", policy]
    begun = time.perf_counter()
    subprocess.run([*command, "--report", str(report)], check=True, capture_output=True)
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
    with tempfile.TemporaryDirectory() as folder:
        posts, report = Path(folder) / "posts.parquet", Path(folder) / "report.html"
        chosen = pl.read_parquet(given.archive).filter(inside)
        chosen.write_parquet(posts)
        took = [seconds(posts, given.keywords, "klda", report) for _ in range(given.runs)]
        counting = seconds(posts, given.keywords, "counting", report)
    result = {
        "posts": len(chosen),
        "seconds": [round(each, 1) for each in took],
        "seconds_counting": round(counting, 1),
        "versus_counting": round(min(took) / counting, 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
