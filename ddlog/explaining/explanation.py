"""Explanations as users get them: a tree of nodes, and its forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core import CheckedProgram
from ..syntax.stackroom import deep_recursion
from ..values.rows import Row
from ..values.tojson import json_text
from .node import Reason, remark
from .snapshot import Fact
from .sqlterms import in_sql
from .titles import Titles
from .words import Words

SHOWN_ROWS = 10
"""The matching rows that a text lists."""


class Explanation:
    """The answer to a question about a row: a `tree` of nodes, and the forms in which it can be shown.
    Printed, it is indented text. `matches` are the rows that match the question, if it leaves values open."""

    def __init__(
        self, tree: Reason, program: CheckedProgram, matches: Sequence[Row] = (), match: str = "match"
    ) -> None:
        rewrite = in_sql(program)
        self.tree, self.matches = tree if rewrite is None else rewrite.node(tree), matches
        self._match, self._titles = match, Titles(Words(program))
        self._data: dict[str, Any] = {}

    def lines(self, *, color: bool = False) -> list[str]:
        """The lines of the text, in `color` for a terminal: first the rows that match, if there are
        several."""
        from .text import TextTree

        return [*self._offered(), *TextTree(self._titles, color).of(self.tree)]

    def _offered(self) -> list[str]:
        if len(self.matches) < 2:
            return []
        rows = [self._titles.words.row(self.tree.relation, row) for row in self.matches[:SHOWN_ROWS]]
        more = len(self.matches) - len(rows)
        head = f"{len(self.matches)} rows {self._match}, of which the first is explained:"
        return [head, *(f"  {row}" for row in rows), *([f"  … and {more} more"] if more else [])]

    def to_json(self) -> dict[str, Any]:
        """The objects that `json` writes."""
        from .jsontree import JsonTree

        made = JsonTree(self._titles).of(self.tree)
        return {**made, "data": {**made["data"], **self._data}}

    def json(self) -> str:
        """The tree as JSON text."""
        return json_text(self.to_json())

    def dot(self) -> str:
        """The tree as a graph of Graphviz."""
        from .dot import Dot

        return "".join(f"{line}\n" for line in Dot(self._titles).of(self.tree))

    def html(self, others: Sequence[Explanation] = ()) -> str:
        """The tree, and those of other explanations, as a page of HTML."""
        from .page import Page

        return Page(self._titles).of([self.tree, *(each.tree for each in others)])

    def form(self, name: str, *, color: bool = False) -> str:
        """The explanation as "text", "json", "dot" or "html"; a text in `color` for a terminal."""
        match name:
            case "json":
                return f"{self.json()}\n"
            case "dot":
                return self.dot()
            case "html":
                return self.html()
        return "".join(f"{line}\n" for line in self.lines(color=color))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .page import Page

        return {"text/plain": str(self), "text/html": Page(self._titles).piece([self.tree], self._offered())}

    def __str__(self) -> str:
        with deep_recursion():
            return "\n".join(self.lines())

    def __repr__(self) -> str:
        kind = {"absence": "why not", "change": "why change"}.get(self.tree.kind, "why")
        return f"<{kind} {self._titles.words.row(self.tree.relation, self.tree.row)}>"


class Absence(Explanation):
    """Why a row does not hold: what is `missing`, and the smallest sets of facts to insert (`insert`) that
    make it hold. `complete`: the time sufficed for the search. `attempted`: insertions could be tried; else
    there was no search."""

    def __init__(
        self,
        missing: Reason,
        insert: Sequence[tuple[Fact, ...]],
        complete: bool,
        program: CheckedProgram,
        attempted: bool = True,
    ) -> None:
        said = ["it would hold with", *["or"] * len(insert)]
        sets = [_set([], each, text) for text, each in zip(said, insert, strict=False)]
        if not attempted:
            why = "that could not be taken back without a trace"
            sets.append(remark(f"no facts to insert were tried, as {why}"))
        elif not complete:
            sets.append(remark("the search for facts to insert did not end in time"))
        children = missing, *sets
        super().__init__(Reason("absence", missing.relation, missing.row, children=children), program)
        self.insert, self.complete, self.attempted = tuple(insert), complete, attempted
        self._data = {"complete": complete, "attempted": attempted}

    @property
    def missing(self) -> Reason:
        """The row that does not hold, and why."""
        return self.tree.children[0]


class ChangeExplanation(Explanation):
    """Why a row came or went with the last commit. `matches` are the rows that match the question and
    changed."""

    def __init__(self, change: Reason, program: CheckedProgram, matches: Sequence[Row] = ()) -> None:
        super().__init__(change, program, matches, "match and changed")

    @property
    def came(self) -> bool:
        """Whether the row came; otherwise it went."""
        return bool(self.tree.came)

    @property
    def proofs(self) -> list[Reason]:
        """A proof that the row has now, or those that it had, as trees of changes."""
        return [each for each in self.tree.children if each.kind in ("fact", "rule", "cut")]

    @property
    def facts(self) -> list[tuple[Fact, bool]]:
        """The facts to which the proofs come, with True for those that came."""
        return [fact for each in self.tree.children if each.kind == "by" for fact in each.facts]


class Ending(list[Fact]):
    """The facts to delete; `insertions` are those to insert."""

    def __init__(self, delete: Iterable[Fact], insert: Iterable[Fact]) -> None:
        super().__init__(delete)
        self.insertions = list(insert)


class EndingSets(list[Ending], Explanation):
    """Sets of changes that end a row. `complete` says whether the time sufficed to look for all."""

    def __init__(self, fact: Fact, found: Sequence[Ending], complete: bool, program: CheckedProgram) -> None:
        list.__init__(self, found)
        sets = [_set(each, each.insertions) for each in found]
        none = remark("no set of up to three facts was found" + ("" if complete else " in time"))
        Explanation.__init__(self, Reason("ends", *fact, children=tuple(sets or [none])), program)
        self.complete = complete
        self._data = {"complete": complete}


def _set(delete: Iterable[Fact], insert: Iterable[Fact], text: str = "") -> Reason:
    facts = (*((fact, False) for fact in delete), *((fact, True) for fact in insert))
    return Reason("set", text=text, facts=facts)
