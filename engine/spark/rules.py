"""The rules of a fixpoint's body, as SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaJoin,
    Distinct,
    Fixpoint,
    Import,
    Join,
    Sum,
    Term,
    Variable,
)
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
    body = fixpoint.body
    rules: list[Rule] = []
    facts: list[tuple[str, Constant]] = []
    for head, result in fixpoint.results:
        for leaf in _leaves(body, result):
            node = body.nodes[leaf]
            if isinstance(node, Constant):
                facts.append((head, node))
                continue
            linear: list[JoinText] = []
            while isinstance(node, Join) and isinstance(body.nodes[node.terms[0].source], Join | DeltaJoin):
                leaf = node.terms[0].source
                linear.insert(0, JoinText(node, [body.nodes[leaf].schema], expressions, sent))
                node = body.nodes[leaf]
            joined = as_join(body, leaf)
            sources = tuple(_source(body, term.source) for term in joined.terms)
            join = JoinText(joined, [body.nodes[t.source].schema for t in joined.terms], expressions, sent)
            rules.append(Rule(head, joined, sources, join, tuple(linear)))
    return rules, facts


def as_join(body: Circuit, at: int) -> Join | DeltaJoin:
    """The node, or a join that copies it."""
    node = body.nodes[at]
    if isinstance(node, Join | DeltaJoin):
        return node
    names = tuple(column.name for column in node.schema)
    return Join((Term(at, names),), (), names, node.schema, node.text)


def _leaves(body: Circuit, at: int) -> Iterator[int]:
    node = body.nodes[at]
    if isinstance(node, Distinct | DeltaDistinct):
        yield from _leaves(body, node.source)
    elif isinstance(node, Sum):
        for source in node.sources:
            yield from _leaves(body, source)
    else:
        yield at


def _source(body: Circuit, at: int) -> int | str:
    node = body.nodes[at]
    if isinstance(node, Import):
        return node.node
    if isinstance(node, Variable):
        return node.relation
    raise ValueError(f"a rule of a recursion reads {type(node).__name__}, not an import or a variable")


def schemas_of(fixpoint: Fixpoint) -> dict[str, Schema]:
    """The columns of each relation."""
    return {head: fixpoint.body.nodes[node].schema for head, node in fixpoint.results}
