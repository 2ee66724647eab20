"""The API against its own OpenAPI schema: no answer is a fault, and none is undocumented."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from klda.web.application import create_app
from klda.web.studio_settings import StudioSettings
from tests.unit.web.home import make_home

TOKEN = "0123456789abcdef-ann"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1:8650"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ENDLESS = ("/live", "/events")
OPERATIONS = [
    (path, method)
    for path, methods in create_app(StudioSettings(Path("unused"))).openapi()["paths"].items()
    for method in methods
    if not path.endswith(ENDLESS)
]
KNOWN = {"name": "health"}
"""A parameter that leads somewhere, so that not every answer is 404."""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = make_home(tmp_path_factory.mktemp("studio") / "home")
    settings = StudioSettings(home, tokens={"ann": TOKEN}, writes_per_minute=1e6, reads_per_second=1e6)
    app = create_app(settings)
    with pytest.MonkeyPatch.context() as patch:  # no process is started for what is thought up here
        patch.setattr("klda.monitor.background.subprocess.Popen", _NoProcess)
        patch.setattr("klda.web.actions.subprocess.Popen", _NoProcess)
        yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=HEADERS)
    app.state.studio.close()


class _NoProcess:
    """What would have been started."""

    def __init__(self, *_: object, **__: object) -> None:
        self.returncode = 0

    def wait(self) -> int:
        return 0

    poll = wait


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda value: str(value))
def test_every_answer_is_as_documented(schema: Any, path: str, method: str) -> None:
    @hypothesis.settings(
        max_examples=10,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=schema[path][method].as_strategy(), known=hypothesis.strategies.booleans())
    def check(case: Any, known: bool) -> None:
        if known:
            case.path_parameters = {**(case.path_parameters or {}), **_known(case.path_parameters)}
        case.call_and_validate(headers=HEADERS, checks=CHECKS)

    check()


def _known(given: Any) -> dict[str, str]:
    return {name: value for name, value in KNOWN.items() if name in (given or {})}
