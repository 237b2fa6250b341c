"""Questions on demand against the whole: twenty programs, each asked at three selectivities.

    python tests/bench/demand.py             all of them, as a table (docs/benchmarks.md has some)
    python tests/bench/demand.py fields sg   those whose names begin so

Each question is asked in a process of its own, of a session that has only the facts; the whole is a session
that derives everything from the same facts. The figures are the rows of the relations that are not facts,
seconds of the processors, the better of two runs, and MiB by which the process grows at most, with the
loading of the facts. At the end are the questions that take more than twice the whole.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import TypeAlias

import ddlog

RUNS, MOST = 2, 2.0
Facts: TypeAlias = Mapping[str, Sequence[tuple[int, ...]]]


@dataclass(frozen=True)
class Asked:
    """A program, its facts by a source of random numbers, and three questions: of little, more and much."""

    text: str
    facts: Callable[[random.Random], Facts]
    questions: tuple[str, str, str]


@dataclass(frozen=True)
class Cost:
    """What a session took: seconds, MiB, rows derived, and the answers."""

    seconds: float
    memory: float
    rows: int
    answers: int


# ------------------------------------------------------------------- programs

ANDERSEN = """
input relation New(v: u32, o: u32)
input relation Assign(to: u32, from: u32)
input relation Load(to: u32, base: u32, field: u32)
input relation Store(base: u32, field: u32, from: u32)
relation PointsTo(v: u32, o: u32)
PointsTo(v, o) :- New(v, o).
PointsTo(v, o) :- Assign(v, w), PointsTo(w, o).
"""
NO_FIELDS = """
relation Alias(x: u32, y: u32)
Alias(x, y) :- PointsTo(x, o), PointsTo(y, o).
PointsTo(v, o) :- Load(v, b, _), Alias(b, c), Store(c, _, w), PointsTo(w, o).
"""
FIELDS = """
relation Held(o: u32, field: u32, p: u32)
Held(o, f, p) :- Store(b, f, w), PointsTo(b, o), PointsTo(w, p).
PointsTo(v, p) :- Load(v, b, f), PointsTo(b, o), Held(o, f, p).
"""
CALLS = """
input relation Call(site: u32, receiver: u32, result: u32)
input relation Method(o: u32, result: u32)
relation Calls(site: u32, result: u32)
Calls(s, m) :- Call(s, r, _), PointsTo(r, o), Method(o, m).
PointsTo(v, o) :- Call(s, _, v), Calls(s, m), PointsTo(m, o).
"""
SAME = """
input relation Parent(p: u32, c: u32)
relation Same(x: u32, y: u32)
Same(x, y) :- Parent(p, x), Parent(p, y), x != y.
Same(x, y) :- Parent(p, x), Parent(q, y), Same(p, q).
"""
REACH = """
input relation Edge(a: u32, b: u32)
relation Reach(a: u32, b: u32)
Reach(x, y) :- Edge(x, y).
"""
LEFT = "Reach(x, z) :- Reach(x, y), Edge(y, z).\n"
RIGHT = "Reach(x, z) :- Edge(x, y), Reach(y, z).\n"
TRANSITIVE = "Reach(x, z) :- Reach(x, y), Reach(y, z).\n"
CONTROL = """
input relation Owns(a: u32, b: u32, share: s64)
relation Part(a: u32, via: u32, b: u32, share: s64)
relation Controls(a: u32, b: u32)
Part(a, a, b, s) :- Owns(a, b, s).
Part(a, v, b, s) :- Controls(a, v), Owns(v, b, s).
Controls(a, b) :- Part(a, v, b, s), var sum = ((v, s)).group_by((a, b)).sum_of_shares(), sum > 50.
function sum_of_shares(g: Group<'K, (u32, s64)>): s64 {
    var total: s64 = 0;
    for ((each, _) in g) { total = total + each.1 };
    total
}
"""
VNET = """
input relation Port(port: u32, switch: u32)
input relation Trunk(a: u32, b: u32)
input relation Blocked(from: u32, to: u32)
relation Joined(a: u32, b: u32)
relation Talks(a: u32, b: u32)
Joined(a, b) :- Trunk(a, b).
Joined(a, b) :- Trunk(b, a).
Joined(a, c) :- Joined(a, b), Trunk(b, c).
Talks(p, q) :- Port(p, s), Port(q, s), p != q, not Blocked(p, q).
Talks(p, q) :- Port(p, s), Joined(s, t), Port(q, t), not Blocked(p, q).
"""


def heap(variables: int, fields: int, accesses: float, near: int) -> Callable[[random.Random], Facts]:
    """Statements over variables, each of which reads others that are near."""

    def facts(of: random.Random) -> Facts:
        def other(v: int) -> int:
            return max(0, min(variables - 1, v + of.randint(-near, near)))

        every = range(variables)
        some, more = (of.choices(every, k=int(accesses * variables)) for _ in range(2))
        return {
            "New": [(v, v) for v in every if v % 4 == 0],
            "Assign": [(v, other(v)) for v in every if v % 4],
            "Load": [(v, other(v), of.randrange(fields)) for v in some],
            "Store": [(other(v), of.randrange(fields), v) for v in more],
            "Call": [(s, v, other(v)) for s, v in enumerate(some)],
            "Method": [(v, other(v)) for v in every if v % 4 == 0],
        }

    return facts


def tree(nodes: int, children: int) -> Callable[[random.Random], Facts]:
    """A tree in which node k is above the nodes from k * children + 1 on."""
    return lambda of: {"Parent": [((k - 1) // children, k) for k in range(1, nodes)]}


def families(people: int) -> Callable[[random.Random], Facts]:
    """Two parents each, from among the hundred before."""
    return lambda of: {
        "Parent": [(of.randrange(max(0, k - 100), k), k) for k in range(1, people) for _ in range(2)]
    }


def chain(length: int) -> Callable[[random.Random], Facts]:
    """A path."""
    return lambda of: {"Edge": [(k, k + 1) for k in range(length)]}


def digraph(nodes: int, edges: int) -> Callable[[random.Random], Facts]:
    """Random edges; much of it is one component."""
    return lambda of: {"Edge": [(of.randrange(nodes), of.randrange(nodes)) for _ in range(edges)]}


def layers(nodes: int, edges: int) -> Callable[[random.Random], Facts]:
    """Random edges forward, by at most a hundredth."""
    return lambda of: {
        "Edge": [(k, k + 1 + of.randrange(nodes // 100)) for k in of.choices(range(nodes), k=edges)]
    }


def owners(companies: int) -> Callable[[random.Random], Facts]:
    """Each company is owned by three others before it."""
    return lambda of: {
        "Owns": [
            (max(0, k - of.randint(1, 50)), k, share) for k in range(1, companies) for share in (26, 27, 30)
        ]
    }


def network(ports: int, switches: int) -> Callable[[random.Random], Facts]:
    """Ports on switches, which trunks join in small groups."""
    return lambda of: {
        "Port": [(p, p % switches) for p in range(ports)],
        "Trunk": [(s, s + 1) for s in range(switches) if s % 8 != 7],
        "Blocked": [(of.randrange(ports), of.randrange(ports)) for _ in range(ports)],
    }


POINTS = ("PointsTo(1999, o)", "PointsTo(v, 12), v < 2000", "PointsTo(v, o), New(o, v)")
RELATED = ("Same(900, 901)", "Same(900, y)", "Same(x, y), Parent(3, x)")
REACHED = ("Reach(1, 5)", "Reach(1, x)", "Edge(2, a), Reach(a, b), Edge(b, 9)")
PROGRAMS: Mapping[str, Asked] = {
    "andersen, few accesses": Asked(ANDERSEN + NO_FIELDS, heap(4000, 1, 0.02, 4000), POINTS),
    "andersen, near": Asked(ANDERSEN + NO_FIELDS, heap(20_000, 1, 0.1, 5), POINTS),
    "fields, few": Asked(ANDERSEN + FIELDS, heap(4000, 40, 0.25, 4000), POINTS),
    "fields, more": Asked(ANDERSEN + FIELDS, heap(4000, 200, 0.4, 4000), POINTS),
    "fields, near": Asked(ANDERSEN + FIELDS, heap(20_000, 20, 0.25, 20), POINTS),
    "calls, few": Asked(ANDERSEN + CALLS, heap(8000, 1, 0.05, 8000), POINTS),
    "calls, near": Asked(ANDERSEN + CALLS, heap(20_000, 1, 0.1, 20), POINTS),
    "sg, binary tree": Asked(SAME, tree(2047, 2), RELATED),
    "sg, wide tree": Asked(SAME, tree(2000, 10), RELATED),
    "sg, families": Asked(SAME, families(1000), RELATED),
    "reach, chain, left": Asked(REACH + LEFT, chain(1000), REACHED),
    "reach, chain, right": Asked(REACH + RIGHT, chain(1000), REACHED),
    "reach, chain, transitive": Asked(REACH + TRANSITIVE, chain(500), REACHED),
    "reach, random, left": Asked(REACH + LEFT, digraph(1500, 2000), REACHED),
    "reach, random, right": Asked(REACH + RIGHT, digraph(1500, 2000), REACHED),
    "reach, random, transitive": Asked(REACH + TRANSITIVE, digraph(600, 800), REACHED),
    "reach, layers, left": Asked(REACH + LEFT, layers(4000, 6000), REACHED),
    "reach, layers, both": Asked(REACH + LEFT + RIGHT, layers(4000, 6000), REACHED),
    "control": Asked(CONTROL, owners(2000), ("Controls(3, 9)", "Controls(3, x)", "Controls(x, y), x < 9")),
    "vnet": Asked(VNET, network(6400, 1600), ("Talks(3, 9)", "Talks(3, q)", "Port(p, 7), Talks(p, q)")),
}

# ------------------------------------------------------------------ measuring


def cost(name: str, question: str | None) -> Cost:
    """What it takes to load the facts of a program and to ask a question; None: to derive everything."""
    program, facts = ddlog.compile(PROGRAMS[name].text), PROGRAMS[name].facts(random.Random(7))
    return of(program, facts, question)


def of(program: ddlog.Program, facts: Facts, question: str | None) -> Cost:
    """As `cost`, in this process as it is."""
    before, since = memory(), time.process_time()
    keep = "all" if question is None else "inputs"
    with program.session(relations=keep, engine="in-process") as session:
        for name in program.names("input"):
            session.insert(name, *facts[name])
        session.commit()
        answers = 0 if question is None else len(session.query(question).rows)
        return Cost(time.process_time() - since, memory() - before, derived(session), answers)


def derived(session: ddlog.Session) -> int:
    """The rows of relations that are not facts."""
    hosts = [session.state.host, *session.state.questions.hosts()]
    inputs = {*session.program.names("input")}
    held = [each for host in hosts for each in host.runtime.footprint() or ()]
    return sum(each.rows for each in held if each.kind == "relation" and each.name not in inputs)


def memory() -> float:
    """The greatest size of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(name: str, question: str | None) -> Cost:
    """`cost` in processes forked from this one: the least seconds, and the memory of the first."""
    costs = []
    for _ in range(RUNS):
        with get_context("fork").Pool(1) as process:
            costs.append(process.apply(cost, (name, question)))
    return replace(costs[0], seconds=min(each.seconds for each in costs))


