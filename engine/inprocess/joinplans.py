"""The plans of a state's joins: what was chosen stage by stage since the state began, by the tallies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..circuit import NodeId, Term
from ..joinplan import JoinPlan, LookUpRows
from ..labels import one_line
from ..planner import Stage, Stages
from ..plans import ONLY, Texts, source_names
from .joins.join import Joiner
from .joins.proposals import Tally
from .recursion.loops import LoopRecursion
from .recursion.recursion import Recursion
from .state import State


def chosen(state: State) -> Iterator[JoinPlan]:
    """The plans that ran, each with its rows: of the joins of the circuit, of recursions, and of the searches
    in them. Of a loop, the last evaluation and the last timelines."""
    names = source_names(state.circuit)
    yield from _of_nodes(state.joiners, names)
    for recursion in state.recursions.values():
        if isinstance(recursion, LoopRecursion):
            yield from _of_loop(recursion, names)
        elif isinstance(recursion, Recursion):
            yield from _of_rules(recursion, names)


def _of_loop(recursion: LoopRecursion, names: Mapping[NodeId, str]) -> Iterator[JoinPlan]:
    for joiners in recursion.joiners():
        for at, joiner in joiners.items():
            sources = recursion.parts.parts[at].sources
            yield from _plans(joiner, [recursion.part_name(source, names) for source in sources])


def _of_nodes(joiners: Mapping[NodeId, Joiner], names: Mapping[NodeId, str]) -> Iterator[JoinPlan]:
    for joiner in joiners.values():
        yield from _plans(joiner, [names[term.source] for term in joiner.node.terms])


def _of_rules(recursion: Recursion, names: Mapping[NodeId, str]) -> Iterator[JoinPlan]:
    def named(source: int | str) -> str:
        return source.partition("$")[0] or "(internal)" if isinstance(source, str) else names[source]

    for rule in recursion.rules:
        yield from _plans(rule.join, list(map(named, rule.sources)))
    for head, searches in (recursion.searches or {}).items():
        for search in searches.each:
            sources = [f"search for derivations of {named(head)}", *map(named, search.sources)]
            asked, *others = search.join.node.terms
            unnumbered = replace(asked, columns=asked.columns[:-1])
            yield from _plans(search.join, sources, (unnumbered, *others))


def _plans(joiner: Joiner, sources: Sequence[str], terms: Sequence[Term] | None = None) -> Iterator[JoinPlan]:
    """The plans of one join, by start. `terms`: its terms as they are shown."""
    stages, node = joiner.stages, joiner.node
    if stages is None or len(node.terms) < 2:
        return
    texts = Texts(terms or node.terms, sources)
    tallies = dict(joiner.tallies)
    for start in sorted({stage.start for stage in tallies}, key=lambda each: -1 if each is None else each):
        first = stages.first(start)
        look_ups = tuple(_look_ups(first, 0, stages, tallies, texts))
        if look_ups:
            name = None if start is None else texts.term(start)
            tested = joiner.tallies[first].tested if first in joiner.tallies else 0.0
            yield JoinPlan(one_line(node.text), name, look_ups, texts.tests(first.tests), tested)


def _look_ups(
    stage: Stage, depth: int, stages: Stages, tallies: dict[Stage, Tally], texts: Texts
) -> Iterator[LookUpRows]:
    """The look-ups chosen at a stage and after it. A stage that several orders reach is told once."""
    tally = tallies.pop(stage, None)
    if tally is None:
        return
    parts = sorted(tally.chosen.items(), key=lambda each: -each[1][0])
    for term, (rows, expected, given, seconds) in parts:
        look_up = next(each for each in stage.candidates if each.term == term)
        after = stages.after(stage, look_up)
        asked = None if len(stage.candidates) == 1 else expected
        tests = texts.tests(after.tests)
        seconds += tallies[after].tested if after in tallies else 0.0
        name, keys, why = texts.term(term), texts.keys(look_up), _why(stage, tally)
        yield LookUpRows(depth, name, keys, rows, asked, given, why, tests, seconds)
        yield from _look_ups(after, depth + 1, stages, tallies, texts)


def _why(stage: Stage, tally: Tally) -> str:
    if len(stage.candidates) == 1:
        return ONLY
    if not tally.asked:
        return "least mean"
    if not tally.split:
        return f"least by sample, asked {tally.asked:,}x"
    return f"each row by its least, asked {tally.asked:,}x, split {tally.split:,}x"
