from __future__ import annotations

import pytest
from typer.testing import CliRunner

from klda.simulation import World, write


@pytest.fixture(scope="session")
def posts(tmp_path_factory):
    """Six simulated weeks on disk."""
    return write(World(weeks=6, posts_per_week=1500, seed=1), tmp_path_factory.mktemp("posts") / "posts.parquet")


@pytest.fixture
def klda(monkeypatch):
    """Runs the command line as a user would, errors included."""
    from klda.cli import app

    def run(*arguments, **more):
        runner = CliRunner()
        result = runner.invoke(app.app, [str(a) for a in arguments], **more)
        if isinstance(result.exception, app.KldaError):
            result.exit_code = result.exception.exit_code
            result.error = str(result.exception)
        elif result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
