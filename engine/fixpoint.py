"""Fixpoints: iteration over the rules of mutually recursive relations, whatever the runtime.

An epoch begins with the changes from outside, which enter at iteration 0. Each iteration then takes the
changes of the relations that are pending at it, the *deltas*, and runs the rules from them. A row derived
from rows of iteration i at the latest reaches its head at iteration i + 1:

    imports ──► seed ──► pending at 0 ──► iterate ──► pending at 1 ──► iterate ──► …  until nothing is
                               │             │             ▲
                               └── delta 0 ──┴── rules ────┘        (the z⁻¹ of the feedback)

The loop is the same for both memories of a recursion, which differ in what a delta is:

- **Growing sets**, while rows only come: the delta is the rows that the last iteration derived for the first
  time. The loop is semi-naive evaluation.
- **Ranks**, once something may shrink: the delta is the change of *distinct* at an iteration
  (`ranks`). Derivations may lie at later iterations than the next one; iterations with nothing pending are
  skipped.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Protocol, TypeVar

from .circuit import Constant
from .rules import FixpointRule, Source
from .versions import Seen, versions

J = TypeVar("J")


class Memory(Protocol[J]):
    """The relations of a recursion and its imports during one epoch, as a runtime holds them."""

    def changed(self, source: Source) -> int:
        """The number of rows in the change of a source with which an epoch begins."""

    def assert_facts(self, head: str, facts: Constant) -> None:
        """Derives facts, at iteration 0."""

    def derive(self, rule: FixpointRule[J], start: int | None, seen: Seen) -> None:
        """Derives the rows of a rule's heads: the join of the change of term `start` with the other terms,
        each seen with its change or without. Before the first iteration the change is the one that the
        epoch began with, and after it the delta. `start` None: of all terms, which are negated."""

    def merge(self) -> None:
        """Takes in the rows derived since the last call: they become pending."""

    def next_iteration(self) -> int | None:
        """The least iteration at which changes are pending; None if there are none."""

    def advance(self, time: int) -> Container[str]:
        """Makes the changes pending at an iteration the deltas. Returns the relations that have one."""


def seed(
    rules: Sequence[FixpointRule[J]], facts: Sequence[tuple[str, Constant]], memory: Memory[J], first: bool
) -> None:
    """Derives the consequences of the changes with which an epoch begins. `first`: every row is new."""
    if first:
        for head, constant in facts:
            memory.assert_facts(head, constant)
    for rule in rules:
        sizes = [memory.changed(source) for source in rule.sources]
        if not (first or any(sizes)):
            continue
        for start, seen in versions(rule.node.terms, sizes, first):
            memory.derive(rule, start, seen)
    memory.merge()


def iterate(rules: Sequence[FixpointRule[J]], memory: Memory[J], time: int) -> None:
    """One iteration: derives the rows that follow from the changes of the relations at `time`."""
    derive_from(memory.advance(time), rules, memory)
    memory.merge()


def derive_from(changed: Container[str], rules: Sequence[FixpointRule[J]], memory: Memory[J]) -> None:
    """Derives the rows that follow from the deltas of some relations."""
    for rule in rules:
        for start, relation, seen in rule.starts:
            if relation in changed:
                memory.derive(rule, start, seen)
