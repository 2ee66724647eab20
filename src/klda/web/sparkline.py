"""A line so small that it needs no axes: the outline of a series, as SVG paths."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT = 240, 44
_EDGE = 3


def sparkline(values: Sequence[float]) -> tuple[str, str]:
    """The path of a line through the values and that of the area below it, in a box of 240 × 44.

    >>> sparkline([0, 10])
    ('M3 41L237 3', 'M3 41L237 3L237 44L3 44Z')
    """
    if not values:
        return "", ""
    highest = max(max(values), 1)
    step = (WIDTH - 2 * _EDGE) / max(len(values) - 1, 1)
    points = [
        f"{round(_EDGE + i * step, 1):g} {round(HEIGHT - _EDGE - value / highest * (HEIGHT - 2 * _EDGE), 1):g}"
        for i, value in enumerate(values)
    ]
    if len(points) == 1:
        points.append(f"{WIDTH - _EDGE} {points[0].split()[1]}")
    line = "M" + "L".join(points)
    return line, f"{line}L{WIDTH - _EDGE} {HEIGHT}L{_EDGE} {HEIGHT}Z"
