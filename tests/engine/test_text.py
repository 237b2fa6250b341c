"""Circuits as text, DOT and SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given

from ddlog.engine import circuit as c
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.layers import lay_out
from ddlog.engine.svg import to_svg
from ddlog.engine.text import to_dot, to_text

from ..trying import trying
from .random_circuits import any_circuits, less, schema

TWO = schema(2)
PATHS = Circuit(
    (
        c.Input("Edge", TWO),
        c.Fixpoint(
            Circuit(
                (
                    c.Import(0, TWO, "Edge"),
                    c.Variable("Path", TWO),
                    c.Join(
                        (c.Term(1, ("x", "y")), c.Term(0, ("y", "z"))),
                        (c.Guard(less("x", "z")),),
                        ("x", "z"),
                        TWO,
                        "Path(x, z) :- Path(x, y),\n    Edge(y, z), x < z.",
                    ),
                    c.Sum((0, 2), TWO),
                    c.Distinct(3, TWO),
                )
            ),
            (("Path", 4),),
        ),
        c.FixpointResult(1, "Path", TWO),
        c.Output("Path", 2, TWO),
    ),
    (("Edge", 0), ("Path", 2)),
)
quick = trying(8)


def test_text_is_one_node_a_line_with_its_rule_beside_it() -> None:
    lines = [re.sub(r" {2,}(?=//)", "  ", line) for line in to_text(incrementalize(PATHS)).splitlines()]
    assert lines == [
        "n0 = input Edge (c0: bigint, c1: bigint)",
        "n1 = fixpoint Path",
        "    n1.0 = δ₀ import n0  // Edge",
        "    n1.1 = z⁻¹ Path (c0: bigint, c1: bigint)",
        "    n1.2 = z⁻¹∫ trace n1.1",
        "    n1.3 = z⁻¹∫ trace n1.0",
        "    n1.4 = joinΔ n1.1(x, y), n1.0(y, z), x < z -> (x, z)"
        "  // Path(x, z) :- Path(x, y), Edge(y, z), x < z.",
        "    n1.5 = + sum n1.0 + n1.4",
        "    n1.6 = z⁻¹∫ trace n1.5",
        "    n1.7 = distinctΔ n1.5",
        "    Path := n1.7",
        "n2 = result Path n1",
        "n3 = output Path n2",
    ]


def test_dot_closes_the_loop_with_a_dashed_edge() -> None:
    dot = to_dot(PATHS)
    assert "subgraph cluster_n1" in dot
    assert "n1_4 -> n1_1 [style=dashed];" in dot
    assert "n1_4 -> n2;" in dot and "n0 -> n1_0;" in dot


@quick
@given(any_circuits)
def test_drawings_are_xml_of_the_stated_size(circuit: Circuit) -> None:
    for each in (circuit, incrementalize(circuit)):
        root = ElementTree.fromstring(to_svg(each))
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        boxes = list(root.iter("{http://www.w3.org/2000/svg}rect"))
        assert len(boxes) > len(each.nodes)
        for box in boxes:
            x, y = float(box.get("x", 0)), float(box.get("y", 0))
            assert 0 <= x <= x + float(box.attrib["width"]) <= width
            assert 0 <= y <= y + float(box.attrib["height"]) <= height
        assert to_dot(each).count("{") == to_dot(each).count("}")
        assert to_text(each) == to_text(each)


def test_boxes_of_a_layer_do_not_overlap_and_edges_go_down() -> None:
    edges = [(0, 2), (1, 2), (0, 3), (2, 4), (3, 4), (1, 4), (0, 4)]
    drawing = lay_out([(50.0, 20.0)] * 5, edges)
    for i, a in enumerate(drawing.boxes):
        for b in drawing.boxes[i + 1 :]:
            apart = (
                a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
            )
            assert apart
    for path in drawing.edges:
        heights = [y for _, y in path]
        assert heights == sorted(heights)
