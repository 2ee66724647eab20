"""What a monitor keeps: posts in a Delta Lake table, everything else in SQL."""

from __future__ import annotations
