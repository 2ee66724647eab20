"""Sessions: a signed cookie that says who came in, and the token against forged requests that belongs to it.

Only sessions that were ended before their time are kept on the server. The key is made when the studio starts, so that
a restart, after which other tokens may hold, ends all sessions.
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
    """A session that was checked: the cookie's text, and the identity behind it (none before anybody came in)."""

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
    """When those are over by themselves that somebody left; a copy of their cookie lets nobody in."""

    def new(self, identity: str | None = None) -> Session:
        """A fresh session."""
        body = f"{secrets.token_hex(16)}.{int(self.clock()) + LIFE}.{(identity or '').encode().hex()}"
        return Session(f"{body}.{self._mac('session', body)}", identity)

    def read(self, text: str) -> Session | None:
        """The session that a cookie holds; None where it was not made here, or is over."""
        body, _, mac = text.rpartition(".")
        if not body or not hmac.compare_digest(mac.encode(), self._mac("session", body).encode()):
            return None
        _, expires, name = body.split(".")
        if int(expires) < self.clock() or text in self._ended:
            return None
        return Session(text, bytes.fromhex(name).decode() or None)

    def end(self, session: Session) -> None:
        """Lets a session hold no longer."""
        now = self.clock()
        for text in [text for text, expires in self._ended.items() if expires < now]:
            del self._ended[text]
        self._ended[session.text] = int(session.text.split(".")[1])

    def csrf(self, session: Session) -> str:
        """The token that forms and scripts of this session send along; another site cannot know it."""
        return self._mac("csrf", session.text)

    def is_csrf(self, session: Session, token: str) -> bool:
        """Whether a token belongs to the session; takes as long whatever it says."""
        return hmac.compare_digest(token.encode(), self.csrf(session).encode())

    def _mac(self, purpose: str, text: str) -> str:
        return hmac.new(self.key, f"{purpose}:{text}".encode(), sha256).hexdigest()


def whose(tokens: Mapping[str, str], given: str) -> str | None:
    """The name that a token belongs to; all are compared, each in constant time.

    >>> whose({"ann": "0123456789abcdef"}, "0123456789abcdef"), whose({"ann": "0123456789abcdef"}, "guess")
    ('ann', None)
    """
    found = None
    wanted = sha256(given.encode(errors="surrogatepass")).digest()
    for name, secret in tokens.items():
        if hmac.compare_digest(sha256(secret.encode()).digest(), wanted):
            found = name
    return found
