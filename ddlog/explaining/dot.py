"""Explanations as graphs of Graphviz. A row that occurs in several places is one node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .node import Reason
from .titles import Titles, one_line

_STYLES = {
    "fact": "shape=box, style=filled, fillcolor=honeydew",
    "cut": "shape=box, style=dashed",
    "unknown": "shape=box, style=dashed",
    "members": "shape=ellipse",
    "regrouped": "shape=ellipse",
    "member": "shape=ellipse, style=dotted",
}


@dataclass
class Dot:
    """Writes one graph."""

    titles: Titles
    _names: dict[object, str] = field(default_factory=dict)  # of the nodes that are written

    def of(self, node: Reason) -> Iterator[str]:
        """The lines of the graph of a node."""
        yield "digraph why {"
        yield "  rankdir=TB; node [fontname=monospace]; edge [arrowhead=none];"
        for each in node.children if node.is_sequence else (node,):
            yield from self._node(each)
        yield "}"

    def _node(self, node: Reason) -> Iterator[str]:
        key = _key(node)
        if key in self._names:
            return
        name = self._named(key)
        label = "\n".join((self.titles.title(node), *self.titles.notes(node)))
        bare = "shape=box" if node.relation else "shape=plain"
        yield f"  {name} [label={_quoted(label)}, {_STYLES.get(node.kind, bare)}];"
        rule = self.titles.rule(node)
        if rule is not None:
            above, name = name, self._named(object())
            text, _, variables = rule
            yield f"  {name} [label={_quoted(one_line(text) + chr(10) + variables)}, shape=plain];"
            yield f"  {above} -> {name};"
        for child in node.children:
            yield from self._node(child)
            yield f"  {name} -> {self._names[_key(child)]};"

    def _named(self, key: object) -> str:
        self._names[key] = f"n{len(self._names)}"
        return self._names[key]


def _key(node: Reason) -> object:
    """The key of a node in the drawing: nodes of one row of a proof are drawn once."""
    if node.is_row or node.kind == "above":
        return node.relation, node.row, node.rounds, node.came, node.kind == "cut"
    return node


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
