"""The rules of a fixpoint's body, as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..circuit import Constant, DeltaJoin, Fixpoint, Join
from ..derivations import derivations
from ..schema import Schema
from .expressions import Expressions
from .joins import JoinText, Start, View


@dataclass(frozen=True, slots=True)
class Rule:
    """A join inside the recursion, and what its valuations go through on the way to the head.
    `sources[k]` is term k's import (a node outside) or variable (a relation of the recursion)."""

    head: str
    node: Join | DeltaJoin
    sources: tuple[int | str, ...]
    join: JoinText
    linear: tuple[JoinText, ...]

    def query(
        self, start: int | None, rows: Start | None, views: Sequence[View | None], raising: bool = True
    ) -> str:
        """A SELECT of the head's rows; see JoinText.query."""
        text = self.join.query(start, rows, views, raising)
        if not raising:
            text = self.join.summed([text], True)
        timed = (rows is not None and rows.timed) or any(v is not None and v.timed for v in views)
        for join in self.linear:
            text = join.query(0, Start(f"({text})", 0, timed), (None,))
        return text


def rules_of(
    fixpoint: Fixpoint, expressions: Expressions, sent: int
) -> tuple[list[Rule], list[tuple[str, Constant]]]:
    """The rules of a fixpoint, and its facts by head."""
    found, facts = derivations(fixpoint)
    rules = [
        Rule(
            each.head,
            each.node,
            each.sources,
            JoinText(each.node, each.schemas, expressions, sent),
            tuple(JoinText(join, [schema], expressions, sent) for join, schema in each.linear),
        )
        for each in found
    ]
    return rules, facts


def schemas_of(fixpoint: Fixpoint) -> dict[str, Schema]:
    """The columns of each relation."""
    return {head: fixpoint.body.nodes[node].schema for head, node in fixpoint.results}
