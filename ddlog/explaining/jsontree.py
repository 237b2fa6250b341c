"""Explanations as JSON. Every node is an object with the same keys.

    {"kind": "rule", "title": "Reach(\\"a\\", \\"c\\")", "notes": ["height 2"],
     "row": {"relation": "Reach", "values": ["a", "c"]}, "rule": "Reach(x, z) :- ...",
     "place": {"file": "reach.dl", "line": 6, "column": 1}, "variables": {"x": "a", ...},
     "data": {"height": 2}, "children": [...]}

`row`, `rule` and `place` are null where a node has none. `data` has what only some kinds of nodes have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..types import Type
from .node import Reason
from .snapshot import Fact
from .titles import Titles, did, rule_text


@dataclass(frozen=True)
class JsonTree:
    """Makes the objects of nodes."""

    titles: Titles

    def of(self, node: Reason, types: Mapping[str, Type] | None = None) -> dict[str, Any]:
        """The object of a node; `types`: those of the variables of the rule above."""
        place, types = node.place, (types or {}) if node.rule is None else node.rule.variables
        variables = {name: (value, types[name]) for name, value in node.variables.items() if name in types}
        return {
            "kind": node.kind,
            "title": self.titles.title(node),
            "notes": list(self.titles.notes(node)),
            "row": self._row((node.relation, node.row)) if node.relation else None,
            "rule": None if node.rule is None else rule_text(node.rule, place),
            "place": place and {"file": place.source.name, "line": place.line, "column": place.column},
            "variables": {name: self.titles.words.value_json(*each) for name, each in variables.items()},
            "data": dict(self._data(node)),
            "children": [self.of(child, types) for child in node.children],
        }

    def _row(self, fact: Fact) -> dict[str, Any]:
        """A row; of a pattern, null stands for any value."""
        relation, row = fact
        words = self.titles.words
        return {"relation": words.relation(relation), "values": words.row_json(relation, row)}

    def _data(self, node: Reason) -> Iterator[tuple[str, Any]]:
        if node.is_row and node.came is None:
            yield "height", node.height
        if node.rounds:
            yield "rounds", list(node.rounds)
        if node.ended:
            yield "ended", True
        if node.came is not None:
            yield "change", did(node)
        if node.text:
            yield "text", node.text
        if node.type is not None and node.kind not in ("members", "regrouped"):
            yield "value", self.titles.words.value_json(node.value, node.type)
        if node.count is not None:
            yield "count", node.count
        if node.before is not None:
            yield "before", node.before
        if node.kind == "member":
            yield from {"decides": node.decides, "times": node.times}.items()
        if node.kind == "no row":
            yield "exact", node.exact
        if node.facts:
            for name, inserted in (("inserted", True), ("deleted", False)):
                yield name, [self._row(fact) for fact, each in node.facts if each == inserted]
