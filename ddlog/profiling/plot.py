"""The time of each commit as a picture (SVG), on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from .costs import CommitCost, seconds_text

_WIDTH, _HEIGHT, _LEFT, _BELOW = 640, 220, 62, 26
_POINTS = 600  # the most that are drawn
_LEAST = 1e-6  # seconds


def latency(epochs: Sequence[CommitCost]) -> str:
    """A point for each commit; of many commits, one for the slowest of each stretch."""
    shown = _slowest_of_stretches(epochs)
    logs = [log10(max(each.seconds, _LEAST)) for each in shown]
    low, high = floor(min(logs)), ceil(max(logs))
    high = max(high, low + 1)
    first, last = epochs[0].number, epochs[-1].number

    def x(number: int) -> float:
        return _LEFT + (number - first) / max(last - first, 1) * (_WIDTH - _LEFT - 10)

    def y(value: float) -> float:
        return 10 + (high - value) / (high - low) * (_HEIGHT - _BELOW - 10)

    lines = [f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="time by commit">']
    for power in range(low, high + 1):
        lines.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{y(power):.1f}" y2="{y(power):.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{y(power) + 4:.1f}" text-anchor="end">{_label(power)}</text>'
        )
    for each, value in zip(shown, logs, strict=True):
        told = f"commit {each.number:,}: {seconds_text(each.seconds)}{each.rows}"
        lines.append(
            f'<circle cx="{x(each.number):.1f}" cy="{y(value):.1f}" r="3"><title>{told}</title></circle>'
        )
    lines.append(f'<text x="{_LEFT}" y="{_HEIGHT - 6}">commit {first:,}</text>')
    lines.append(f'<text x="{_WIDTH - 10}" y="{_HEIGHT - 6}" text-anchor="end">{last:,}</text></svg>')
    return "".join(lines)


def _slowest_of_stretches(epochs: Sequence[CommitCost]) -> list[CommitCost]:
    step = ceil(len(epochs) / _POINTS)
    stretches = (epochs[at : at + step] for at in range(0, len(epochs), step))
    return [max(stretch, key=lambda each: each.seconds) for stretch in stretches]


def _label(power: int) -> str:
    seconds = 10.0**power
    if seconds >= 1:
        return f"{seconds:g} s"
    return f"{seconds * 1000:g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:g} µs"
