"""A checked program without a relation, of which nothing else is checked again.

The relation goes with its rules, and so do relations that were made for these rules alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import replace
from functools import cache

from .. import core, syntax
from ..errors.source import Source
from ..names.environment import Environment
from ..names.modules import IMPORT, OTHER, ModuleSyntax, library
from .elaboration import Elaborated


def without_relation(program: core.CheckedProgram, source: Source, name: str) -> core.CheckedProgram | None:
    """The program, whose text then is that of the source, without a relation that no other reads. None where
    more than relations and rules depends on it."""
    if not isinstance(program, Elaborated) or program.indexes or program.array_keys or program.loops:
        return None
    gone = _gone(program, name)
    if any(_rests_on(each, gone) for each in program.relations.values() if each.name not in gone):
        return None
    rules = tuple(rule for rule in program.rules if not _fills(rule, gone))
    if any(head.relation in gone for rule in rules for head in rule.heads) or _leaves_input(program, gone):
        return None

    def environment() -> Environment:
        before = program.declarations().modules
        return Environment({**before, "": _without(before[""], source, gone)}, tuple(library()))

    return replace(
        program,
        typedefs={each: of for each, of in program.typedefs.items() if each not in gone},
        relations={each: of for each, of in program.relations.items() if each not in gone},
        rules=rules,
        strata=tuple(each for each in program.strata if not gone.issuperset(each.relations)),
        declarations=cache(environment),
    )


def readers(program: core.CheckedProgram, name: str) -> dict[str, core.Rule]:
    """The declared relations that read a relation, directly or through relations that a translation made,
    each with a rule that does."""
    found: dict[str, core.Rule] = {}
    waiting, seen = deque([name]), {name}
    while waiting:
        at = waiting.popleft()
        for rule in program.rules:
            if at not in rule.reads:
                continue
            for head in rule.heads:
                if head.relation not in seen:
                    seen.add(head.relation)
                    declared = program.relations[head.relation]
                    if declared.hidden or declared.made:
                        waiting.append(head.relation)
                    else:
                        found[head.relation] = rule
    return found


def _gone(program: core.CheckedProgram, name: str) -> set[str]:
    """The relation, and those that a translation or the checker made and only these read."""
    users: dict[str, set[str]] = {}
    for rule in program.rules:
        for read in rule.reads:
            users.setdefault(read, set()).update(head.relation for head in rule.heads)
    for relation in program.relations.values():
        for read in relation.reads:
            users.setdefault(read, set()).add(relation.name)
    made = [each.name for each in program.relations.values() if each.hidden or each.made]
    gone = {name}
    while more := {each for each in made if each not in gone and users.get(each, {""}) <= gone}:
        gone |= more
    return gone


def _leaves_input(program: core.CheckedProgram, gone: set[str]) -> bool:
    """Whether the relations `gone` are the last declared ones that read some input, though rules that stay
    read it: a translation made these rules, as those of the clock of SQL."""
    read: set[str] = set()
    for name in gone:
        read |= program.relations[name].reads
    for rule in program.rules:
        if _fills(rule, gone):
            read |= rule.reads
    inputs = [each for each in read if program.relations[each].role == "input"]
    stays = {read for rule in program.rules if not _fills(rule, gone) for read in rule.reads}
    return any(each in stays and readers(program, each).keys() <= gone for each in inputs)


def _fills(rule: core.Rule | syntax.RuleDecl, gone: Collection[str]) -> bool:
    return all(head.relation in gone for head in rule.heads)


def _rests_on(relation: core.Relation, gone: Collection[str]) -> bool:
    """Whether a relation that stays is a window, an earlier state or a part of a relation that goes."""
    return any(each in gone for each in (*relation.reads, relation.name.partition("$")[0]))


def _without(main: ModuleSyntax, source: Source, gone: Collection[str]) -> ModuleSyntax:
    def stays(declaration: object) -> bool:
        match declaration:
            case syntax.RuleDecl():
                return not _fills(declaration, gone)
            case syntax.ApplyDecl(outputs=outputs):
                return not set(outputs) <= set(gone)
        return True

    tables = {
        table: {name: of for name, of in names.items() if name not in gone}
        for table, names in main.tables.items()
    }
    tables[OTHER] = {
        name: list(main.get(OTHER, name)) if name == IMPORT else [*filter(stays, main.get(OTHER, name))]
        for name in main.tables[OTHER]
    }
    return ModuleSyntax(main.name, source, tables, main.path, main.hidden)
