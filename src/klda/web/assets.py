"""Styles, scripts and vendored libraries, served from memory. Their address changes with their content.

The files of the package are listed once. A request can only name one of them, so no path reaches the file system.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from klda.report.charts.theme import CATEGORIES, DARK, LIGHT

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    media_type: str
    body: bytes
    compressed: bytes


@cache
def assets() -> dict[str, Asset]:
    """All files by name."""
    drawing = _walk(files("klda.report") / "vendor", "vendor/")
    found = {name: body for name, body in [*_walk(files("klda.web") / "static"), *drawing] if _type(name)}
    found["palette.css"] = _palette().encode()
    return {name: Asset(_type(name), body, gzip.compress(body, 6, mtime=0)) for name, body in sorted(found.items())}


@cache
def digest() -> str:
    """A digest of all files. Scripts import each other by relative names, so all files share one address."""
    total = sha256()
    for name, asset in assets().items():
        total.update(name.encode() + b"\0" + asset.body)
    return total.hexdigest()[:16]


def address(name: str) -> str:
    """The address of a file.

    >>> address("studio.css").startswith("/static/") and address("studio.css").endswith("/studio.css")
    True
    """
    if name not in assets():
        raise KeyError(name)
    return f"/static/{digest()}/{name}"


@router.get("/static/{version}/{name:path}")
async def static(version: str, name: str, request: Request) -> Response:
    """A file. Under an old address it is sent too, but browsers are told not to cache it."""
    asset = assets().get(name)
    if asset is None:
        raise HTTPException(404, "there is no such file")
    headers = {"Cache-Control": FOREVER if version == digest() else "no-cache", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.compressed, media_type=asset.media_type, headers=headers | {"Content-Encoding": "gzip"})
    return Response(asset.body, media_type=asset.media_type, headers=headers)


def _palette() -> str:
    """CSS variables with the colours of pictures and reports, and classes for heights and series."""

    def variables(palette: dict[str, str]) -> str:
        return " ".join(f"--{name}: {colour};" for name, colour in palette.items())

    dark = variables(DARK)
    return (
        f":root {{ color-scheme: light; {variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
        + "".join(f".h-{height} {{ min-height: {height}px; }}\n" for height in range(20, 1220, 20))
        + "".join(f".series-{i} {{ --series: {colour}; }}\n" for i, colour in enumerate(CATEGORIES))
    )


def _type(name: str) -> str:
    return next((kind for ending, kind in TYPES.items() if name.endswith(ending)), "")


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
