"""The studio as a web application: `create_app` connects its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from klda.monitor.uploads import sweep
from klda.web import assets
from klda.web.api import backtests as backtest_resources
from klda.web.api import jobs as job_resources
from klda.web.api import monitors as monitor_resources
from klda.web.api import proposals as proposal_resources
from klda.web.api import uploads as upload_resources
from klda.web.counts import Counted, Live, Metrics
from klda.web.guard import Guard
from klda.web.pages import backtests, jobs, monitor, monitors, proposals, service
from klda.web.problems import document_problems, documented, handle_problems
from klda.web.rendering import prepare
from klda.web.response_cache import Kept
from klda.web.sessions import Sessions
from klda.web.studio import Studio
from klda.web.studio_settings import StudioSettings

PAGES = (service.router, monitors.router, monitor.router, proposals.router, backtests.router, jobs.router)
RESOURCES = {
    "session": monitor_resources.session_routes,
    "monitors": monitor_resources.monitor_routes,
    "live": monitor_resources.live_routes,
    "history": monitor_resources.history_routes,
    "jobs": job_resources.job_routes,
    "job events": job_resources.job_event_routes,
    "proposals": proposal_resources.router,
    "backtests": backtest_resources.router,
    "uploads": upload_resources.router,
}
"""Routers by their name in the documents of the API. All are below /api/v1."""

_SWEPT_EVERY = 3600.0

ABOUT = """Everything that the pages of the studio do, for programs.

Send a token as `Authorization: Bearer …`. A studio on your own machine may need none. Then `GET /api/v1/session`
returns another token and a cookie. Requests that change something send both: the token as header `X-CSRF-Token`, and
the cookie.
Errors are problems as in RFC 9457."""


def create_app(settings: StudioSettings) -> FastAPI:
    """The studio over the monitors in a home folder, ready to be served."""
    studio = Studio(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(prepare)
        sweeping = asyncio.create_task(_sweep_uploads(settings.home))
        yield
        sweeping.cancel()
        studio.close()

    app = FastAPI(
        title="klda studio",
        version=version("klda"),
        description=ABOUT,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # these pages would load scripts from other sites; /api is our own page
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.studio, app.state.sessions = studio, Sessions()
    app.state.live, app.state.metrics = Live(), Metrics(studio)
    handle_problems(app)
    app.include_router(assets.router)
    for page in PAGES:
        app.include_router(page, include_in_schema=False)
    for name, resource in RESOURCES.items():
        app.include_router(resource, prefix="/api/v1", tags=[name], responses=documented())
    document_problems(app)
    app.add_middleware(Kept, studio=studio)
    app.add_middleware(Guard, settings=settings, sessions=app.state.sessions)
    app.add_middleware(Counted, metrics=app.state.metrics)
    return app


async def _sweep_uploads(home: Path) -> None:
    """Deletes uploads that nobody uses, while the studio runs."""
    while True:
        with suppress(OSError):  # another process has just deleted it
            await run_in_threadpool(sweep, home)
        await asyncio.sleep(_SWEPT_EVERY)
