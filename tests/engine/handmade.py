"""A program put together by hand, so that sessions are tested without a front end: `TEXT` as core."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from ddlog.core import CheckedProgram, Column, Function, Parameter, Relation
from ddlog.engine.circuit import Circuit, Constant, Distinct, Input, Join, Output, Term
from ddlog.engine.incremental import incrementalize
from ddlog.engine.schema import Column as Stored
from ddlog.engine.schema import Kind, Schema
from ddlog.errors.source import Source
from ddlog.sessions.hosts.inprocess import InProcessHost
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session
from ddlog.values.layouts import Layouts

from .declared import PLACE, S32, STRING, pair, relation, typedefs
from .reference_runtime import ReferenceRuntime

TEXT = """
input relation Edge(a: signed<32>, b: signed<32>)
input relation Host(id: signed<32>, name: string) primary key (x) x.id
input multiset Bag(word: string)
input relation Pairs[(signed<32>, signed<32>)]
output relation Two(a: signed<32>, c: signed<32>)
Two(a, c) :- Edge(a, b), Edge(b, c).
output multiset Words(word: string)
Words(w) :- Bag(w).
output relation Named(b: signed<32>, name: string)
Named(b, n) :- Edge(_, b), Host(b, n).
relation Fixed(a: signed<32>)
Fixed(7).
"""
KEY = Function("key", "", "key", (Parameter("id", S32, False),), S32, None, PLACE)
PAIRS = Relation(
    "Pairs", "input", "relation", pair(S32, S32), None, (Column("value", pair(S32, S32)),), None, PLACE
)
RELATIONS = {
    each.name: each
    for each in (
        relation("Edge", a=S32, b=S32),
        dataclasses.replace(relation("Host", id=S32, name=STRING), key=KEY),
        relation("Bag", kind="multiset", word=STRING),
        PAIRS,
        relation("Two", "output", a=S32, c=S32),
        relation("Words", "output", "multiset", word=STRING),
        relation("Named", "output", b=S32, name=STRING),
        relation("Fixed", "internal", a=S32),
    )
}


def schema(name: str) -> Schema:
    kinds = {"signed<32>": Kind.INT}
    layouts = Layouts(typedefs(*RELATIONS.values()))
    return tuple(
        Stored(each, kinds.get(str(of), Kind.OBJECT), str(of))
        for column in RELATIONS[name].columns
        for each, of in layouts.columns(column.name, column.type)
    )


def circuit() -> Circuit:
    """The relational circuit."""
    two, words, named = schema("Two"), schema("Words"), schema("Named")
    nodes = (
        Input("Edge", schema("Edge")),
        Input("Host", schema("Host")),
        Input("Bag", schema("Bag"), multiset=True),
        Input("Pairs", schema("Pairs")),
        Constant(((7,),), schema("Fixed")),
        Join((Term(0, ("a", "b")), Term(0, ("b", "c"))), (), ("a", "c"), two),
        Distinct(5, two),
        Output("Two", 6, two),
        Output("Words", 2, words),
        Join((Term(0, (None, "b")), Term(1, ("b", "name"))), (), ("b", "name"), named),
        Distinct(9, named),
        Output("Named", 10, named),
    )
    places = {"Edge": 0, "Host": 1, "Bag": 2, "Pairs": 3, "Fixed": 4, "Two": 6, "Words": 2, "Named": 10}
    return Circuit(nodes, tuple(places.items()))


class Handmade(Program):
    """The program above."""

    def __init__(self) -> None:
        checked = CheckedProgram(typedefs(*RELATIONS.values()), {}, RELATIONS, (), ())
        super().__init__(Source("handmade.dl", ""), checked)

    def circuit(
        self, stage: str = "incremental", outputs: Iterable[str] | None = None, *, records: str = "columns"
    ) -> Circuit:
        return circuit() if stage == "relational" else incrementalize(circuit())

    def key_function(self, relation: Relation) -> Callable[[tuple[Any, ...]], Any]:
        return lambda row: row[0]


def session(engine: str) -> Session:
    """A session of the program on the runtime `inprocess` or `reference`."""
    program = Handmade()
    if engine == "inprocess":
        return program.session()
    made = circuit()
    return Session(
        program, InProcessHost(program, ReferenceRuntime(made)), frozenset(name for name, _ in made.relations)
    )
