"""The weekly loop of a monitor: collect posts, close windows, propose keywords, decide."""

from __future__ import annotations

from klda.extras import require

require("monitor", "klda monitor")
