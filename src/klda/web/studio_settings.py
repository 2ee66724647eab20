"""How a studio is served: its home folder, who may log in, limits of requests, and the headers of every answer."""

from __future__ import annotations

import getpass
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from klda.errors import SettingError

PORT = 8650
MEGABYTE = 1_000_000
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
"""Headers of every answer: a page may load and run only the studio's own files. Static files may be cached."""


@dataclass(frozen=True)
class StudioSettings:
    """Settings for `create_app`.

    >>> sorted(StudioSettings(Path("monitors")).allowed_hosts)
    ['127.0.0.1:8650', '[::1]:8650', 'localhost:8650']
    >>> StudioSettings(Path("monitors"), host="0.0.0.0")
    Traceback (most recent call last):
    klda.errors.SettingError: others than this machine could reach 0.0.0.0: give a token first, as in KLDA_TOKENS=ann:…
    """

    home: Path
    """The folder of all monitors."""
    host: str = "127.0.0.1"
    port: int = PORT
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secrets by the name of their owner. Without any, everybody on this machine may use the studio."""
    hosts: tuple[str, ...] = ()
    """Further host names of the studio, such as `klda.example.org`, if it is behind a proxy."""
    private_sources: bool = False
    """Whether a form may name sources in the private network, or on this machine."""
    local_user: str = field(default_factory=getpass.getuser)
    """Who decides, if no token is needed."""
    max_body: int = 1 * MEGABYTE
    """Bytes of a request's body."""
    max_upload: int = 500 * MEGABYTE
    """Bytes of an uploaded file of posts."""
    reads_per_second: float = 200.0
    """Requests that one client may make. Twice as many may come at once."""
    writes_per_minute: float = 120.0
    logins_per_minute: float = 10.0

    def __post_init__(self) -> None:
        outside = [name for name in (self.host, *self.hosts) if not is_loopback(name)]
        if outside and not self.tokens:
            raise SettingError(
                f"others than this machine could reach {outside[0]}: give a token first, as in KLDA_TOKENS=ann:…"
            )
        short = [name for name, secret in self.tokens.items() if len(secret) < 16]
        if short:
            raise SettingError(
                f"the token of {short[0]} is shorter than 16 characters; `openssl rand -hex 24` makes one"
            )

    @property
    def needs_token(self) -> bool:
        """Whether a token is needed."""
        return bool(self.tokens)

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Allowed values of the header `Host`. A stranger could make another name lead here (DNS rebinding)."""
        own = set(_LOOPBACK_NAMES) if is_loopback(self.host) or _is_any(self.host) else {_bracketed(self.host)}
        hosts = {f"{name}:{self.port}" for name in own} | {name.lower() for name in self.hosts}
        return frozenset(hosts | (own if self.port in (80, 443) else set()))

    @property
    def address(self) -> str:
        """The address of the studio for a browser."""
        name = "127.0.0.1" if _is_any(self.host) else _bracketed(self.host)
        return f"http://{name}:{self.port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a name or address, with or without a port.

    >>> is_loopback("127.0.0.1"), is_loopback("[::1]:80"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    name = host.lower()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") == 1:
        name = name.partition(":")[0]
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def parse_tokens(text: str, name: str = "KLDA_TOKENS") -> dict[str, str]:
    """Secrets by name, from lines or comma-separated parts such as `ann:3f…`. Lines that begin with # are comments.

    >>> parse_tokens("ann:0123456789abcdef, bob:fedcba9876543210")
    {'ann': '0123456789abcdef', 'bob': 'fedcba9876543210'}
    """
    found: dict[str, str] = {}
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for part in (part.strip() for line in lines for part in line.split(",")):
        if not part:
            continue
        who, colon, secret = (piece.strip() for piece in part.partition(":"))
        if not (who and colon and secret) or who in found:
            # the message never shows the secret
            raise SettingError(f"{name}: give each token once, as name:secret, such as ann:3f9c…")
        found[who] = secret
    return found


def read_tokens(path: Path | None, environment: str | None) -> dict[str, str]:
    """The tokens of a file and of the environment, together."""
    found = parse_tokens(environment or "")
    if path is not None:
        try:
            found |= parse_tokens(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"{path}: cannot be read ({error}); give a text file with lines name:secret") from error
        if not found:  # whoever names a file wants the studio to need a token
            raise SettingError(f"{path}: has no token; give lines name:secret")
    return found


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::", "[::]", "")  # noqa: S104 - compared with, not bound to
