"""The files of models that are no longer needed. A collector needs them, and loads no library of learning."""

from __future__ import annotations

import shutil
import time
from datetime import timedelta
from pathlib import Path

from klda.monitor.monitor import Monitor
from klda.store import TrainedModel


def drop_models(monitor: Monitor, models: list[TrainedModel]) -> None:
    """Forgets models, and removes their files."""
    for model in models:
        monitor.records.journal.remove_model(model.id)
        shutil.rmtree(monitor.folder.path / model.path, ignore_errors=True)


def sweep_models(monitor: Monitor, grace: timedelta) -> int:
    """Removes files that a crash left between writing and recording, as old as that, and returns how many."""
    before = time.time() - grace.total_seconds()
    recorded = {Path(model.path).name for model in monitor.records.journal.models(100_000)}
    found = monitor.folder.models.iterdir() if monitor.folder.models.is_dir() else ()
    lost = [p for p in found if p.name not in recorded and p.stat().st_mtime <= before]
    for path in lost:
        shutil.rmtree(path)
    return len(lost)
