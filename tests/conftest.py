"""Settings for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

# A loaded machine must not fail a property test; how fast things are is for benchmarks/ to say.
settings.register_profile("klda", deadline=None)
settings.load_profile("klda")

# Tests run in as many processes as there are cores: more threads would only fight each other, also those of commands
# that tests begin as processes of their own.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")

ARCHIVES = Path(__file__).parents[2] / "shared" / "data"

LONGEST = "test_ray_cluster"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest file first: begun late, it would still run when everything else is done."""
    items.sort(key=lambda item: item.path.stem != LONGEST)


@pytest.fixture(scope="session")
def archives() -> Path:
    """The folder of real archives; tests that need it are marked `archive`."""
    if not ARCHIVES.is_dir():
        pytest.skip("the real archives are not beside the repository")
    return ARCHIVES
