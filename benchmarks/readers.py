"""Readers of the studio in a process of their own: `python -m benchmarks.readers ADDRESS MONITOR READERS SECONDS`.

Each keeps its connection, begins at its own moment of the first second, and asks for one page a second, in turn. An
answer is timed from when it was due to be asked for: a reader who is kept waiting does not ask more gently. Prints a
line of JSON with the milliseconds of each answer by path, and the answers that were no success.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx

EVERY = 1.0
PATHS = (
    "/",
    "/monitors/{name}",
    "/monitors/{name}/proposal",
    "/monitors/{name}/history",
    "/api/v1/monitors",
    "/monitors/{name}/volume?by=hour",
    "/jobs",
    "/api/v1/monitors/{name}",
    "/monitors/{name}/backtest",
    "/api/v1/monitors/{name}/proposals",
)


@dataclass
class Answers:
    """What came back."""

    times: dict[str, list[float]] = field(default_factory=lambda: {path: [] for path in PATHS})
    errors: list[str] = field(default_factory=list)


async def read(client: httpx.AsyncClient, name: str, number: int, first: float, rounds: int, into: Answers) -> None:
    """Asks for one page a second, beginning with another one than the reader before."""
    for turn in range(rounds):
        due = first + turn * EVERY
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        path = PATHS[(number + turn) % len(PATHS)]
        try:
            answer = await client.get(path.format(name=name))
        except httpx.HTTPError as error:
            into.errors.append(f"{path}: {error!r}")
            continue
        into.times[path].append(1000 * (time.monotonic() - due))
        if answer.status_code != httpx.codes.OK or not answer.content:
            into.errors.append(f"{path}: {answer.status_code}")


async def read_all(address: str, name: str, readers: int, rounds: int) -> Answers:
    """What all readers got."""
    answers = Answers()
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        clients = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=address, verify=False, timeout=30))
            for _ in range(readers)  # there is no certificate to verify, and loading those of the machine takes long
        ]
        began = time.monotonic()
        for number, client in enumerate(clients):
            group.create_task(read(client, name, number, began + EVERY * number / readers, rounds, answers))
    return answers


if __name__ == "__main__":
    found = asyncio.run(read_all(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    print(json.dumps({"times": found.times, "errors": found.errors}))
