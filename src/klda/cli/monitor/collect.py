"""`klda monitor collect` and `klda monitor run`, which work until somebody stops them."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from klda.cli.options import HOME, Home, Name, OutputFormat
from klda.cli.output import Format, console, out, print_json, print_table, progress_bar

if TYPE_CHECKING:
    import asyncio

    from klda.monitor.collect import Counts


def collect(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Collect posts from where the last run stopped, until Ctrl-C; nothing is proposed."""
    from klda.monitor.collect import collect as work
    from klda.monitor.collect import leaving_failure
    from klda.monitor.monitor import opened

    quiet = output is Format.json
    with leaving_failure(home, name), opened(home, name) as monitor, progress_bar(quiet=quiet) as progress:
        counts = until_stopped(lambda stop: work(monitor, stop, progress=progress))
    _summary(name, counts, output, "collect")


def run(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Run a monitor until Ctrl-C: collect, close windows, propose, and approve if that is automatic."""
    from klda.monitor.collect import leaving_failure
    from klda.monitor.monitor import opened
    from klda.monitor.run import run as work

    def tell(message: str) -> None:
        console.print(message, markup=False, highlight=False, soft_wrap=True)

    quiet = output is Format.json
    with leaving_failure(home, name), opened(home, name) as monitor, progress_bar(quiet=quiet) as progress:
        counts = until_stopped(lambda stop: work(monitor, stop, progress=progress, tell=tell))
    _summary(name, counts, output, "run")


def until_stopped(work: Callable[[asyncio.Event], Awaitable[Counts]]) -> Counts:
    """The numbers of a run. After Ctrl-C or SIGTERM, it stores its posts before it ends."""
    import asyncio

    from klda.monitor.collect import hold_little

    hold_little()

    async def main() -> Counts:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        return await work(stop)

    return asyncio.run(main())


def _summary(name: str, counts: Counts, output: Format, command: str) -> None:
    if output is Format.json:
        print_json(asdict(counts))
        return
    rows = [(what, value) for what, value in asdict(counts).items() if what != "ended"]
    print_table(f"Monitor {name}", ("what", "value"), rows)
    ending = (
        "The source has ended." if counts.ended else f"Everything is stored. To continue: klda monitor {command} {name}"
    )
    out.print(ending, markup=False, highlight=False, soft_wrap=True)
