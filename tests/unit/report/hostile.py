"""A report in which every text has been tampered with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from klda.report.content import Report

ATTACKS = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    '" onmouseover="window.hacked=1" x="',
    "' style='position:fixed",
    "</style><style>body{display:none}",
    "</title></head><body>",
    "<!-- ]]> <![CDATA[",
    "<svg/onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "[x](javascript:window.hacked=1)",
    "{{ 7 * 7 }}{% raw %}",
    "datum.constructor.constructor('window.hacked=1')()",
    "&lt;script&gt;&#60;b&#62;",
    "\u202egnp.exe\u2066",
    "\u2028\u2029\x00\x1b[31m\x85",
    "\ud800",
    "a\nb\tc",
    "w" * 300,
)
NOT_TEXT = ("action", "window", "version")
"""Fields that are not free text: a choice, a time, our own version."""


def tampered(report: Report, attacks: Sequence[str]) -> Report:
    """The same report with an attack behind each text, the same one wherever the text occurs."""
    chosen: dict[str, str] = {}

    def walk(node: Any) -> Any:
        if isinstance(node, str):
            return chosen.setdefault(node, node + attacks[len(chosen) % len(attacks)])
        if is_dataclass(node) and not isinstance(node, type):
            free = [f.name for f in fields(node) if f.init and f.name not in NOT_TEXT]
            return replace(node, **{name: walk(getattr(node, name)) for name in free})
        if isinstance(node, Mapping):
            return {walk(key): walk(value) for key, value in node.items()}
        return tuple(walk(child) for child in node) if isinstance(node, tuple) else node

    result: Report = walk(report)
    return result
