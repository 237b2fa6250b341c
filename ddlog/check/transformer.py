"""Applications of transformers as rules.

A transformer is a function in Python from all the rows of relations to all the rows of others. So
`apply T(In, f) -> (Out)` stands for rules that gather the rows of In in a vector, by a grouping without keys,
and take the vector that T gives apart. An empty relation has no group: the rows are gathered as Some{row},
with one None that is there always.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic, Note, counted
from ..names.environment import Environment
from ..names.modules import OTHER, RELATIONS, TRANSFORMERS, ModuleSyntax
from ..types import Opaque, Type, User
from .applications import RuleWriter
from .windows import check_window, is_window, window_rules


def check_applications(environment: Environment, module: ModuleSyntax) -> Iterator[Diagnostic]:
    """The errors in the applications of a module; notes the relations that they fill."""
    for each in module.all(OTHER):
        if isinstance(each, syntax.ApplyDecl):
            yield from _check(environment, module, each)
    for each in module.all(TRANSFORMERS):
        for port in each.outputs:
            if not isinstance(port.type, syntax.RelationType):
                yield errors.rules.TransformerOutput(span=port.span, name=port.name)


def _check(environment: Environment, module: ModuleSyntax, each: syntax.ApplyDecl) -> Iterator[Diagnostic]:
    transformer = _transformer(environment, module, each)
    if transformer is None:
        hint = environment.suggest(each.transformer, environment.names(TRANSFORMERS, module.name))
        yield environment.misnamed(
            TRANSFORMERS, each.transformer, each.span, module.name
        ) or errors.names.UnknownTransformer(span=each.span, name=each.transformer, help=hint)
        return
    for ports, names, noun in (
        (transformer.inputs, each.inputs, "input"),
        (transformer.outputs, each.outputs, "output"),
    ):
        if len(ports) != len(names):
            yield errors.rules.TransformerPorts(
                span=each.span, name=each.transformer, wanted=counted(len(ports), noun), given=len(names)
            )
    inputs = zip(transformer.inputs, each.inputs, strict=False)
    for port, name in (*inputs, *zip(transformer.outputs, each.outputs, strict=False)):
        if not isinstance(port.type, syntax.RelationType):
            continue
        if not isinstance(name, str):
            yield errors.rules.TransformerInput(span=name.span, name=port.name)
        elif environment.relation(name, module.name) is None:
            hint = environment.suggest(name, environment.names(RELATIONS, module.name))
            yield environment.misnamed(
                RELATIONS, name, each.span, module.name
            ) or errors.names.UnknownRelation(span=each.span, name=name, help=hint)
    for name in each.outputs:
        relation = environment.relation(name, module.name)
        if relation is None:
            continue
        if relation.role == "input":
            yield errors.rules.InputHead(span=each.span, name=name)
        if relation.name in environment.transformed:
            notes = (Note("filled here", environment.transformed[relation.name]),)
            yield errors.rules.TransformedHead(span=each.span, name=name, notes=notes)
        environment.transformed.setdefault(relation.name, each.span)
    if is_window(each):
        yield from check_window(environment, module, each, transformer.inputs)


def _transformer(
    environment: Environment, module: ModuleSyntax, each: syntax.ApplyDecl
) -> syntax.TransformerDecl | None:
    found = environment.find(TRANSFORMERS, each.transformer, module.name)
    return None if found is None else found[1]


def application(
    environment: Environment, module: ModuleSyntax, declaration: syntax.ApplyDecl
) -> list[syntax.RuleDecl]:
    """The rules that an application stands for; none after an error."""
    transformer = _transformer(environment, module, declaration)
    if transformer is None or len(transformer.inputs) != len(declaration.inputs):
        return []
    if is_window(declaration):
        known = len(transformer.outputs) == len(declaration.outputs)
        return window_rules(environment, module, declaration, transformer.inputs) if known else []
    writer = _TransformerRules(environment, module, declaration)
    arguments: list[syntax.Expr] = []
    for i, (port, name) in enumerate(zip(transformer.inputs, declaration.inputs, strict=True)):
        if not isinstance(port.type, syntax.RelationType):
            arguments.append(writer.name(name) if isinstance(name, str) else name)
        elif not isinstance(name, str) or environment.relation(name, module.name) is None:
            return []
        else:
            arguments.append(writer.gathered(i, name))
    if all(environment.relation(name, module.name) is not None for name in declaration.outputs):
        several = len(transformer.outputs) > 1
        for i, name in enumerate(declaration.outputs):
            writer.filled(name, i if several else None, arguments)
    return writer.rules


class _TransformerRules(RuleWriter):
    """The rules of an application of a function of all rows."""

    def __init__(self, environment: Environment, module: ModuleSyntax, apply: syntax.ApplyDecl) -> None:
        super().__init__(environment, apply)
        self.module = module
        self.terms: list[syntax.Clause] = []

    def some(self, *args: syntax.Expr) -> syntax.Expr:
        arguments = tuple(syntax.Argument(None, each, self.span) for each in args)
        return syntax.Struct(f"ddlog_std::{'Some' if args else 'None'}", arguments, self.span)

    def gathered(self, place: int, name: str) -> syntax.Expr:
        """Rules that make a vector of a relation's rows; gives the variable that holds it."""
        relation = self.environment.relation(name, self.module.name)
        assert relation is not None
        base = f"{relation.name}$of_{self.apply.transformer}_{self.span.line}_{self.span.column}_{place}"
        self.relation(base, User("ddlog_std::Option", (relation.record,)))
        self.relation(f"{base}{core.GATHERED}", Opaque("ddlog_std::Vec", (relation.record,)))
        row, rows = self.name("row"), self.name(f"rows{place}")
        new = syntax.VarDecl("all", self.span)
        self.rule(self.atom(base, self.some()))
        self.rule(self.atom(base, self.some(row)), self.atom(name, row))
        group = self.call("group_by", row, syntax.TupleExpr((), self.span))
        self.rule(
            self.atom(f"{base}{core.GATHERED}", self.call("ddlog_std::group_present", self.name("all"))),
            self.atom(base, row),
            self.let(new, group),
        )
        self.terms.append(self.atom(f"{base}{core.GATHERED}", rows))
        return rows

    def relation(self, name: str, record: Type) -> None:
        columns = (core.Column("value", record),)
        made = core.Relation(name, "internal", "relation", record, None, columns, None, self.span)
        self.environment.made[name] = self.environment.relations[name] = made

    def filled(self, output: str, place: int | None, arguments: list[syntax.Expr]) -> None:
        """The rule that puts the rows that the transformer gives in a relation."""
        given = self.call(self.apply.transformer, *arguments)
        rows = given if place is None else syntax.GetItem(given, place, self.span)
        row = syntax.VarDecl("row", self.span)
        found = self.let(row, syntax.FlatMap(rows, self.span))
        self.rule(self.atom(output, self.name("row")), *self.terms, found)
