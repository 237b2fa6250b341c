"""Flame graphs of HTML: a frame is as wide as its share of the time of the frame around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from .costs import seconds_text

_LEAST = 0.002  # the share of all time that a frame has to be shown
_COLORS = 5  # by which levels differ


@dataclass(frozen=True)
class Frame:
    """A part of the time, and the parts of it."""

    name: str
    seconds: float
    inside: Sequence[Frame]


def flame(frames: Sequence[Frame]) -> str:
    """The frames side by side, the widest first."""
    total = sum(frame.seconds for frame in frames)
    if total <= 0:
        return "<p>Nothing was measured.</p>"
    return f'<div class="flame">{"".join(_drawn(frames, total, total, 0))}</div>'


def _drawn(frames: Sequence[Frame], around: float, total: float, depth: int) -> Iterator[str]:
    small, hidden = 0.0, 0
    for frame in sorted(frames, key=lambda each: -each.seconds):
        if frame.seconds < _LEAST * total:
            small, hidden = small + frame.seconds, hidden + 1
            continue
        share = frame.seconds / total
        told = escape(f"{frame.name}: {seconds_text(frame.seconds)}, {share:.1%}")
        yield (
            f'<div class="frame" style="width:{100 * frame.seconds / around:.3f}%">'
            f'<span class="c{depth % _COLORS}" tabindex=0 title="{told}">{escape(frame.name)}</span>'
            f'<div class="flame">{"".join(_drawn(frame.inside, frame.seconds, total, depth + 1))}</div></div>'
        )
    if hidden and small / around > _LEAST:
        yield (
            f'<div class="frame" style="width:{100 * small / around:.3f}%"><span class="rest" tabindex=0 '
            f'title="{hidden} smaller parts: {seconds_text(small)}">…</span></div>'
        )
