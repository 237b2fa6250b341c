"""Explanations as users get them: a tree, and its forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from ..core import CheckedProgram
from ..values.rows import Row
from ..values.tojson import json_text
from .held import is_translated
from .text import Lines
from .tree import Tree
from .words import Words

SHOWN_ROWS = 10
"""The matching rows that a text lists."""


class Explanation:
    """Why a row holds: a proof `tree` of least height, and the forms in which it can be shown. Printed, it is
    indented text. `matches` are the rows that match the question, if it leaves values open."""

    def __init__(self, tree: Tree, program: CheckedProgram, matches: Sequence[Row] = ()) -> None:
        if is_translated(program):
            from .translated import InSql

            tree = InSql(program).tree(tree)
        self.tree, self.matches = tree, matches
        self._words = Words(program)

    def among(self, matches: Sequence[Row]) -> Explanation:
        """The explanation of the first of the rows that match a question."""
        found = copy(self)
        found.matches = matches
        return found

    def lines(self, *, color: bool = False) -> list[str]:
        """The lines of the text, in `color` for a terminal: first the rows that match, if there are
        several."""
        return [*self._offered(), *Lines(self._words, color).tree(self.tree)]

    def _offered(self) -> Iterator[str]:
        if len(self.matches) > 1:
            yield f"{len(self.matches)} rows match, of which the first is explained:"
            for row in self.matches[:SHOWN_ROWS]:
                yield f"  {self._words.row(self.tree.relation, row)}"
            if len(self.matches) > SHOWN_ROWS:
                yield f"  … and {len(self.matches) - SHOWN_ROWS} more"

    def to_json(self) -> dict[str, Any]:
        """The tree as the objects that `json` writes."""
        from .jsontree import tree_json

        return tree_json(self.tree, self._words)

    def json(self) -> str:
        """The tree as JSON text."""
        return json_text(self.to_json())

    def dot(self) -> str:
        """The tree as a graph of Graphviz."""
        from .dot import Dot

        return "".join(f"{line}\n" for line in Dot(self._words).graph(self.tree))

    def html(self, others: Sequence[Explanation] = ()) -> str:
        """The tree, and those of other explanations, as a page of HTML."""
        from .page import Page

        title = self._words.row(self.tree.relation, self.tree.row)
        return Page(self._words).page(title, [self.tree, *(each.tree for each in others)])

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<why {self._words.row(self.tree.relation, self.tree.row)}: height {self.tree.height}>"
