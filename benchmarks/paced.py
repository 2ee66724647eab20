"""A Jetstream on loopback that brings so many posts a second, all with a keyword: `python -m benchmarks.paced 2000`.

The first line that it prints is the port. The stream begins when somebody connects.
"""

from __future__ import annotations

import asyncio
import sys
import time

from benchmarks.studio_home import carrying, world
from tests.servers.jetstream import JetstreamServer, SimulatedFrames

STEP = 0.05
"""Seconds between two bursts."""


async def serve_paced(per_second: int) -> None:
    """Serves posts of now at this pace until it is stopped."""
    _, posts = carrying(list(world().posts()))
    start = time.time_ns() // 1000
    frames = SimulatedFrames(0, posts, start, 1_000_000 // per_second)
    server = JetstreamServer(frames)
    async with server.running():
        print(server.port, flush=True)
        while not server.connections:
            await asyncio.sleep(STEP)
        began = time.monotonic()
        while True:
            frames.grow(int((time.monotonic() - began) * per_second))
            server.wake()
            await asyncio.sleep(STEP)


if __name__ == "__main__":
    asyncio.run(serve_paced(int(sys.argv[1])))
