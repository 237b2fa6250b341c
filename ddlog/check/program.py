"""The checker: a source text to a checked program, or to its errors."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic, in_order
from ..errors.firstuse import told_once
from ..errors.source import Source
from ..lowering.loopstrata import stratify_loops
from ..names.environment import Environment
from ..names.imports import Modules, load_program
from ..names.modules import FUNCTIONS, OTHER, RELATIONS, ModuleSyntax, library
from ..syntax.forrules import for_rules
from ..syntax.stackroom import deep_recursion
from .attributes import check_array_keys, check_attributes
from .context import Context
from .declarations import check_declarations
from .elaboration import Elaborated
from .equalvalues import equal_values, explained
from .function import Instances
from .index import check_index, repeated_indexes
from .inspection import recursion
from .loops import check_places, declare_loops
from .primarykey import check_primary_key
from .products import products
from .rule import check_rules
from .streams import stream_recursions
from .transformer import application, check_applications
from .typesizes import check_types
from .unknownweights import unknown_weights
from .windows import check_times


def check_program(
    source: Source,
    library_paths: Iterable[Path | str] = (),
    tree: syntax.Module | None = None,
    known: Mapping[Path, bytes | None] | None = None,
) -> tuple[core.CheckedProgram | None, list[Diagnostic]]:
    """The program, None if it has errors; and all errors and warnings, sorted by place. Modules that it
    imports are looked for in the folder of the source's file, then in the library paths. `tree` is the
    program if its text is of another language. The files of `known` are not read.
    """
    with deep_recursion():
        modules, diagnostics = load_program(source, [Path(each) for each in library_paths], known, tree)
        program = _check_modules(modules, diagnostics)
    ordered = told_once(diagnostics)
    if any(each.is_error for each in ordered):
        return None, ordered
    return program, ordered


def check_declared(
    modules: Modules, parts: Sequence[ModuleSyntax]
) -> tuple[list[core.Rule], list[Diagnostic]]:
    """The rules that some declarations of a program's modules make, and the errors and warnings in them that
    need no other rule. A part is a module with these declarations only."""
    diagnostics: list[Diagnostic] = []
    with deep_recursion():
        found = declared_in(modules, parts, diagnostics)
    return found.rules, in_order(diagnostics)


@dataclass(slots=True)
class DeclaredModules:
    """The declarations of modules, each checked by itself, before the checks of the program as a whole."""

    environment: Environment
    instances: Instances
    rules: list[core.Rule]
    indexes: dict[str, core.Index]
    array_keys: dict[tuple[str, str], str]
    broken: list[Diagnostic]


def declared_in(
    modules: Modules,
    parts: Sequence[ModuleSyntax],
    diagnostics: list[Diagnostic],
    known: Iterable[str] = (),
) -> DeclaredModules:
    """The declarations of some modules, the parts of a program's, each checked by itself. Adds their errors
    and warnings. The instances of functions that are `known` are not checked again."""
    environment = Environment(modules.all, tuple(library()))
    instances = Instances(environment, known)
    for module in parts:
        diagnostics += check_declarations(environment, module)
        diagnostics += declare_loops(environment, module)
    diagnostics += check_types(environment, parts)
    broken = [each for each in environment.diagnostics if each.is_error]
    rules: list[core.Rule] = []
    indexes: dict[str, core.Index] = {}
    array_keys: dict[tuple[str, str], str] = {}
    for module in parts:
        diagnostics += check_applications(environment, module)
    written = {module.name: _written(environment, module) for module in modules.own}
    every = [(module, rule) for module in modules.own for each in written[module.name] for rule in each]
    is_recursive = recursion(environment, every)
    for module in parts:
        _functions(environment, module, instances)
        for declaration in module.all(RELATIONS):
            if declaration.key is not None:
                check_primary_key(environment, module, declaration, instances, diagnostics)
        diagnostics += check_attributes(module)
        diagnostics += check_array_keys(environment, module, instances, array_keys)
        own = written[module.name] if module in modules.own else _written(environment, module)
        rules += _rules(environment, module, own, is_recursive, instances, diagnostics)
        found, filling = _indexes(environment, module, instances, diagnostics)
        indexes |= found
        rules += filling
    instances.complete()
    rules += _library_rules(environment, modules, instances, diagnostics)
    diagnostics += instances.diagnostics
    diagnostics += environment.diagnostics
    return DeclaredModules(environment, instances, rules, indexes, array_keys, broken)


def _check_modules(modules: Modules, diagnostics: list[Diagnostic]) -> core.CheckedProgram | None:
    found = declared_in(modules, modules.own, diagnostics)
    environment, instances, rules, indexes = found.environment, found.instances, found.rules, found.indexes
    declared = instances.erased(dict(environment.relations))
    rules = [instances.erased(rule) for rule in rules]
    indexes = {name: instances.erased(index) for name, index in indexes.items()}
    diagnostics += check_times(declared, rules)
    diagnostics += check_places(environment, declared, rules)
    strata, cycles = stratify_loops(declared, rules, environment.loops)
    diagnostics += cycles
    diagnostics += stream_recursions(declared, strata)
    if any(each.is_error for each in (*diagnostics, *found.broken)):
        return None
    grouping = [each for module in modules.own for each in module.all(OTHER)]
    merged = equal_values(declared, instances.functions, rules, grouping)
    diagnostics[:] = [*explained(diagnostics, merged), *merged]
    diagnostics += products(declared, rules, grouping)
    typedefs = instances.erased(dict(environment.typedefs))
    diagnostics += unknown_weights(strata, instances.functions, typedefs, environment.externs)
    diagnostics += unused_relations(declared, rules, indexes.values(), _library_relations(modules))
    return Elaborated(
        typedefs,
        instances.functions,
        declared,
        tuple(rules),
        strata,
        indexes,
        declarations=lambda: environment,
        files=modules.files,
        array_keys=found.array_keys,
        externs=environment.externs,
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
        contexts = [Context(environment, module.name, instances, recursive=test) for test in tests]
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
    """The rules of each library module of which the program uses a relation."""
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
        context = Context(environment, main.name, instances)
        made = check_index(context, declaration, main.qualified(declaration.name))
        diagnostics += context.diagnostics
        if made is not None:
            index, rule = made
            aliases = environment.aliases(main, declaration.name)
            indexes[index.name] = replace(index, aliases=aliases)
            rules += [] if rule is None else [rule]
    return indexes, rules


def unused_relations(
    relations: Mapping[str, core.Relation],
    rules: Sequence[core.Rule],
    indexes: Iterable[core.Index],
    of_library: Container[str],
) -> list[Diagnostic]:
    """A warning for each declared relation that no rule or index reads, or that no rule fills. Inputs that an
    imported module declares may be for other programs."""
    read = {name for index in indexes for name in (index.relation, index.source)}
    read.update(*(rule.reads for rule in rules), *(relation.reads for relation in relations.values()))
    filled = {head.relation for rule in rules for head in rule.heads}
    found: list[Diagnostic] = []
    for name, relation in relations.items():
        imported = "::" in name and relation.role == "input"
        if imported or name in of_library or relation.role in ("delayed", "earlier") or relation.window:
            continue
        if relation.role != "output" and name not in read:
            help_ = "read it in a rule, or remove it" if relation.role == "input" else ""
            found.append(errors.names.UnusedRelation(span=relation.span, name=name, help=help_))
        elif relation.role != "input" and name not in filled:
            found.append(errors.names.EmptyRelation(span=relation.span, name=name))
    return found
