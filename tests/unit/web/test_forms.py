"""Where a source from a form may lead: to no file, and not into the own network."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from klda.errors import SettingError
from klda.streams import source_of
from klda.web.forms import source_from_form, token_variable


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "::127.0.0.1",
        "fec0::1",
        "224.0.0.1",
    ],
)
def test_sources_in_the_own_network_are_refused_unless_allowed(address: str) -> None:
    def leads_there(_host: str, _port: int) -> list[str]:
        return ["93.184.215.14", address]

    for kind, where in (("jetstream", "wss://a.example"), ("mastodon", "https://a.example"), ("kafka", "a.example:1")):
        with pytest.raises(SettingError, match="own network"):
            source_from_form(kind, where, "posts", resolve=leads_there)
        allowed = source_from_form(kind, where, "posts", private=True, resolve=leads_there)
        assert (allowed["kind"], allowed["only_outside"]) == (kind, False)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("mastodon", "http://a.example"),
        ("mastodon", "file:///etc/passwd"),
        ("mastodon", "https://ann:secret@a.example"),
        ("mastodon", "https://a.example/?x=1"),
        ("mastodon", "https://fa\u00df.example"),
        ("jetstream", "wss://\u24d0.example"),
        ("jetstream", "https://a.example"),
        ("jetstream", "wss://"),
        ("jetstream", "wss://a.example:99999"),
        ("x", "https://a.example"),
        ("kafka", "a.example"),
        ("kafka", ""),
        ("replay", "/etc/passwd"),
        ("folder", "/etc"),
    ],
)
def test_other_schemes_and_files_are_refused(kind: str, address: str) -> None:
    with pytest.raises(SettingError) as refusal:
        source_from_form(kind, address, "posts", resolve=lambda host, port: ["93.184.215.14"])
    assert "secret" not in str(refusal.value)


def test_a_token_is_only_sent_where_it_belongs() -> None:
    source = source_from_form("mastodon", "https://evil.example", resolve=lambda host, port: ["93.184.215.14"])
    assert source["token"] == "MASTODON_TOKEN_EVIL_EXAMPLE"
    assert token_variable("my-server.org") != token_variable("my.server.org")


@pytest.mark.parametrize(
    ("kind", "where"), [("jetstream", "wss://a.example"), ("mastodon", "https://a.example"), ("kafka", "a.example:1")]
)
def test_a_source_from_a_form_looks_again_when_it_connects(
    kind: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = source_from_form(kind, where, "posts", resolve=lambda host, port: ["93.184.215.14"])
    rebound = [(2, 1, 6, "", ("127.0.0.1", 1))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args, **_options: rebound)

    async def listen() -> None:
        async with aclosing(source_of(table).bursts()) as bursts:
            async for _ in bursts:
                pass

    with pytest.raises(SettingError, match="own network"):
        asyncio.run(asyncio.wait_for(listen(), 20))
