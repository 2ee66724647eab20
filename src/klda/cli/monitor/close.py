"""`klda monitor close`: close the windows that have ended."""

from __future__ import annotations

from klda.cli.monitor.options import HOME, Home, Name
from klda.cli.options import OutputFormat
from klda.cli.output import Format, out, print_json


def close(name: Name, home: Home = HOME, output: OutputFormat = Format.table) -> None:
    """Close the windows that have ended; done twice, it changes nothing."""
    from klda.monitor.close import close as work
    from klda.monitor.monitor import opened

    with opened(home, name) as monitor:
        windows = work(monitor)
    if output is Format.json:
        print_json({"closed": [window.start.isoformat() for window in windows]})
        return
    out.print(f"Closed: {', '.join(map(str, windows)) or 'nothing'}", markup=False, highlight=False)
