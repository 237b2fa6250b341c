"""Layered drawing of directed acyclic graphs: boxes in rows, edges downwards past each other.

The steps of Sugiyama's method: a row for each box by its longest path, a point on each row that an
edge passes, an order in each row by the mean place of the neighbours, and then places near to them.

No package draws these graphs as well without a system binary. The layout of igraph gives every box the
same width, so the frame of a recursion makes a drawing eight times as wide; grandalf, which knows widths,
still makes it half as wide again, and leads feedback edges through boxes; Graphviz is a binary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP_X, GAP_Y, POINT = 26.0, 46.0, 6.0
_SWEEPS = 12  # over the layers, each of which orders them anew


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box's left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """Places of the boxes, the points that each edge goes through, the size of all."""

    boxes: tuple[PlacedBox, ...]
    edges: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


def lay_out(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Places boxes of the given sizes; each edge goes from an earlier box to a later one."""
    rows = _rows(len(sizes), edges)
    widths = [width for width, _ in sizes]
    chains: list[list[int]] = []
    for source, target in edges:
        chain = [source]
        for row in range(rows[source] + 1, rows[target]):
            rows.append(row)
            widths.append(POINT)
            chain.append(len(rows) - 1)
        chains.append([*chain, target])
    links = [(a, b) for chain in chains for a, b in pairwise(chain)]
    order = _ordered(rows, links)
    centres = _placed(order, widths, links)
    heights = [max((sizes[v][1] for v in row if v < len(sizes)), default=0.0) for row in order]
    tops = [sum(heights[:k]) + GAP_Y * k for k in range(len(order))]
    left = min((c - widths[v] / 2 for v, c in enumerate(centres)), default=0.0)
    boxes = tuple(
        PlacedBox(
            centres[v] - width / 2 - left, tops[rows[v]] + (heights[rows[v]] - height) / 2, width, height
        )
        for v, (width, height) in enumerate(sizes)
    )
    paths = tuple(_path(chain, boxes, rows, tops, heights, [c - left for c in centres]) for chain in chains)
    total = max((centres[v] + widths[v] / 2 for v in range(len(widths))), default=0.0) - left
    return Drawing(boxes, paths, total, sum(heights) + GAP_Y * max(len(order) - 1, 0))


def _rows(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest path to each box; a box that only feeds later rows moves down to them."""
    rows = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        rows[target] = max(rows[target], rows[source] + 1)
    targets = {v: [b for a, b in edges if a == v] for v in range(count)}
    fed = {b for _, b in edges}
    for v in reversed(range(count)):
        if v not in fed and targets[v]:
            rows[v] = min(rows[t] for t in targets[v]) - 1
    return rows


def _ordered(rows: Sequence[int], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    order: list[list[int]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for v, row in enumerate(rows):
        order[row].append(v)
    above, below = _neighbours(len(rows), links)
    place = {v: float(k) for members in order for k, v in enumerate(members)}
    best, crossings = [list(row) for row in order], _crossings(order, below)
    for sweep in range(_SWEEPS):
        near = above if sweep % 2 == 0 else below
        for members in order if sweep % 2 == 0 else reversed(order):
            means = {
                v: sum(place[u] for u in near[v]) / len(near[v]) if near[v] else place[v] for v in members
            }
            members.sort(key=means.__getitem__)
            place.update((v, float(k)) for k, v in enumerate(members))
        found = _crossings(order, below)
        if found < crossings:
            best, crossings = [list(row) for row in order], found
    return best


def _crossings(order: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    count = 0
    for row, following in pairwise(order):
        place = {v: k for k, v in enumerate(following)}
        ends = [place[t] for v in row for t in sorted(below[v], key=place.__getitem__)]
        count += sum(1 for i, a in enumerate(ends) for b in ends[i + 1 :] if b < a)
    return count


def _placed(
    order: Sequence[Sequence[int]], widths: Sequence[float], links: Sequence[tuple[int, int]]
) -> list[float]:
    """The centre of each box: as near to the mean of its neighbours as its row leaves room for."""
    above, below = _neighbours(len(widths), links)
    centres = [0.0] * len(widths)
    for row in order:
        x = 0.0
        for v in row:
            centres[v] = x + widths[v] / 2
            x += widths[v] + GAP_X
    for sweep in range(2 * _SWEEPS):
        for row in order if sweep % 2 == 0 else reversed(order):
            wish = {}
            for v in row:
                near = above[v] if sweep % 2 == 0 else below[v]
                near = near or [*above[v], *below[v]]
                wish[v] = _mean([centres[u] for u in near], centres[v])
            _settle(row, wish, widths, centres)
    return centres


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _settle(
    row: Sequence[int], wish: dict[int, float], widths: Sequence[float], centres: list[float]
) -> None:
    """Gives each box of a row its wish, clusters of boxes that would overlap their mean wish."""
    clusters: list[tuple[list[int], float, float]] = []  # boxes, left end, width
    for v in row:
        boxes, left, width = [v], wish[v] - widths[v] / 2, widths[v]
        while clusters and clusters[-1][1] + clusters[-1][2] + GAP_X > left:
            before, start, extent = clusters.pop()
            mean = (start * len(before) + (left - extent - GAP_X) * len(boxes)) / (len(before) + len(boxes))
            boxes, left, width = [*before, *boxes], mean, extent + GAP_X + width
        clusters.append((boxes, left, width))
    for boxes, left, _ in clusters:
        for v in boxes:
            centres[v] = left + widths[v] / 2
            left += widths[v] + GAP_X


def _neighbours(count: int, links: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        above[b].append(a)
        below[a].append(b)
    return above, below


def _path(
    chain: Sequence[int],
    boxes: Sequence[PlacedBox],
    rows: Sequence[int],
    tops: Sequence[float],
    heights: Sequence[float],
    centres: Sequence[float],
) -> tuple[tuple[float, float], ...]:
    source, target = boxes[chain[0]], boxes[chain[-1]]
    first, last = rows[chain[0]], rows[chain[-1]]
    points = [
        (centres[chain[0]], source.y + source.height),
        (centres[chain[0]], tops[first] + heights[first]),
    ]
    for v in chain[1:-1]:
        points += [(centres[v], tops[rows[v]]), (centres[v], tops[rows[v]] + heights[rows[v]])]
    points += [(centres[chain[-1]], tops[last]), (centres[chain[-1]], target.y)]
    return tuple(dict.fromkeys(points))
