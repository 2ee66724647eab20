"""Half-written files that a killed process leaves in a local table.

Delta writes a large file under a name that ends in `#1` and renames it when it is whole. Nothing counts such a file,
but its own vacuum does not see it either, and it may hold posts that have to be forgotten.
"""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

_STAGED = re.compile(r"#\d+$")


def sweep(uri: str, grace: timedelta) -> int:
    """Removes half-written files not touched since `grace` ago, and returns how many; elsewhere than on disk, none."""
    folder = _folder(uri)
    if folder is None:
        return 0
    before = time.time() - grace.total_seconds()
    staged = [path for path in folder.rglob("*#*") if _STAGED.search(path.name) and path.stat().st_mtime <= before]
    for path in staged:
        path.unlink(missing_ok=True)
    return len(staged)


def _folder(uri: str) -> Path | None:
    if "://" not in uri:
        return Path(uri)
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None
