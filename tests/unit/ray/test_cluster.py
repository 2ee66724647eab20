from __future__ import annotations

import socket

import pytest

from klda import extras
from klda.errors import MissingExtraError, SettingError
from klda.ray import cluster


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extras, "_is_installed", lambda name: False)
    with pytest.raises(MissingExtraError, match=r"pip install 'klda\[ray\]'"), cluster.connected():
        pass


@pytest.mark.filterwarnings("default")  # of Ray's own imports
def test_an_address_where_nobody_listens_is_named_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    wanted = f"--address {address}: no Ray cluster answers there"
    with pytest.raises(SettingError, match=wanted), cluster.connected(address):
        pass


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("address", ["somewhere", ":6379", "host:port", ""])
def test_an_address_must_be_a_host_and_a_port(address: str):
    with pytest.raises(SettingError, match="write host:port"), cluster.connected(address):
        pass
