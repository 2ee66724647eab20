"""How often a client may ask: buckets that fill at a steady rate and hold a burst."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

_MOST_CLIENTS = 10_000


@dataclass
class RateLimit:
    """Requests that each client may make: `rate` a second in the long run, `burst` at once.

    >>> limit = RateLimit(rate=1.0, burst=2, clock=lambda: 0.0)
    >>> [limit.wait("ann"), limit.wait("ann"), limit.wait("ann"), limit.wait("bob")]
    [0.0, 0.0, 1.0, 0.0]
    """

    rate: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, client: str) -> float:
        """Takes one request; 0 where it may pass, otherwise the seconds until the next one may."""
        left, now = self._left(client)
        passes = left >= 1
        self._buckets[client] = (left - 1 if passes else left, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if passes else (1 - left) / self.rate

    def ahead(self, client: str) -> float:
        """What `wait` would say, without taking a request."""
        left, _ = self._left(client)
        return 0.0 if left >= 1 else (1 - left) / self.rate

    def _left(self, client: str) -> tuple[float, float]:
        now = self.clock()
        left, since = self._buckets.get(client, (self.burst, now))
        return min(self.burst, left + (now - since) * self.rate), now
