"""The weekly loop of a monitor: collect, close, propose, decide, activate; one use case a file."""

from __future__ import annotations

from klda.monitor.close import close, closed
from klda.monitor.collect import Counts, collect
from klda.monitor.create import create
from klda.monitor.decide import activate, approve, approve_automatically, edit, reject
from klda.monitor.export import export, window_at
from klda.monitor.flags import flags
from klda.monitor.history import KeywordStory, history
from klda.monitor.monitor import Monitor, opened
from klda.monitor.overview import Overview, overview, overviews
from klda.monitor.propose import propose
from klda.monitor.rules import rules
from klda.monitor.run import run, turn
from klda.monitor.settings import Settings
from klda.monitor.vacuum import Forgotten, vacuum

__all__ = [
    "Counts",
    "Forgotten",
    "KeywordStory",
    "Monitor",
    "Overview",
    "Settings",
    "activate",
    "approve",
    "approve_automatically",
    "close",
    "closed",
    "collect",
    "create",
    "edit",
    "export",
    "flags",
    "history",
    "opened",
    "overview",
    "overviews",
    "propose",
    "reject",
    "rules",
    "run",
    "turn",
    "vacuum",
    "window_at",
]
