"""The weekly loop of a monitor: collect, close, propose, decide, activate; one use case a file."""

from __future__ import annotations

from klda.extras import require

require("monitor", "klda monitor")
