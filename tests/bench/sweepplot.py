"""The sweep of changed rows as a plot: for each workload, milliseconds over rows, both by powers of ten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Protocol

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 340, 240, 52, 34, 36
LINES = (("always", "#3b6fb6"), ("never", "#c8553d"), ("auto", "#222222"))
CHANGES = {"out": "deleted", "in": "inserted"}


class Figures(Protocol):
    """The milliseconds of a commit of so many rows."""

    @property
    def workload(self) -> str: ...
    @property
    def change(self) -> str: ...
    @property
    def rows(self) -> int: ...


def plot(cells: Sequence[Figures]) -> str:
    """A picture with a panel for each workload, deleted rows above and inserted rows below."""
    workloads = list(dict.fromkeys(each.workload for each in cells))
    parts = []
    for column, workload in enumerate(workloads):
        for row, change in enumerate(CHANGES):
            some = [each for each in cells if each.workload == workload and each.change == change]
            if some:
                title = f"{workload}, rows {CHANGES[change]}"
                inside = "".join(_panel(title, sorted(some, key=lambda each: each.rows)))
                parts.append(f'<g transform="translate({column * WIDTH},{row * HEIGHT})">{inside}</g>')
    width, height = WIDTH * len(workloads), HEIGHT * len(CHANGES) + 24
    legend = "".join(
        f'<text x="{LEFT + 150 * k}" y="{height - 8}" fill="{color}">{text}</text>'
        for k, (text, color) in enumerate(
            zip(
                ("always maintained", "always recomputed", "as chosen"),
                (color for _, color in LINES),
                strict=True,
            )
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        f"{''.join(parts)}{legend}</svg>\n"
    )


def _panel(title: str, cells: Sequence[Figures]) -> Iterator[str]:
    most = max(1.0, math.log10(max(each.rows for each in cells)))
    times = [max(0.01, getattr(each, name)) for each in cells for name, _ in LINES]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    wide, tall = WIDTH - LEFT - 16, HEIGHT - TOP - BOTTOM

    def place(rows: int, ms: float) -> tuple[float, float]:
        x = LEFT + wide * math.log10(rows) / most
        return x, TOP + tall * (high - math.log10(max(ms, 0.01))) / max(1, high - low)

    yield f'<text x="{LEFT}" y="20" font-weight="bold">{escape(title)}</text>'
    for power in range(low, high + 1):
        y = place(1, 10.0**power)[1]
        yield f'<path d="M{LEFT} {y:.1f}h{wide}" stroke="#dddddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>'
    for power in range(math.floor(most) + 1):
        x = place(10**power, 1)[0]
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{10**power:,}</text>'
    for name, color in LINES:
        points = [place(each.rows, getattr(each, name)) for each in cells]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        dashes = ' stroke-dasharray="3 3" stroke-width="2.2"' if name == "auto" else ' stroke-width="1.4"'
        yield f'<path d="M{path}" fill="none" stroke="{color}"{dashes}/>'
