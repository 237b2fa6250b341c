"""Transitive rules become linear ones.

    R(x, z) :- R(x, y), R(y, z).    ──►    R(x, z) :- R(x, y), S(y, z).

S has the rows of the other rules of R, which read no recursive relation. The least fixpoint of both is the
transitive closure of S. The first derives a row once for each node between its ends, the second once for each
last step (Jagadish, Agrawal and Ness, "A study of transitive closure as a recursion mechanism", 1987). A rule
R(x, y) :- R(y, x) goes, too: S is made symmetric, and with it the closure. x, y and z may be several columns
each, and others may be the same in all terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..circuit import Circuit, Distinct, Fixpoint, Import, Join, Node, NodeId, Sum, Term, Variable


class _Ends(NamedTuple):
    """The columns of a transitive relation: for each one the column at the other end, or itself if it is the
    same in all rows of a path; and those of one end and of the other."""

    opposite: tuple[int, ...]
    ends: frozenset[frozenset[int]]


def make_linear(circuit: Circuit) -> Circuit:
    """The circuit with a linear rule in each recursion of one relation whose only recursive rules are
    transitive and symmetric."""
    nodes: list[Node] = []
    new: list[NodeId] = []
    for node in circuit.nodes:
        node = node.reading(new.__getitem__)
        if isinstance(node, Fixpoint) and node.__class__ is Fixpoint:
            node = _linear(node, nodes)
        nodes.append(node)
        new.append(len(nodes) - 1)
    return Circuit(tuple(nodes), tuple((relation, new[at]) for relation, at in circuit.relations))


def _linear(fixpoint: Fixpoint, before: list[Node]) -> Fixpoint:
    """The recursion as a linear one, if it can be. The nodes of S are appended to those before it."""
    body, (relation, result) = fixpoint.body.nodes, fixpoint.results[0]
    distinct = body[result]
    total = body[distinct.source] if isinstance(distinct, Distinct) else distinct
    if len(fixpoint.results) > 1 or not isinstance(total, Sum):
        return fixpoint
    rules = [body[at] for at in total.sources]
    given = [each.node for each in rules if isinstance(each, Import)]
    recursive = [each for each in rules if isinstance(each, Join) and _is_plain(each, body)]
    chains = {each: ends for each in recursive if (ends := _ends_of(each))}
    swaps = [each for each in recursive if each not in chains]
    if not given or len({*chains.values()}) != 1 or len(given) + len(recursive) != len(rules):
        return fixpoint
    (chain, *_), (ends, *_) = chains, chains.values()
    if not all(len(each.terms) == 1 and _swaps(each, ends.opposite) for each in swaps):
        return fixpoint
    schema, text = distinct.schema, total.text
    if swaps:
        swap = swaps[0]
        for each in tuple(given):
            before.append(Join((Term(each, swap.terms[0].columns),), (), swap.output, schema, swap.text))
            given.append(len(before) - 1)
    if len(given) > 1:
        before.append(Sum(tuple(given), schema, text))
        given = [len(before) - 1]
    before.append(Distinct(given[0], schema, text))
    first, second = chain.terms
    nodes = (
        Variable(relation, schema, relation),
        Import(len(before) - 1, schema, text),
        Join((Term(0, first.columns), Term(1, second.columns)), (), chain.output, schema, chain.text),
        Sum((1, 2), schema, text),
        Distinct(3, schema, text),
    )
    return Fixpoint(Circuit(nodes), ((relation, 4),), fixpoint.schema, fixpoint.text)


def _is_plain(join: Join, body: Sequence[Node]) -> bool:
    """Whether a rule is of terms of the recursive relation alone."""
    return not join.steps and all(isinstance(body[t.source], Variable) and not t.negated for t in join.terms)


def _ends_of(join: Join) -> _Ends | None:
    """The ends of the relation if the rule is transitive."""
    if len(join.terms) != 2:
        return None
    first, second = (term.columns for term in join.terms)
    opposite: list[int] = []
    begin, end = set[int](), set[int]()
    for at, (name, one, other) in enumerate(zip(join.output, first, second, strict=True)):
        if name == one == other:
            opposite.append(at)
        elif name == one and other in first:
            begin.add(at)
            opposite.append(first.index(other))
        elif name == other and one in second:
            end.add(at)
            opposite.append(second.index(one))
        else:
            return None
    names = {*first, *second}
    # So many names: none is twice in a term, and each column of the beginning has one of the end.
    if None in names or not end or not len(begin) == len(end) == len(names) - len(first):
        return None
    return _Ends(tuple(opposite), frozenset((frozenset(begin), frozenset(end))))


def _swaps(join: Join, opposite: Sequence[int]) -> bool:
    """Whether the rule gives each row, of whatever values, with its ends swapped."""
    columns = join.terms[0].columns
    is_any = None not in columns and len({*columns}) == len(columns)
    return is_any and join.output == tuple(columns[at] for at in opposite)
