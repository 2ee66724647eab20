"""`klda serve`: the studio, pages on which a team sees what its keywords bring and decides which to use next."""

from __future__ import annotations

import gc
import os
import socket
import webbrowser
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import Annotated

import typer

from klda.cli.options import HOME, Home
from klda.cli.output import console
from klda.errors import SettingError
from klda.extras import require

TOKENS = "KLDA_TOKENS"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; addresses that others can reach need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8650,
    home: Home = HOME,
    tokens: Annotated[
        Path | None, typer.Option(help=f"File with a line name:secret for each token; also from {TOKENS}.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another host name of the studio, for example behind a proxy.")
    ] = None,
    private_sources: Annotated[
        bool, typer.Option("--private-sources", help="Let forms name sources in your own network.")
    ] = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the studio in the browser.")] = False,
) -> None:
    """Serve the studio until Ctrl-C; collecting continues without it. Needs klda[web]."""
    require("web", "the studio")
    import uvicorn

    from klda.web.application import create_app
    from klda.web.studio_settings import StudioSettings, read_tokens

    with _listening(host, port) as listening:
        settings = StudioSettings(
            home,
            host=host,
            port=listening.getsockname()[1],
            tokens=read_tokens(tokens, os.environ.get(TOKENS)),
            hosts=tuple(allow_host or ()),
            private_sources=private_sources,
        )
        app = create_app(settings)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=5,
        )
        console.print(
            f"The studio is at {settings.address} (Ctrl-C ends it)", markup=False, highlight=False, soft_wrap=True
        )
        if open_browser:
            Timer(0.5, webbrowser.open, [settings.address]).start()

        class Server(uvicorn.Server):
            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                app.state.live.over = True  # pages that listen for events would keep the server from ending
                super().handle_exit(sig, frame)

        gc.collect()
        gc.freeze()  # loaded libraries stay: looking through them again and again would delay readers
        Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket. SettingError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host.strip("[]"), port))
        made.listen()  # clients that connect before the studio is ready wait
    except OSError as error:
        made.close()
        raise SettingError(
            f"{host}:{port}: cannot be used ({error.strerror or error}); choose another with --port"
        ) from error
    return made
