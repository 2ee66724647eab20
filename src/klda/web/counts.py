"""Numbers about monitors: live counters on pages, and metrics for Prometheus."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.sse import ServerSentEvent
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from klda.monitor.monitor import Monitor
from klda.monitor.overview import Now, Unreadable, now
from klda.monitor.rules import refusal
from klda.safe_text import visible
from klda.store import Job
from klda.store.sql.journal import OPEN
from klda.web.studio import Studio

EVERY = 2.0
"""Seconds between two looks at the counts. All watchers of a monitor share one look."""
MOST_WATCHERS = 200
_STEP = 0.5  # seconds until a watcher notices that the studio shuts down


class Live:
    """The newest counts of each monitor, read at most every `EVERY` seconds."""

    def __init__(self) -> None:
        self.watchers = 0
        self.over = False
        """Whether the studio is shutting down. Watchers then leave, because they would keep it from ending."""
        self._seen: dict[str, tuple[float, dict[str, Any]]] = {}

    async def counts(self, monitor: Monitor) -> dict[str, Any]:
        """The changing numbers on the page of a monitor."""
        known = self._seen.get(monitor.name)
        if known is not None and time.monotonic() - known[0] < EVERY:
            return known[1]
        found = await asyncio.to_thread(now, monitor)
        state = "collecting" if found.running else "not running"
        counts = {"total": found.total, "window": found.posts, "state": state, "failure": visible(found.failure or "")}
        self._seen[monitor.name] = (time.monotonic(), counts)
        return counts

    async def pause(self, seconds: float) -> None:
        """Waits for some seconds, or until the studio shuts down."""
        until = time.monotonic() + seconds
        while not self.over and time.monotonic() < until:
            await asyncio.sleep(_STEP)

    async def events(self, request: Request, monitor: Monitor) -> AsyncIterator[ServerSentEvent]:
        """Yields the counts whenever they have changed, until the reader leaves."""
        sent: dict[str, Any] | None = None
        with self.watched():
            while not (self.over or await request.is_disconnected()):
                counts = await self.counts(monitor)
                if counts != sent:
                    sent = counts
                    yield ServerSentEvent(data=counts)
                await self.pause(EVERY)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Counts a watcher during the block."""
        self.watchers += 1
        try:
            yield
        finally:
            self.watchers -= 1


async def _hub(request: Request) -> Live:
    hub: Live = request.app.state.live
    if hub.watchers >= MOST_WATCHERS:
        raise HTTPException(503, "too many people watch already; reload later")
    return hub


Hub = Annotated[Live, Depends(_hub)]
"""The live counts, or HTTP 503 if too many watch. It is a dependency, because a started answer cannot be refused."""


BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The metrics of one studio."""

    def __init__(self, studio: Studio) -> None:
        self.registry = CollectorRegistry()
        labels = ["method", "route"]
        self.requests = Counter("klda_requests", "Requests answered.", [*labels, "status"], registry=self.registry)
        self.seconds = Histogram(
            "klda_request_seconds", "Time until an answer starts.", labels, registry=self.registry, buckets=BUCKETS
        )
        self.registry.register(_Monitors(studio))


class Counted:
    """ASGI middleware that counts answers and measures their time."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "unknown")  # not the path: strangers could invent many
                method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "PUT", "DELETE") else "other"
                self.metrics.requests.labels(method, route, str(message["status"])).inc()
                self.metrics.seconds.labels(method, route).observe(time.perf_counter() - began)
            await send(message)

        await self.app(scope, receive, counted)


class _Monitors(Collector):
    """Reads the state of all monitors when Prometheus asks."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that no monitor is read when the collector is registered."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """The state of each monitor."""
        posts = GaugeMetricFamily("klda_posts", "Posts collected.", labels=["monitor"])
        window = GaugeMetricFamily("klda_window_posts", "Posts of the newest window.", labels=["monitor"])
        running = GaugeMetricFamily("klda_running", "Whether a process collects.", labels=["monitor"])
        waiting = GaugeMetricFamily("klda_waiting_proposals", "Proposals that wait.", labels=["monitor"])
        jobs = GaugeMetricFamily("klda_open_jobs", "Jobs that have not ended.", labels=["monitor"])
        failed = GaugeMetricFamily("klda_failed_jobs", "Failed jobs of the newest 100.", labels=["monitor"])
        refused = GaugeMetricFamily("klda_refused", "Whether the source refuses the keywords.", labels=["monitor"])
        down = GaugeMetricFamily("klda_unreadable", "Whether settings or records cannot be read.", labels=["monitor"])
        for found in self._studio.each(_facts):
            if isinstance(found, Unreadable):
                down.add_metric([found.name], 1)
                continue
            monitor, counts, newest, waits, refuses = found
            name = [monitor]
            down.add_metric(name, 0)
            posts.add_metric(name, counts.total)
            window.add_metric(name, counts.posts)
            running.add_metric(name, counts.running)
            waiting.add_metric(name, waits)
            jobs.add_metric(name, sum(job.state in OPEN for job in newest))
            failed.add_metric(name, sum(job.state == "failed" for job in newest))
            refused.add_metric(name, refuses)
        return (posts, window, running, waiting, jobs, failed, refused, down)


def _facts(monitor: Monitor) -> tuple[str, Now, list[Job], bool, bool]:
    """Name, counts, newest jobs, whether a proposal waits, and whether the source refuses the keywords."""
    records = monitor.records
    waits, refuses = records.proposals.waiting_id() is not None, refusal(monitor) is not None
    return monitor.name, now(monitor), records.jobs.newest(100), waits, refuses
