"""Strata: the mutually recursive relations of a program, in the order in which they can be computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise

from .. import core, errors
from ..errors.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` is read in a rule for `target`; how: `positive`, `negated`, `grouped`, `counted` for a group
    that is a bag, or `gathered` for a transformer."""

    source: str
    target: str
    how: str
    atom: core.Atom


def stratify(
    relations: Mapping[str, core.Relation], rules: Sequence[core.Rule]
) -> tuple[tuple[core.Stratum, ...], list[Diagnostic]]:
    """The strata in dependency order, with an error for each transformer and each `group_all_by` within one,
    and for each negation on a cycle of a stratum with an odd number of them. Other relations than these are
    at hand.

    A stratum with even cycles alone is stratified by parity: every relation of it is on one of two sides, and
    just the negations cross over. A rule whose heads lie in several strata is split, a part for each.
    """
    edges = [edge for edge in all_dependencies(relations, rules) if edge.source in relations]
    successors: dict[str, dict[str, None]] = {name: {} for name in relations}
    for edge in edges:
        successors.setdefault(edge.source, {})[edge.target] = None
        successors.setdefault(edge.target, {})
    components = strongly_connected(successors)
    number = {name: i for i, component in enumerate(components) for name in component}
    inner = [edge for edge in edges if number[edge.source] == number[edge.target]]
    recursive = {number[edge.source] for edge in inner}
    by_component = _rules_by_component(rules, number, len(components))
    order = {name: i for i, name in enumerate(successors)}
    strata = tuple(
        core.Stratum(tuple(sorted(component, key=order.__getitem__)), i in recursive, tuple(by_component[i]))
        for i, component in enumerate(components)
    )
    return strata, [_error(cycle) for cycle in _offending(inner)]


def all_dependencies(relations: Mapping[str, core.Relation], rules: Iterable[core.Rule]) -> Iterator[Edge]:
    """The edges of rules, and of windows to what they read beside their rules."""
    for rule in rules:
        yield from dependencies(rule, relations)
    for relation in relations.values():
        for name in relation.window.reads if relation.window else ():
            yield Edge(name, relation.name, "gathered", core.Atom(name, (), False, relation.span))


def dependencies(rule: core.Rule, relations: Mapping[str, core.Relation]) -> Iterator[Edge]:
    """An edge for each atom and head of the rule."""
    groups = [(i, clause.bag) for i, clause in enumerate(rule.body) if isinstance(clause, core.GroupBy)]
    grouped = max((i for i, _ in groups), default=-1)
    counted = max((i for i, bag in groups if bag), default=-1)
    for i, clause in enumerate(rule.body):
        if isinstance(clause, core.Atom):
            for head in rule.heads:
                taken = "counted" if i < counted else "grouped"
                taken = "gathered" if head.relation.endswith(core.GATHERED) else taken
                how = "negated" if clause.negated else taken if i < grouped else "positive"
                if head.relation in relations and relations[head.relation].window:
                    how = "gathered"
                yield Edge(clause.relation, head.relation, how, clause)


def strongly_connected(successors: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """The strongly connected components, each before the components that it leads to; for equal graphs,
    given in the same order, the same list."""
    graph = {node: list(reversed(list(successors[node]))) for node in reversed(list(successors))}
    members = _components(graph)
    number = {node: at for at, component in enumerate(members) for node in component}
    led = ({number[to] for node in each for to in graph.get(node, ())} for each in members)
    links = [to - {at} for at, to in enumerate(led)]
    before = Counter(to for each in links for to in each)
    ready = [-at for at in range(len(members)) if not before[at]]
    heapify(ready)
    ordered: list[set[str]] = []
    while ready:
        at = -heappop(ready)
        ordered.append(members[at])
        for to in links[at]:
            before[to] -= 1
            if not before[to]:
                heappush(ready, -to)
    return ordered


def _components(graph: Mapping[str, Sequence[str]]) -> list[set[str]]:
    """The strongly connected components, each behind those that it leads to (Tarjan's algorithm, without a
    stack of calls)."""
    found: list[set[str]] = []
    order: dict[str, int] = {}  # the number of each node that was reached
    least: dict[str, int] = {}  # the least number on the stack that it leads to
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in graph:
        way = [] if root in order else [(root, iter(graph[root]))]
        while way:
            node, rest = way[-1]
            if node not in order:
                order[node] = least[node] = len(order)
                stack.append(node)
                on_stack.add(node)
            for to in rest:
                if to not in order:
                    way.append((to, iter(graph.get(to, ()))))
                    break
                if to in on_stack:
                    least[node] = min(least[node], least[to])
            else:
                way.pop()
                if way:
                    least[way[-1][0]] = min(least[way[-1][0]], least[node])
                if least[node] == order[node]:
                    component = set[str]()
                    while node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    found.append(component)
    return found


def _rules_by_component(
    rules: Sequence[core.Rule], number: Mapping[str, int], count: int
) -> list[list[core.Rule]]:
    found: list[list[core.Rule]] = [[] for _ in range(count)]
    for rule in rules:
        homes = sorted({number[head.relation] for head in rule.heads})
        for home in homes:
            heads = tuple(head for head in rule.heads if number[head.relation] == home)
            found[home].append(rule if len(homes) == 1 else replace(rule, heads=heads))
    return found


def _offending(inner: Sequence[Edge]) -> list[list[Edge]]:
    """A cycle for each atom that must not be in its component; it begins with the atom's edge."""
    first: dict[int, list[Edge]] = {}
    for edge in inner:
        if edge.how in ("negated", "gathered", "counted") and id(edge.atom) not in first:
            cycle = _odd_cycle(edge, inner) if edge.how == "negated" else _cycle(edge, inner)
            if cycle:
                first[id(edge.atom)] = cycle
    return list(first.values())


def _error(cycle: Sequence[Edge]) -> Diagnostic:
    link = errors.strata.Link
    return errors.strata.unstratifiable(
        tuple(link(step.source, step.target, step.how, step.atom.span) for step in cycle)
    )


def _cycle(edge: Edge, inner: Sequence[Edge]) -> list[Edge]:
    """The edge, and those of a shortest way back."""
    import networkx as nx

    graph = nx.DiGraph()
    for step in reversed(inner):
        graph.add_edge(step.source, step.target, edge=step)
    way = nx.shortest_path(graph, edge.target, edge.source)
    return [edge, *(graph.edges[link]["edge"] for link in pairwise(way))]


def _odd_cycle(edge: Edge, inner: Sequence[Edge]) -> list[Edge]:
    """A cycle through a negated edge, with an odd number of negations; empty if the shortest one passes a
    relation twice. A component with an odd cycle has one that does not, through some edge.

    The way back is one in the graph of the relations with the parity of the negations up to each.
    """
    import networkx as nx

    graph = nx.DiGraph()
    for step in reversed(inner):
        turn = step.how == "negated"
        for odd in (False, True):
            graph.add_edge((step.source, odd), (step.target, odd ^ turn), edge=step)
    start, goal = (edge.target, False), (edge.source, False)
    if goal not in graph or not nx.has_path(graph, start, goal):
        return []
    way = nx.shortest_path(graph, start, goal)
    if len({relation for relation, _ in way}) < len(way):
        return []
    return [edge, *(graph.edges[link]["edge"] for link in pairwise(way))]
