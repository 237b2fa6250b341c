"""Proof trees as graphs of Graphviz. A row that occurs in several places is one node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .text import group_line, height_text, item_line, rule_text
from .tree import Group, Item, Tree
from .words import Words

_STYLE = {
    "fact": "shape=box, style=filled, fillcolor=honeydew",
    "cut": "shape=box, style=dashed",
    "rule": "shape=box",
    "group": "shape=box",
}


@dataclass
class Dot:
    """Writes one graph."""

    words: Words
    _nodes: dict[object, str] = field(default_factory=dict)

    def graph(self, tree: Tree) -> Iterator[str]:
        """The lines of the graph of a tree."""
        yield "digraph why {"
        yield "  rankdir=TB; node [fontname=monospace]; edge [arrowhead=none];"
        yield from self._tree(tree)
        yield "}"

    def _tree(self, tree: Tree) -> Iterator[str]:
        key = _key(tree)
        if key in self._nodes:
            return
        name = self._new(key)
        shown = self.words.row(tree.relation, tree.row)
        said = "" if tree.kind == "fact" else height_text(tree)
        height = f"\n{said}" if said else ""
        more = "\n…" if tree.kind == "cut" else ""
        yield f"  {name} [label={_quoted(shown + height + more)}, {_STYLE[tree.kind]}];"
        if tree.rule is not None and tree.kind != "fact":
            rule = self._new(tree)
            text = " ".join(rule_text(tree).split())
            said = f"{text}\n{self.words.variables(tree.variables, tree.rule.variables)}"
            yield f"  {rule} [label={_quoted(said)}, shape=plain];"
            yield f"  {name} -> {rule};"
            yield from self._items(rule, tree.body)

    def _items(self, of: str, items: tuple[Item, ...]) -> Iterator[str]:
        for item in items:
            if isinstance(item, Tree):
                yield from self._tree(item)
                yield f"  {of} -> {self._nodes[_key(item)]};"
                continue
            name = self._new(object())
            yield f"  {of} -> {name};"
            if not isinstance(item, Group):
                yield f"  {name} [label={_quoted(item_line(item, self.words))}, shape=plain];"
                continue
            shown = group_line(item) + (f"\n… and {item.more} more" if item.more else "")
            yield f"  {name} [label={_quoted(shown)}, shape=ellipse];"
            for member in item.members:
                each = self._new(member)
                note = f"\n{member.note}" if member.note else ""
                yield f"  {each} [label={_quoted(self.words.value(member.value, item.type) + note)}];"
                yield f"  {name} -> {each};"
                yield from self._items(each, member.body)

    def _new(self, key: object) -> str:
        kept = key if isinstance(key, tuple) else len(self._nodes)
        self._nodes[kept] = f"n{len(self._nodes)}"
        return self._nodes[kept]


def _key(tree: Tree) -> tuple[object, ...]:
    return tree.relation, tree.row, tree.rounds, tree.kind == "cut"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
