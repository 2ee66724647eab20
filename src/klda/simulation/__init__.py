"""A simulated stream of posts with known truth, of any size: for demonstrations, tests and benchmarks."""

from __future__ import annotations

from klda.simulation.simulated_subjects import SimulatedSubject, Thread
from klda.simulation.world import Emerging, World, write

__all__ = ["Emerging", "SimulatedSubject", "Thread", "World", "write"]
