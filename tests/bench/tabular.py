"""Tables of figures as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(title: str, head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Aligned columns; the first to the left, the others to the right."""
    lines = [list(head), *map(list, body)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    texts = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return "\n".join([title, texts[0], "-" * len(texts[0]), *texts[1:], ""])


def verdict(value: float, limit: float | None) -> str:
    """Whether a figure is within its limit."""
    return "" if limit is None else "ok" if value <= limit else f"{value / limit:.1f}x over"
