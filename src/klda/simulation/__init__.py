"""A simulated firehose with known truth, of any size: for demonstrations, tests and benchmarks of scale."""

from __future__ import annotations

from klda.simulation.cast import SimulatedSubject, Thread
from klda.simulation.world import Emerging, World
from klda.simulation.write_files import write

__all__ = ["Emerging", "SimulatedSubject", "Thread", "World", "write"]
