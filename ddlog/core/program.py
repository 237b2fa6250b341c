"""A whole program without errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..types import TypeDef
from .pythonfile import PythonFile
from .relations import Function, Index, Relation
from .rules import Atom, Rule


@dataclass(frozen=True, slots=True)
class LoopBlock:
    """A loop. Its end: `rounds`, `empty`, the full name of a relation, or neither; `most` is its limit."""

    name: str
    rounds: int | None
    empty: str | None
    most: int | None
    span: Span = field(repr=False)


def loops_around(loops: Iterable[LoopBlock], span: Span) -> list[LoopBlock]:
    """The loops around a place, the outermost first."""
    found = [each for each in loops if span.within(each.span)]
    return sorted(found, key=lambda each: (each.span.line, each.span.column))


K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stratum:
    """Relations that depend on each other, and all rules with a head among them; or those of a loop, whose
    `strata` are those of one round."""

    relations: tuple[str, ...]
    recursive: bool
    rules: tuple[Rule, ...]
    loop: LoopBlock | None = None
    strata: tuple[Stratum, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program without errors. `strata` is in dependency order and holds every rule once. `externs` are the
    Python files that implement the extern functions of its modules, by their names. `array_keys` are the
    functions of the keys of maps that JSON writes as arrays, by constructor and field."""

    typedefs: Mapping[str, TypeDef]
    functions: Mapping[str, Function]
    relations: Mapping[str, Relation]
    rules: tuple[Rule, ...]
    strata: tuple[Stratum, ...]
    indexes: Mapping[str, Index] = field(default_factory=dict)
    array_keys: Mapping[tuple[str, str], str] = field(default_factory=dict, kw_only=True)
    externs: Mapping[str, PythonFile] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    @property
    def loops(self) -> tuple[LoopBlock, ...]:
        """All loops."""
        return tuple(_loops(self.strata))

    def __post_init__(self) -> None:
        for name in ("typedefs", "functions", "relations", "indexes", "array_keys", "externs"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))


def reads(program: CheckedProgram) -> dict[str, set[str]]:
    """The relations that each relation reads; those of a recursion or a loop all read each other."""
    found = {name: each.reads for name, each in program.relations.items()}
    for rule in program.rules:
        of_rule = rule.reads
        for head in rule.heads:
            found.setdefault(head.relation, set()).update(of_rule)
    for stratum in program.strata:
        for name in stratum.relations if len(stratum.relations) > 1 else ():
            found.setdefault(name, set()).update(stratum.relations)
    return found


def closed(names: Iterable[str], reads: Mapping[str, Iterable[str]]) -> set[str]:
    """The relations, and all that they read."""
    found, pending = set[str](), list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += reads.get(name, ())
    return found


def needed(program: CheckedProgram, wanted: Iterable[str], given: Collection[str] = ()) -> set[str]:
    """The relations that some are computed from, down to those that are given."""
    return closed(wanted, {name: each for name, each in reads(program).items() if name not in given})


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query as a rule without head, and its result `variables` in order of first occurrence.

    `functions` and `typedefs` are the instances that the query needs and its program does not have, and
    `auxiliary` the relations that it negates, each with the rule that fills it. `warnings` tell what
    the query perhaps does not mean.
    """

    rule: Rule
    variables: tuple[str, ...]
    functions: Mapping[str, Function]
    typedefs: Mapping[str, TypeDef]
    auxiliary: tuple[tuple[Relation, Rule], ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    def within(self, program: CheckedProgram) -> CheckedProgram:
        """The program with the functions, types and relations of the query."""
        if not self.functions and not self.typedefs and not self.auxiliary:
            return program
        return replace(
            program,
            functions={**program.functions, **self.functions},
            typedefs={**program.typedefs, **self.typedefs},
            relations={**program.relations, **{each.name: each for each, _ in self.auxiliary}},
        )

    def reads(self) -> tuple[Atom, ...]:
        """The terms over relations of the program."""
        made = {each.name for each, _ in self.auxiliary}
        rules = (*(rule for _, rule in self.auxiliary), self.rule)
        atoms = [each for rule in rules for each in rule.body if isinstance(each, Atom)]
        return tuple(each for each in atoms if each.relation not in made)


def _frozen(mapping: Mapping[K, T]) -> Mapping[K, T]:
    return mapping if isinstance(mapping, MappingProxyType) else MappingProxyType(mapping)


def _loops(strata: Sequence[Stratum]) -> Iterator[LoopBlock]:
    for stratum in strata:
        if stratum.loop is not None:
            yield stratum.loop
        yield from _loops(stratum.strata)
