"""Sessions: a signed cookie that says who logged in, and a token that protects its forms against forgery.

The server keeps only sessions that somebody ended early. The key is made when the studio starts. So a restart, after
which other tokens may be valid, ends all sessions.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

COOKIE = "klda_session"
LIFE = 7 * 24 * 3600
"""Seconds that a session lasts."""


@dataclass(frozen=True)
class Session:
    """A checked session: the text of the cookie, and the identity behind it (None before the login)."""

    text: str
    identity: str | None


@dataclass(frozen=True)
class Sessions:
    """Makes and checks sessions.

    >>> sessions = Sessions()
    >>> sessions.read(sessions.new("ann").text).identity
    'ann'
    >>> sessions.read("made up") is None
    True
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    clock: Callable[[], float] = time.time
    _ended: dict[str, int] = field(default_factory=dict, repr=False)
    """Ended sessions and their expiry, so that a copy of their cookie is useless."""

    def new(self, identity: str | None = None) -> Session:
        """A new session."""
        body = f"{secrets.token_hex(16)}.{int(self.clock()) + LIFE}.{(identity or '').encode().hex()}"
        return Session(f"{body}.{self._mac('session', body)}", identity)

    def read(self, text: str) -> Session | None:
        """The session in a cookie. None if it was not made here, or has expired."""
        body, _, mac = text.rpartition(".")
        if not body or not hmac.compare_digest(mac.encode(), self._mac("session", body).encode()):
            return None
        _, expires, name = body.split(".")
        if int(expires) < self.clock() or text in self._ended:
            return None
        return Session(text, bytes.fromhex(name).decode() or None)

    def end(self, session: Session) -> None:
        """Ends a session."""
        now = self.clock()
        for text in [text for text, expires in self._ended.items() if expires < now]:
            del self._ended[text]
        self._ended[session.text] = int(session.text.split(".")[1])

    def csrf(self, session: Session) -> str:
        """The token that forms and scripts of this session send. Another site cannot know it."""
        return self._mac("csrf", session.text)

    def is_csrf(self, session: Session, token: str) -> bool:
        """Whether a token belongs to the session, in constant time."""
        return hmac.compare_digest(token.encode(), self.csrf(session).encode())

    def _mac(self, purpose: str, text: str) -> str:
        return hmac.new(self.key, f"{purpose}:{text}".encode(), sha256).hexdigest()


def whose(tokens: Mapping[str, str], given: str) -> str | None:
    """The name that a token belongs to. All tokens are compared, each in constant time.

    >>> whose({"ann": "0123456789abcdef"}, "0123456789abcdef"), whose({"ann": "0123456789abcdef"}, "guess")
    ('ann', None)
    """
    found = None
    wanted = sha256(given.encode(errors="surrogatepass")).digest()
    for name, secret in tokens.items():
        if hmac.compare_digest(sha256(secret.encode()).digest(), wanted):
            found = name
    return found
