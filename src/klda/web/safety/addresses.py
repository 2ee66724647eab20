"""Sources that a form may name: kinds without files, addresses of a known scheme that lead out of the own network.

The studio must not be made to knock on doors that only it can reach (server-side request forgery), nor to hand its
secrets to whoever is named: X has one address, and a token for Mastodon is looked for under the name of its server.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import SplitResult, urlsplit

from klda.errors import SettingError
from klda.streams.connections import Resolve, outside, resolved

SCHEMES = {"jetstream": ("wss", "ws"), "mastodon": ("https",)}
KINDS = ("jetstream", "mastodon", "x", "kafka")
"""What a form may name. Files come by upload: no path from a request reaches the file system."""


def source_from_form(
    kind: str, address: str, topic: str = "", *, private: bool = False, resolve: Resolve = resolved
) -> dict[str, Any]:
    """The source that a form describes, as settings take it; SettingError where it may not be used.

    private: whether addresses of the own network are allowed. Where they are not, the source looks again whenever it
    connects: a name may lead elsewhere by then.

    >>> source_from_form("jetstream", "")
    {'kind': 'jetstream'}
    >>> source_from_form("mastodon", "https://localhost", resolve=lambda host, port: ["127.0.0.1"])
    Traceback (most recent call last):
    klda.errors.SettingError: localhost leads into the own network (127.0.0.1); --private-sources allows this
    """
    address, topic = address.strip(), topic.strip()
    if kind not in KINDS:
        raise SettingError(f"source {kind!r} is not known here; choose one of {', '.join(KINDS)}")
    if kind == "kafka":
        return _kafka(address, topic, private, resolve)
    if kind == "x":
        if address:
            raise SettingError("X has one address; leave it empty")
        return {"kind": "x"}
    if not address:
        return {"kind": kind}
    parts = _parts(address, SCHEMES[kind])
    _check(parts.hostname or "", parts.port or 443, private, resolve)
    table = {"kind": kind, "server": address.rstrip("/"), "only_outside": not private}
    if kind == "mastodon":
        table["token"] = token_variable(parts.hostname or "")
    return table


def token_variable(host: str) -> str:
    """The environment variable for the token of a Mastodon server: a secret is only ever sent where it belongs.

    No two names share one: a dash, which a stranger could register in place of a dot, is not written as a dot is.

    >>> token_variable("fosstodon.org"), token_variable("my-server.org")
    ('MASTODON_TOKEN_FOSSTODON_ORG', 'MASTODON_TOKEN_MY__SERVER_ORG')
    """
    return "MASTODON_TOKEN_" + host.upper().replace("-", "__").replace(".", "_")


def _parts(address: str, schemes: tuple[str, ...]) -> SplitResult:
    try:
        parts = urlsplit(address)
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise SettingError(f"{address!r} is not an address; as in {schemes[0]}://example.org") from error
    if parts.scheme not in schemes or not host or port == 0:
        raise SettingError(f"give an address that begins with {' or '.join(f'{s}://' for s in schemes)}")
    if not re.fullmatch(r"[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+", host):  # others are read differently by different libraries
        raise SettingError(f"{host!r}: give the name of a server in plain letters, as in xn--bcher-kva.example")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingError("give the address of the server alone, without names, passwords or questions in it")
    return parts


def _kafka(address: str, topic: str, private: bool, resolve: Resolve) -> dict[str, Any]:
    if not topic:
        raise SettingError("Kafka needs a topic")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", topic):
        raise SettingError("a topic of Kafka has letters, digits, dots, dashes and underscores")
    servers = [server.strip() for server in address.split(",") if server.strip()]
    if not servers:
        raise SettingError("Kafka needs the address of a server, as in kafka.example.org:9092")
    for server in servers:
        host, colon, port = server.rpartition(":")
        if not colon or not port.isdecimal() or not re.fullmatch(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]", host):
            raise SettingError(f"{server!r}: give host:port, as in kafka.example.org:9092")
        _check(host.strip("[]"), int(port), private, resolve)
    return {"kind": "kafka", "servers": ",".join(servers), "topic": topic, "only_outside": not private}


def _check(host: str, port: int, private: bool, resolve: Resolve) -> None:
    if private:
        return
    try:
        outside(host, port, resolve)
    except (OSError, UnicodeError) as error:
        raise SettingError(f"{host}: this name leads nowhere; check it") from error
