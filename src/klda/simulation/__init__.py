"""A simulated firehose with known truth, of any size: for demonstrations, tests and benchmarks of scale."""

from __future__ import annotations

from klda.simulation.files import write
from klda.simulation.subjects import Subject, Thread
from klda.simulation.world import Emerging, World

__all__ = ["Emerging", "Subject", "Thread", "World", "write"]
