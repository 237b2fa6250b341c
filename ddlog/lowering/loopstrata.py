"""Strata of programs with loops: a loop is one stratum, and has strata of its own for each round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import core, errors
from ..engine.time import DEEPEST
from ..errors.diagnostics import Diagnostic
from .stratify import all_dependencies, stratify, strongly_connected


def stratify_loops(
    relations: Mapping[str, core.Relation], rules: Sequence[core.Rule], loops: Sequence[core.LoopBlock]
) -> tuple[tuple[core.Stratum, ...], list[Diagnostic]]:
    """The strata in dependency order, with the errors of `stratify`, and one for each loop that reads what
    depends on it, or that stands in too many others."""
    if not loops:
        return stratify(relations, rules)
    levels = _Levels(relations, rules, loops)
    strata = levels.strata(None)
    return strata, levels.found


class _Levels:
    """The strata of one loop, or of the program, after another."""

    def __init__(
        self,
        relations: Mapping[str, core.Relation],
        rules: Sequence[core.Rule],
        loops: Sequence[core.LoopBlock],
    ) -> None:
        self.found: list[Diagnostic] = []
        self._relations, self._rules = relations, rules
        self._around = {
            name: core.loops_around(loops, each.span) if each.past is None else []
            for name, each in relations.items()
        }

    def strata(self, loop: core.LoopBlock | None, depth: int = 0) -> tuple[core.Stratum, ...]:
        """The strata of a loop, or those outside of all. `depth` is the number of loops around them."""
        child_of = {
            name: self._child(name, loop)
            for name, around in self._around.items()
            if loop is None or loop in around
        }
        rules = [rule for rule in self._rules if rule.heads[0].relation in child_of]
        own = [rule for rule in rules if child_of[rule.heads[0].relation] is None]
        plain, found = stratify(
            {name: self._relations[name] for name, child in child_of.items() if child is None}, own
        )
        self.found += found
        deepest = depth + any(stratum.recursive for stratum in plain)
        if loop is not None and deepest > DEEPEST:
            self.found.append(
                errors.loops.LoopsTooDeep(span=loop.span, loop=loop.name, depth=deepest, most=DEEPEST)
            )
        strata = list(plain)
        for child in dict.fromkeys(each for each in child_of.values() if each is not None):
            members = tuple(name for name, each in child_of.items() if each == child)
            inner = tuple(rule for rule in rules if rule.heads[0].relation in members)
            strata.append(core.Stratum(members, False, inner, child, self.strata(child, depth + 1)))
        return tuple(self._ordered(strata, rules))

    def _child(self, name: str, loop: core.LoopBlock | None) -> core.LoopBlock | None:
        """The loop directly in another that a relation belongs to; None: to the other one itself."""
        around = self._around[name]
        if loop is not None:
            around = around[around.index(loop) + 1 :]
        return around[0] if around else None

    def _ordered(self, strata: Sequence[core.Stratum], rules: Sequence[core.Rule]) -> Iterator[core.Stratum]:
        number = {name: at for at, stratum in enumerate(strata) for name in stratum.relations}
        links: dict[int, set[int]] = {at: set() for at in range(len(strata))}
        relations = {name: self._relations[name] for name in number}
        for edge in all_dependencies(relations, rules):
            source, target = number.get(edge.source), number[edge.target]
            if source is not None and source != target:
                links[source].add(target)
        names = {at: f"{at:09}" for at in links}
        successors = {names[at]: [names[to] for to in sorted(reached)] for at, reached in links.items()}
        for component in strongly_connected(successors):
            members = sorted(int(each) for each in component)
            if len(members) > 1:
                self.found += _cycles([(a, b) for a in members for b in links[a] if b in members], strata)
            yield from (strata[at] for at in members)


def _cycles(links: Sequence[tuple[int, int]], strata: Sequence[core.Stratum]) -> Iterator[Diagnostic]:
    """An error for each loop on a cycle of strata."""
    import networkx as nx

    graph = nx.DiGraph(links)
    for at in graph:
        loop = strata[at].loop
        if loop is not None:
            way = [at, *nx.shortest_path(graph, min(graph.successors(at)), at)]
            shown = [_shown(strata[each]) for each in way]
            yield errors.loops.LoopInCycle(
                span=loop.span, loop=loop.name, source=shown[-2], cycle=" -> ".join(shown)
            )


def _shown(stratum: core.Stratum) -> str:
    return f"loop {stratum.loop.name}" if stratum.loop is not None else ", ".join(stratum.relations)
