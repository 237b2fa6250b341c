"""The checker: a source text to a checked program, or to its errors."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from .. import core, errors, syntax
from ..errors.diagnostics import DDlogError, Diagnostic, InternalError, in_order
from ..errors.source import Source
from ..lowering.stratify import stratify
from ..names.imports import Modules, load_program
from ..names.modules import FUNCTIONS, OTHER, RELATIONS, ModuleSyntax, library
from ..names.scopes import Environment
from ..syntax.forrules import for_rules
from ..syntax.parser import parse_query
from ..types import UNIT
from .attributes import check_array_keys, check_attributes
from .context import Context, Scope
from .declarations import check_declarations
from .expr import infer
from .function import Instances
from .index import check_index, repeated_indexes
from .inspection import recursion
from .rule import check_rules, read_body
from .streams import stream_recursions
from .transformer import application, check_applications


@dataclass(frozen=True, slots=True)
class Elaborated(core.CheckedProgram):
    """A checked program with what is needed to check queries on it. A query may need further
    functions and types: they are added to `functions` and `typedefs`."""

    environment: Environment = field(compare=False, repr=False, kw_only=True)


def check_program(
    source: Source, library_paths: Iterable[Path | str] = ()
) -> tuple[core.CheckedProgram | None, list[Diagnostic]]:
    """The program, None if it has errors; and all errors and warnings, sorted by place. Modules that it
    imports are looked for in the folder of the source's file, then in the library paths.
    """
    with deep_recursion():
        modules, diagnostics = load_program(source, [Path(each) for each in library_paths])
        program = _check_modules(modules, diagnostics) if modules.whole else None
    ordered = in_order(diagnostics)
    if any(each.is_error for each in ordered):
        return None, ordered
    return program, ordered


def _check_modules(modules: Modules, diagnostics: list[Diagnostic]) -> core.CheckedProgram | None:
    environment = Environment(modules.all, tuple(library()))
    functions: dict[str, core.Function] = {}
    instances = Instances(environment, functions)
    for module in modules.own:
        diagnostics += check_declarations(environment, module)
    broken = [each for each in environment.diagnostics if each.is_error]
    rules: list[core.Rule] = []
    indexes: dict[str, core.Index] = {}
    for module in modules.own:
        diagnostics += check_applications(environment, module)
    written = {module.name: _written(environment, module) for module in modules.own}
    every = [(module, rule) for module in modules.own for each in written[module.name] for rule in each]
    is_recursive = recursion(environment, every)
    for module in modules.own:
        _functions(environment, module, instances)
        for declaration in module.all(RELATIONS):
            if declaration.key is not None:
                _primary_key(environment, module, declaration, instances, diagnostics)
        diagnostics += check_attributes(module)
        diagnostics += check_array_keys(environment, module, instances)
        rules += _rules(environment, module, written[module.name], is_recursive, instances, diagnostics)
        found, filling = _indexes(environment, module, instances, diagnostics)
        indexes |= found
        rules += filling
    instances.complete()
    rules += _library_rules(environment, modules, instances, diagnostics)
    diagnostics += instances.diagnostics
    diagnostics += environment.diagnostics
    declared = instances.erased(dict(environment.relations))
    rules = [instances.erased(rule) for rule in rules]
    indexes = {name: instances.erased(index) for name, index in indexes.items()}
    strata, cycles = stratify(declared, rules)
    diagnostics += cycles
    diagnostics += stream_recursions(declared, strata)
    if any(each.is_error for each in (*diagnostics, *broken)):
        return None
    diagnostics += _relation_warnings(declared, rules, indexes.values(), _library_relations(modules))
    typedefs = instances.erased(dict(environment.typedefs))
    externs = environment.externs
    return Elaborated(
        typedefs, functions, declared, tuple(rules), strata, indexes, environment=environment, externs=externs
    )


def _functions(environment: Environment, module: ModuleSyntax, instances: Instances) -> None:
    """Checks every function of a module, whether something calls it or not."""
    for name in module.names(FUNCTIONS):
        for signature in environment.functions(name, module.name):
            if signature.module == module.name:
                if signature.variables:
                    instances.generic(signature)
                else:
                    instances.demand(signature, ())


def _rules(
    environment: Environment,
    module: ModuleSyntax,
    declarations: Sequence[Sequence[syntax.RuleDecl]],
    is_recursive: Callable[[ModuleSyntax, syntax.RuleDecl], bool],
    instances: Instances,
    diagnostics: list[Diagnostic],
) -> list[core.Rule]:
    rules: list[core.Rule] = []
    for written in declarations:
        tests = [partial(is_recursive, module, each) for each in written]
        contexts = [
            Context(environment, module.name, demand=instances.demand, recursive=test) for test in tests
        ]
        made = check_rules(contexts, written)
        for context in contexts:
            diagnostics += context.diagnostics
            if made:
                environment.relations.update((each.name, each) for each, _ in context.auxiliary)
                rules += [rule for _, rule in context.auxiliary]
        rules += made
    return rules


def _written(environment: Environment, module: ModuleSyntax) -> list[tuple[syntax.RuleDecl, ...]]:
    """The rules that each declaration of a module stands for."""
    written: list[tuple[syntax.RuleDecl, ...]] = []
    for declaration in module.all(OTHER):
        match declaration:
            case syntax.RuleDecl():
                written.append((declaration,))
            case syntax.ForDecl():
                written.append(tuple(for_rules(declaration)))
            case syntax.ApplyDecl():
                written += [(each,) for each in application(environment, module, declaration)]
    return written


def _library_rules(
    environment: Environment, modules: Modules, instances: Instances, diagnostics: list[Diagnostic]
) -> list[core.Rule]:
    """The rules of those modules of the library of which the program uses a relation."""
    rules: list[core.Rule] = []
    waiting = _library_relations(modules)
    while used := waiting.keys() & environment.relations.keys():
        owners = {waiting[name].name: waiting[name] for name in sorted(used)}
        waiting = {name: module for name, module in waiting.items() if module.name not in owners}
        for module in owners.values():
            written = _written(environment, module)
            is_recursive = recursion(environment, [(module, rule) for each in written for rule in each])
            rules += _rules(environment, module, written, is_recursive, instances, diagnostics)
            instances.complete()
    return rules


def _library_relations(modules: Modules) -> dict[str, ModuleSyntax]:
    """The relations that modules of the library declare, each with its module."""
    own = {module.name for module in modules.own}
    theirs = [module for module in modules.all.values() if module.name not in own]
    return {module.qualified(name): module for module in theirs for name in module.names(RELATIONS)}


def _indexes(
    environment: Environment, main: ModuleSyntax, instances: Instances, diagnostics: list[Diagnostic]
) -> tuple[dict[str, core.Index], list[core.Rule]]:
    """The indexes of the module by name, and the rules of the hidden relations that they need."""
    indexes: dict[str, core.Index] = {}
    rules: list[core.Rule] = []
    declarations = [each for each in main.all(OTHER) if isinstance(each, syntax.IndexDecl)]
    diagnostics += repeated_indexes(declarations)
    for declaration in declarations:
        context = Context(environment, main.name, demand=instances.demand)
        made = check_index(context, declaration, main.qualified(declaration.name))
        diagnostics += context.diagnostics
        if made is not None:
            index, rule = made
            indexes[index.name] = index
            rules += [] if rule is None else [rule]
    return indexes, rules


def _primary_key(
    environment: Environment,
    main: ModuleSyntax,
    declaration: syntax.RelationDecl,
    instances: Instances,
    diagnostics: list[Diagnostic],
) -> None:
    """Adds to the relation the function that computes the key from the columns."""
    relation = environment.relation(declaration.name, main.name)
    key = declaration.key
    assert relation is not None and key is not None
    context = Context(environment, main.name, demand=instances.demand)
    scope = Scope()
    record = context.declare(scope, key.variable, relation.record, key.span)
    typed = infer(context, key.value, scope)
    context.solve()
    diagnostics += context.diagnostics
    if context.failed:
        return
    value = typed.build()
    names = [context.temporary() for _ in relation.columns]
    columns = tuple(
        core.Var(name, each.type, key.span) for name, each in zip(names, relation.columns, strict=True)
    )
    element: core.Expr = columns[0]
    if relation.constructor is not None:
        element = core.MakeStruct(relation.constructor, columns, relation.record, key.span)
    pattern = core.VarPattern(record.name, relation.record)
    declared = core.Declare(pattern, element, UNIT, key.span)
    function = core.Function(
        f"primary key of {relation.name}",
        main.name,
        f"primary key of {relation.name}",
        tuple(
            core.Parameter(name, each.type, False) for name, each in zip(names, relation.columns, strict=True)
        ),
        value.type,
        core.Block((declared, value), value.type, key.span),
        key.span,
    )
    environment.relations[relation.name] = dataclasses.replace(relation, key=function)


def _relation_warnings(
    relations: dict[str, core.Relation],
    rules: list[core.Rule],
    indexes: Iterable[core.Index],
    of_library: Container[str],
) -> list[Diagnostic]:
    read = {clause.relation for rule in rules for clause in rule.body if isinstance(clause, core.Atom)}
    read.update(name for index in indexes for name in (index.relation, index.source))
    read |= {relation.past[0] for relation in relations.values() if relation.past}
    filled = {head.relation for rule in rules for head in rule.heads}
    found: list[Diagnostic] = []
    for name, relation in relations.items():
        if name in of_library or relation.role == "delayed":
            continue
        if relation.role != "output" and name not in read:
            found.append(errors.names.UnusedRelation(span=relation.span, name=name))
        elif relation.role != "input" and name not in filled:
            found.append(errors.names.EmptyRelation(span=relation.span, name=name))
    return found


def check_query(program: core.CheckedProgram, source: Source) -> tuple[core.Rule, tuple[str, ...]]:
    """The query as a rule without head, and its result variables in order of first occurrence.

    A lone expression is the definition of a variable `value`; a lone relation name stands for all
    its columns. Raises DDlogError.
    """
    if not isinstance(program, Elaborated):
        raise InternalError("queries need a program from check_program")
    with deep_recursion():
        return _check_query(program, source)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room on Python's stack for expressions that nest as deeply as is allowed."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _check_query(program: Elaborated, source: Source) -> tuple[core.Rule, tuple[str, ...]]:
    query, found = parse_query(source)
    if any(each.is_error for each in found):
        raise DDlogError(found)
    environment = program.environment
    instances = Instances(environment, program.functions)
    context = Context(environment, "", demand=instances.demand)
    clauses = tuple(_query_clause(environment, each) for each in query.body)
    if len(clauses) == 1 and isinstance(clauses[0], syntax.Condition):
        clauses = (_value_clause(clauses[0]),)
    body = read_body(context, clauses)
    context.solve()
    built = () if context.failed else body.clauses()
    for made, _ in context.auxiliary:
        what = "patterns in a negated term of a query are"
        context.report(errors.unsupported.Unsupported(span=made.span, what=what))
    variables = {local.name: context.final(local.type) for local in body.locals}
    instances.complete()
    diagnostics = [*context.diagnostics, *instances.diagnostics, *environment.diagnostics]
    environment.diagnostics.clear()
    if any(each.is_error for each in diagnostics):
        raise DDlogError(diagnostics)
    program.typedefs.update(instances.erased(dict(environment.typedefs)))
    shown = tuple(local.name for name, local in body.scope.locals.items() if not name.startswith(("$", "_")))
    rule = core.Rule((), built, variables, source.text.strip(), query.span)
    return instances.erased(rule), shown


def _query_clause(environment: Environment, clause: syntax.Clause) -> syntax.Clause:
    """A bare relation name as an atom with a variable for each column."""
    match clause:
        case syntax.Condition(syntax.Struct(name, None, span), _):
            relation = environment.relation(name, "")
            if relation is not None:
                args = tuple(
                    syntax.Argument(None, syntax.Name(_variable_name(each.name), span), span)
                    for each in relation.columns
                )
                return syntax.Atom(name, args, None, span, span)
    return clause


def _variable_name(column: str) -> str:
    return f"column{column}" if column.isdigit() else column


def _value_clause(clause: syntax.Condition) -> syntax.Clause:
    """A lone expression as the definition of `value`."""
    expr = clause.expr
    if isinstance(expr, syntax.Assign):
        return clause
    return syntax.Condition(syntax.Assign(syntax.VarDecl("value", expr.span), expr, expr.span), clause.span)