def shown(cost: Cost) -> str:
    """The figures of a cost."""
    return f"{cost.rows:,}; {cost.seconds:.2f}; {cost.memory:.0f}"


def sweep(name: str) -> Iterator[str]:
    """Prints the line of a program; gives the questions that take too much."""
    whole = apart(name, None)
    print(f"| {name} | {shown(whole)}", end="", flush=True)
    for question in PROGRAMS[name].questions:
        asked = apart(name, question)
        print(f" | {shown(asked)}", end="", flush=True)
        times, more = asked.seconds / whole.seconds, asked.memory / whole.memory
        if max(times, more) > MOST:
            yield f"{name}: {question} takes {times:.1f} times the time, and {more:.1f} times the memory"
    print(" |")


def main() -> None:
    os.environ.setdefault("PYTHONHASHSEED", "0")
    for question in None, "Reach(1, x)":  # what loads once
        of(ddlog.compile(REACH + LEFT), chain(300)(random.Random(1)), question)
    print("| program | the whole | a little | more | much |\n| --- | --- | --- | --- | --- |")
    names = [each for each in PROGRAMS if not sys.argv[1:] or each.startswith(tuple(sys.argv[1:]))]
    dear = [each for name in names for each in sweep(name)]
    print("", *(dear or ["No question takes more than twice the whole."]), sep="\n")


if __name__ == "__main__":
    main()
