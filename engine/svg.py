"""Circuits as SVG: boxes in layers from the inputs down, a fixpoint as a frame around its body."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from .circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaOrdered,
    Distinct,
    Fixpoint,
    FixpointResult,
    Group,
    Import,
    Input,
    Node,
    NodeId,
    Ordered,
    Output,
    Sum,
    Trace,
    Variable,
)
from .labels import one_line, relation_names
from .layers import Drawing, lay_out

_CHARACTER, _LINE, _PAD, _WRAP, _MOST_LINES = 7.1, 15.0, 9.0, 36, 5
_COOL = 0.001  # the share of all time from which a box is coloured by it
_FRAME, _HEADING, _MARGIN = 22.0, 26.0, 20.0

_FILLS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Input, Constant), "#e3f0e1"),
    ((Output,), "#dde9f7"),
    ((Import, Variable, FixpointResult), "#f3ecdb"),
    ((Trace,), "#eeeeee"),
)


@dataclass(frozen=True, slots=True)
class _Box:
    """A node's text, or for a fixpoint its heading and its drawn body."""

    lines: tuple[str, ...]
    width: float
    height: float
    body: _Layout | None = None
    share: float = 0.0  # of all time


@dataclass(frozen=True, slots=True)
class _Layout:
    circuit: Circuit
    boxes: tuple[_Box, ...]
    drawing: Drawing
    results: tuple[tuple[str, NodeId], ...]


@dataclass(frozen=True, slots=True)
class Heat:
    """The cost of a node: a text for its box, and its share of all time, from 0 to 1."""

    text: str
    share: float


Heats: TypeAlias = Callable[[Node, bool], Heat | None]
"""The cost of a node, which stands in a recursion or not; None if it has none."""


def to_svg(circuit: Circuit, heats: Heats | None = None) -> str:
    """A drawing of the circuit: a standalone SVG document. Nodes are marked by their costs."""
    layout = _layout(circuit, (), heats, False)
    width, height = layout.drawing.width + 2 * _MARGIN, layout.drawing.height + 2 * _MARGIN
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">',
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
            *_drawn(layout, _MARGIN, _MARGIN),
            "</svg>\n",
        )
    )


def _layout(
    circuit: Circuit, results: tuple[tuple[str, NodeId], ...], heats: Heats | None, inside: bool
) -> _Layout:
    named = relation_names(circuit) | {node: relation for relation, node in results}
    boxes = tuple(_box(node, named.get(i), heats, inside) for i, node in enumerate(circuit.nodes))
    edges = [
        (source, i)
        for i, node in enumerate(circuit.nodes)
        if not isinstance(node, Import)
        for source in dict.fromkeys(node.reads())
    ]
    return _Layout(circuit, boxes, lay_out([(b.width, b.height) for b in boxes], edges), results)


def _box(node: Node, relation: str | None, heats: Heats | None, inside: bool) -> _Box:
    heat = None if heats is None else heats(node, inside)
    if isinstance(node, Fixpoint):
        body = _layout(node.body, node.results, heats, True)
        feedback = _FRAME * sum(isinstance(inner, Variable) for inner in node.body.nodes)
        heading = node.title() + ("" if heat is None else f" · {heat.text}")
        width = max(body.drawing.width + 2 * _FRAME + feedback, len(heading) * _CHARACTER + 2 * _PAD)
        return _Box((heading,), width, body.drawing.height + 2 * _FRAME + _HEADING, body)
    lines = [node.title(), *_remark(node, relation), *(() if heat is None else (heat.text,))]
    width = max(map(len, lines)) * _CHARACTER + 2 * _PAD
    return _Box(tuple(lines), width, len(lines) * _LINE + _PAD, share=0.0 if heat is None else heat.share)


def _remark(node: Node, relation: str | None) -> list[str]:
    """The rule beneath the operator, in a few lines."""
    if isinstance(node, Input | Output | FixpointResult | Variable | Trace):
        return []
    match node:
        case Distinct() | DeltaDistinct() | Sum():
            text = relation or ""
        case Group() | DeltaGroup() | Ordered() | DeltaOrdered():
            text = node.details(lambda _: "").strip()
        case _:
            text = one_line(node.text) or relation or ""
    wrapped = textwrap.wrap(text, _WRAP)
    return wrapped if len(wrapped) <= _MOST_LINES else [*wrapped[: _MOST_LINES - 1], "…"]


def _drawn(layout: _Layout, x: float, y: float) -> Iterator[str]:
    for path in layout.drawing.edges:
        yield f'<path d="{_curve(path, x, y)}" fill="none" stroke="#555" marker-end="url(#arrow)"/>'
    for node, box, at in zip(layout.circuit.nodes, layout.boxes, layout.drawing.boxes, strict=True):
        left, top = x + at.x, y + at.y
        if box.body is None:
            yield from _drawn_box(node, box, left, top)
            continue
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="10" '
            f'fill="#fffdf5" stroke="#a8862c" stroke-width="1.5" stroke-dasharray="6 4"/>'
        )
        yield _text(left + _PAD, top + _LINE + 2, box.lines[0], bold=True)
        yield from _drawn(box.body, left + _FRAME, top + _FRAME + _HEADING)
    yield from _feedback(layout, x, y)


def _drawn_box(node: Node, box: _Box, left: float, top: float) -> Iterator[str]:
    fill = next((colour for kinds, colour in _FILLS if isinstance(node, kinds)), "white")
    if box.share > _COOL:
        fill = f"hsl(20, 95%, {95 - 45 * min(box.share, 1) ** 0.5:.0f}%)"
    dashes = ' stroke-dasharray="3 2"' if isinstance(node, Trace) else ""
    yield (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4" '
        f'fill="{fill}" stroke="#555"{dashes}/>'
    )
    for k, line in enumerate(box.lines):
        yield _text(left + _PAD, top + _PAD + 4 + k * _LINE, line, bold=k == 0)


def _feedback(layout: _Layout, x: float, y: float) -> Iterator[str]:
    """The delayed edge from each result of a fixpoint back to its variable, along the right side."""
    results, boxes, drawing = dict(layout.results), layout.drawing.boxes, layout.drawing
    lane = x + drawing.width
    for i, node in enumerate(layout.circuit.nodes):
        if isinstance(node, Variable) and node.relation in results:
            lane += _FRAME * 0.8
            source, target = boxes[results[node.relation]], boxes[i]
            start = (x + source.x + source.width / 2, y + source.y + source.height)
            low, high = start[1] + _FRAME / 2, y + target.y - _FRAME / 2
            end = (x + target.x + target.width / 2, y + target.y)
            points = (start, (start[0], low), (lane, low), (lane, high), (end[0], high), end)
            path = "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
            yield (
                f'<path d="{path}" fill="none" stroke="#a8862c" stroke-width="1.4" stroke-linejoin="round" '
                f'stroke-dasharray="5 3" marker-end="url(#arrow)"/>'
            )


def _curve(points: Sequence[tuple[float, float]], x: float, y: float) -> str:
    px, py = points[0]
    path = f"M{px + x:.1f} {py + y:.1f}"
    for qx, qy in points[1:]:
        middle = (py + qy) / 2 + y
        path += f"C{px + x:.1f} {middle:.1f} {qx + x:.1f} {middle:.1f} {qx + x:.1f} {qy + y:.1f}"
        px, py = qx, qy
    return path


def _text(x: float, y: float, text: str, bold: bool) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{weight} xml:space="preserve">{escape(text)}</text>'
