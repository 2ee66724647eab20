from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from klda import extras
from klda.cli.app import app
from klda.cli.serve import serve
from klda.errors import MissingExtraError, SettingError


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingError, match="choose another with --port"):
            serve(port=port, home=tmp_path)


def test_another_address_needs_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KLDA_TOKENS", raising=False)
    result = CliRunner().invoke(app, ["serve", "--host", "0.0.0.0", "--port", "0", "--home", str(tmp_path)])
    assert isinstance(result.exception, SettingError)
    assert "give a token first" in str(result.exception)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: name != "uvicorn")
    with pytest.raises(MissingExtraError, match=r"the studio needs uvicorn; .*pip install 'klda\[web\]'"):
        serve(home=tmp_path)


def test_the_studio_is_served_until_it_is_told_to_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "klda", "serve", "--port", "0", "--home", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split(" at ")[1].split()[0]
            assert httpx.get(f"{address}healthz", timeout=30, trust_env=False).text == "ok\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(30) in (0, -signal.SIGINT, 130)
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()
