"""Every benchmark, one after the other, each as one line of JSON: `make bench`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ARCHIVES = Path(__file__).parents[2] / "shared" / "data"
PROGRAMS = {
    "startup": [],
    "prepare": [str(ARCHIVES / "congress_2020.parquet")],
    "advice": [str(ARCHIVES / "congress_2020.parquet")],
    "matching": [],
    "training": [],
    "crash": [],
    "ingest": [],
    "web": [],
    "scale": [],
}


def main() -> None:
    """Runs each program in a process of its own, so that peak memory is its own."""
    for name, arguments in PROGRAMS.items():
        if any(not Path(argument).exists() for argument in arguments):
            print(json.dumps({name: "left out: needs the real archives beside the repository"}))
            continue
        command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        print(json.dumps({name: json.loads(result.stdout)}), flush=True)


if __name__ == "__main__":
    main()
