"""`--output-internal-relations`: a program whose internal relations are output relations, too."""

from __future__ import annotations

from dataclasses import replace

from ..core import CheckedProgram, Head, Relation, Rule, Stratum
from ..errors.source import Source, Span
from ..types import Constructor, TypeDef, User

SINGLETON = "ddlog_std::Singleton"


def exposed(program: CheckedProgram, source: Source) -> CheckedProgram:
    """The program with every declared internal relation as an output relation."""
    relations = {name: _exposed(relation) for name, relation in program.relations.items()}
    if SINGLETON in relations:
        return replace(program, relations=relations)
    span = Span(source, 1, 1, 1, 1)
    constructor = Constructor(SINGLETON, 0, ())
    typedef = TypeDef(SINGLETON, (), (constructor,))
    relations[SINGLETON] = Relation(
        SINGLETON, "output", "relation", User(SINGLETON), constructor, (), None, span
    )
    fact = Rule((Head(SINGLETON, (), span),), (), {}, f"{SINGLETON}().", span)
    return replace(
        program,
        typedefs={**program.typedefs, SINGLETON: typedef},
        relations=relations,
        rules=(*program.rules, fact),
        strata=(*program.strata, Stratum((SINGLETON,), False, (fact,))),
    )


def _exposed(relation: Relation) -> Relation:
    return (
        replace(relation, role="output") if relation.role == "internal" and not relation.hidden else relation
    )
