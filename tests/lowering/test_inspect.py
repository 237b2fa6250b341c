"""`Inspect`: which valuations it sees, with which weights, and when."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError, Session
from ddlog.engine import circuit as c
from ddlog.engine.circuit import EPOCH, ITERATION, WEIGHT
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.sessions.hosts.inprocess import InProcessHost

from ..trying import trying

DECLARATIONS = """
function see(x: u32, y: u32, w: DDWeight, t: DDEpoch) { () }
function see_nested(x: u32, y: u32, w: DDWeight, t: DDNestedTS) { () }
input relation E(a: u32, b: u32)
input multiset M(a: u32)
input stream S(a: u32)
output relation O(a: u32, b: u32)
"""

Seen = dict[str, Any]


def watched(circuit: c.Circuit, seen: list[Seen]) -> c.Circuit:
    """The circuit with effects that note what their expressions read."""

    def watch(step: c.Step) -> c.Step:
        if not isinstance(step, c.Inspect):
            return step
        inputs = step.value.inputs

        def note(*values: Any) -> tuple[()]:
            seen.append(dict(zip(inputs, values, strict=True)))
            return ()

        return c.Inspect(replace(step.value, scalar=note, arrays=None))

    def of(node: c.Node) -> c.Node:
        if isinstance(node, c.Fixpoint):
            return replace(node, body=watched(node.body, seen))
        if isinstance(node, c.Join | c.DeltaJoin):
            return replace(node, steps=tuple(map(watch, node.steps)))
        return node

    return replace(circuit, nodes=tuple(map(of, circuit.nodes)))


def session(rules: str) -> tuple[Session, list[Seen]]:
    """A session of a program, and what its Inspects will have seen."""
    program = ddlog.compile(DECLARATIONS + rules)
    seen: list[Seen] = []
    circuit = watched(program.circuit(outputs=program.names("output")), seen)
    kept = frozenset(name for name, _ in circuit.relations)
    return Session(program, InProcessHost(program, InProcess(circuit)), kept), seen


def told(seen: list[Seen], *names: str) -> list[tuple[Any, ...]]:
    """The values of some variables, in order; what was seen is forgotten."""
    values = sorted(tuple(each[name] for name in names) for each in seen)
    seen.clear()
    return values


def test_weights_and_epochs_of_a_change() -> None:
    opened, seen = session("O(a, b) :- E(a, b), M(a), Inspect see(a, b, ddlog_weight, ddlog_timestamp).")
    opened.insert("E", (1, 2), (3, 4))
    opened.insert("M", 1, 1, 3)
    opened.commit()
    assert told(seen, "a", "b", WEIGHT, EPOCH) == [(1, 2, 2, 1), (3, 4, 1, 1)]
    opened.delete("M", 1)
    opened.commit()
    assert told(seen, "a", "b", WEIGHT, EPOCH) == [(1, 2, -1, 2)]
    opened.delete("E", (1, 2))
    opened.commit()
    assert told(seen, "a", "b", WEIGHT, EPOCH) == [(1, 2, -1, 3)]


def test_a_stream_is_seen_to_come_and_to_go() -> None:
    opened, seen = session("O(a, 0) :- S'(a), Inspect see(a, a, ddlog_weight, ddlog_timestamp).")
    opened.insert("S", 5, 5)
    opened.commit()
    opened.commit()
    assert told(seen, "a", WEIGHT, EPOCH) == [(5, -2, 2), (5, 2, 1)]


def test_it_sees_what_the_whole_body_leaves() -> None:
    opened, seen = session(
        "O(a, b) :- E(a, b), b > 2, Inspect see(a, b, ddlog_weight, 0), a > 1, M(b), not E(b, a)."
    )
    opened.insert("E", (1, 2), (1, 3), (2, 4), (2, 5), (5, 2))
    opened.insert("M", 2, 3, 4, 5)
    opened.commit()
    assert told(seen, "a", "b") == [(2, 4)]


def test_every_row_is_seen_also_equal_ones() -> None:
    opened, seen = session("O(a, 0) :- E(a, b), Inspect see(0, 0, ddlog_weight, 0), b >= 0.")
    opened.insert("E", *[(n, n) for n in range(200)])
    opened.commit()
    assert told(seen, WEIGHT) == [(1,)] * 200


PATHS = """
O(a, b) :- E(a, b).
O(a, c) :- O(a, b), E(b, c), Inspect see_nested(a, c, ddlog_weight, ddlog_timestamp).
"""


COUNTED = """
relation Ways(a: u32, n: u64)
Ways(a, n) :- O(a, b), var n = b.group_by(a).count().
O(a, 0) :- Ways(a, 100).
"""


@pytest.mark.parametrize("more", ["", COUNTED], ids=["monotone", "grouped"])
def test_iterations_of_a_recursion(more: str) -> None:
    opened, seen = session(PATHS + more)
    opened.insert("E", (1, 2), (2, 3), (3, 4))
    opened.commit()
    assert told(seen, "a", "c", WEIGHT, EPOCH, ITERATION) == [
        (1, 3, 1, 1, 1),
        (1, 4, 1, 1, 2),
        (2, 4, 1, 1, 1),
    ]
    opened.delete("E", (3, 4))
    opened.commit()
    assert told(seen, "a", "c", WEIGHT, EPOCH, ITERATION) == [(1, 4, -1, 2, 2), (2, 4, -1, 2, 1)]
    opened.insert("E", (3, 5))
    opened.commit()
    assert told(seen, "a", "c", WEIGHT, EPOCH, ITERATION) == [(1, 5, 1, 3, 2), (2, 5, 1, 3, 1)]


BODIES = {
    "join": "O(a, c) :- E(a, b), M(b), E(b, c), Inspect see(a, c, ddlog_weight, b as u64).",
    "recursion": """
        O(a, b) :- E(a, b).
        O(a, c) :- O(a, b), E(b, c), Inspect see(a, c, ddlog_weight, b as u64).
    """,
}
numbers = st.integers(0, 3)
changes = st.one_of(
    st.tuples(st.just("E"), st.tuples(numbers, numbers), st.sampled_from((1, 1, -1))),
    st.tuples(st.just("M"), st.tuples(numbers), st.sampled_from((1, 1, -1))),
)


@pytest.mark.parametrize("body", BODIES)
@trying(26)
@given(plan=st.lists(st.lists(changes, max_size=6), max_size=6))
def test_weights_sum_up_to_what_a_body_holds(
    body: str, plan: list[list[tuple[str, tuple[int, ...], int]]]
) -> None:
    opened, seen = session(BODIES[body])
    for transaction in plan:
        for relation, row, sign in transaction:
            (opened.insert if sign > 0 else opened.delete)(relation, row)
        opened.commit()
    edges = set(opened["E"].tuples())
    times = {a: weight for (a,), weight in opened["M"].weighted()}
    first = edges if body == "join" else set(opened["O"].tuples())
    held = {(a, b, c): times.get(b, 0) if body == "join" else 1 for a, b in first for x, c in edges if x == b}
    sums: Counter[tuple[int, ...]] = Counter()
    for each in seen:
        sums[each["a"], each["b"], each["c"]] += each[WEIGHT]
    assert {key: n for key, n in sums.items() if n} == {key: n for key, n in held.items() if n}


def test_making_timelines_has_no_effects() -> None:
    """The first deletion makes timelines, which nobody is told of."""
    opened, seen = session(PATHS)
    for edge in ((1, 2), (2, 3), (3, 4)):
        opened.insert("E", edge)
        opened.commit()
    seen.clear()
    opened.delete("E", (9, 9))
    opened.commit()
    assert not seen


def test_only_an_inspect_has_the_variables() -> None:
    with pytest.raises(DDlogError, match=r"4:3: head variable `ddlog_weight` is not bound"):
        ddlog.compile(
            "input relation E(a: u32)\noutput relation O(a: s64)\n"
            "O(0) :- E(_), Inspect ().\nO(ddlog_weight) :- E(_), Inspect ()."
        )


def test_a_variable_of_the_rule_comes_first() -> None:
    opened, seen = session("O(a, b) :- E(a, b), var ddlog_weight = 8, Inspect see(a, b, ddlog_weight, 0).")
    opened.insert("E", (1, 2))
    opened.commit()
    assert told(seen, "a", "b") == [(1, 2)]
    assert WEIGHT not in seen
