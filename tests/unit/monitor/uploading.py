"""A file of posts, sent as the studio receives it, and the settings of a monitor made of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from klda.monitor import uploads

VALUES = {
    "subject": "health",
    "keywords": ["health", "hospital", "doctor"],
    "policy_settings": {"iterations": 5, "n_topics": 2},
    "budget": {"max_keywords": 8},
}


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(content), 1 << 16):
        yield content[at : at + (1 << 16)]


def sent(home: Path, content: bytes, limit: int = 10_000_000) -> str:
    return asyncio.run(uploads.receive(home, _chunks(content), limit))
