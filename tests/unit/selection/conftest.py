"""No test depends on how busy the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("klda", deadline=None)
settings.load_profile("klda")
