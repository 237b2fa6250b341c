"""Recursions whose iterations stay on one worker, since their rules carry a column on as it is.

    Path(x, y) :- Edge(x, y).
    Path(x, z) :- Path(x, y), Edge(y, z).

If a row of Path is on the worker that owns its x, then so is all that follows from it. The iterations of such
a recursion send no rows (Wolfson and Silberschatz, "Distributed Processing of Logic Programs"), and the ranks
that a search compares are all of one worker. So once what follows from outside is with its owners, each
worker goes on by itself.

Columns have few values where a recursion begins from little, such as the paths from one node, which one
worker would then own. So only a column counts whose values are those of a relation that the rules look up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ..inprocess.joins.join import Joiner
from ..rules import FixpointRule
from ..schema import Schema

Key: TypeAlias = tuple[int, ...]
"""The columns by which the rows of a relation have owners."""
Keys: TypeAlias = Mapping[str, Key]
"""The columns by which the rows of each relation of a recursion have owners."""
Rules: TypeAlias = Sequence[FixpointRule[Joiner]]


def iterations_stay(rules: Rules, keys: Keys) -> bool:
    """Whether each worker owns all rows that the rules derive of its rows."""
    return all(
        keys[head]
        and _named(columns, keys[source]) == _named(output, keys[head])
        and None not in _named(columns, keys[source])
        for source, columns, head, output in _ways(rules)
    )


def carried(rules: Rules, has_facts: bool, schemas: Mapping[str, Schema]) -> Keys | None:
    """A column of each relation by which iterations stay; None if there are none, or few values in them."""
    looked_up = {
        source
        for rule in rules
        for source, term in zip(rule.sources, rule.node.terms, strict=True)
        if rule.starts and isinstance(source, int) and not term.negated
    }
    relation, schema = next(iter(schemas.items()))
    for place in () if has_facts else range(len(schema)):
        keys = _followed(rules, {relation: (place,)})
        if (
            keys.keys() == schemas.keys()
            and iterations_stay(rules, keys)
            and all(_begins_with_all(rule, keys, looked_up) for rule in rules if not rule.starts)
        ):
            return keys
    return None


def _followed(rules: Rules, keys: dict[str, Key]) -> dict[str, Key]:
    """The columns of relations that hold the same values as those of some."""
    known = 0
    while known < len(keys):
        known = len(keys)
        for source, columns, head, output in _ways(rules):
            for one, names, other, others in (
                (source, columns, head, output),
                (head, output, source, columns),
            ):
                if one in keys and other not in keys:
                    (name,) = _named(names, keys[one])
                    if name is not None and name in others:
                        keys[other] = (list(others).index(name),)
    return keys


def _ways(rules: Rules) -> Iterator[tuple[str, Sequence[str | None], str, Sequence[str | None]]]:
    """The relations of a recursion that each rule reads, with the variables of the term, and the head that it
    has rows for, with the variables of these."""
    for rule in rules:
        for source, term in zip(rule.sources, rule.node.terms, strict=True):
            if isinstance(source, str):
                for head, linear in rule.heads:
                    yield source, term.columns, head, _output(rule.node.output, linear)


def _output(names: Sequence[str | None], linear: Sequence[Joiner]) -> Sequence[str | None]:
    """The variables of a rule's join that are columns of its rows after further joins; None for a column that
    a further join makes."""
    for joiner in linear:
        node = joiner.node
        was = dict(zip(node.terms[0].columns, names, strict=True))
        names = [was.get(name) for name in node.output]
    return names


def _begins_with_all(rule: FixpointRule[Joiner], keys: Keys, looked_up: set[int]) -> bool:
    """Whether a rule derives a row of each row of a relation that other rules look up, and the owner of the
    derived row is by values of that one."""
    ((source, *others), (term, *_)) = rule.sources, rule.node.terms
    if others or term.negated or source not in looked_up:
        return False
    joins = [rule.node, *(joiner.node for _, linear in rule.heads for joiner in linear)]
    if any(join.steps for join in joins):
        return False
    return all(
        set(_named(_output(rule.node.output, linear), keys[head])) <= set(term.columns) - {None}
        for head, linear in rule.heads
    )


def _named(names: Sequence[str | None], places: Sequence[int]) -> list[str | None]:
    return [names[place] for place in places]
