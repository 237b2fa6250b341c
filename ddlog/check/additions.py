"""A checked program with more declarations: these alone are checked, beside what is there.

    checked program ── its environment ──▶ new declarations, checked ──▶ both, and the strata of the new ones

What is there means what it meant, if the new declarations have names that nothing has, and rules for new
relations alone. Others are refused here: the program is then to be checked as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .. import core, syntax
from ..errors.diagnostics import Diagnostic, in_order
from ..errors.source import Source
from ..lowering.loopstrata import stratify_loops
from ..names.imports import Modules
from ..names.modules import OTHER, RELATIONS, ModuleSyntax, index
from ..syntax.stackroom import deep_recursion
from .elaboration import Elaborated
from .equalvalues import equal_values, explained
from .products import products
from .program import DeclaredModules, declared_in
from .streams import stream_recursions
from .unknownweights import unknown_weights

_ADDED = (syntax.RelationDecl, syntax.RuleDecl, syntax.ApplyDecl, syntax.TypeDecl)


def check_added(
    program: core.CheckedProgram, source: Source, added: syntax.Module
) -> tuple[core.CheckedProgram, list[Diagnostic]] | None:
    """The program with declarations at the end of its main module, whose text then is that of the source, and
    the warnings about them. None if they have errors, or may change what others mean."""
    if not isinstance(program, Elaborated) or program.array_keys:
        return None
    with deep_recursion():
        before = program.declarations()
        part = _part(before.modules, source, added)
        if part is None:
            return None
        main = _joined(before.modules[""], part)
        modules = Modules({**before.modules, "": main}, (part,), program.files)
        diagnostics: list[Diagnostic] = []
        found = declared_in(modules, (part,), diagnostics, program.functions)
        if any(each.is_error for each in (*diagnostics, *found.broken)):
            return None
        return _both(program, found, part, diagnostics)


def _part(modules: Mapping[str, ModuleSyntax], source: Source, added: syntax.Module) -> ModuleSyntax | None:
    """The declarations as a module; None if they are not to be checked alone."""
    declared = [each for each in added.declarations if not isinstance(each, syntax.ImportDecl)]
    imports = {(each.module, each.alias) for each in modules[""].imports()}
    wanted = [(each.module, each.alias) for each in added.declarations if isinstance(each, syntax.ImportDecl)]
    if not imports.issuperset(wanted) or not all(isinstance(each, _ADDED) for each in declared):
        return None
    part = index("", source, replace(added, declarations=tuple(declared)), modules[""].path)
    names = {name for table, of in part.tables.items() if table != OTHER for name in of}
    filled = {head.relation for each in declared if isinstance(each, syntax.RuleDecl) for head in each.heads}
    filled.update(name for each in declared if isinstance(each, syntax.ApplyDecl) for name in each.outputs)
    if not filled <= part.tables[RELATIONS].keys() or any(_has(each, names) for each in modules.values()):
        return None
    return part


def _has(module: ModuleSyntax, names: Iterable[str]) -> bool:
    return any(name in table for table in module.tables.values() for name in names)


def _joined(main: ModuleSyntax, part: ModuleSyntax) -> ModuleSyntax:
    tables = {
        table: {**of, **{name: [*of.get(name, ()), *more] for name, more in part.tables[table].items()}}
        for table, of in main.tables.items()
    }
    return ModuleSyntax(main.name, part.source, tables, main.path, main.hidden)


def _both(
    program: Elaborated, found: DeclaredModules, part: ModuleSyntax, diagnostics: list[Diagnostic]
) -> tuple[core.CheckedProgram, list[Diagnostic]] | None:
    environment, instances = found.environment, found.instances
    relations = {
        name: each
        for name, each in instances.erased(dict(environment.relations)).items()
        if name not in program.relations
    }
    rules = [
        instances.erased(rule)
        for rule in found.rules
        if any(head.relation in relations for head in rule.heads)  # and not one of the library once more
    ]
    strata, cycles = stratify_loops(relations, rules, ())
    diagnostics += [*cycles, *stream_recursions(relations, strata)]
    if any(each.is_error for each in diagnostics):
        return None
    functions = {**instances.functions, **program.functions}
    every, rules_of_all = {**program.relations, **relations}, (*program.rules, *rules)
    grouping = list(part.all(OTHER))
    merged = equal_values(every, functions, rules_of_all, grouping)
    diagnostics[:] = [*explained(diagnostics, merged), *merged, *products(every, rules_of_all, grouping)]
    typedefs = {**instances.erased(dict(environment.typedefs)), **program.typedefs}
    environment.externs = {**environment.externs, **program.externs}
    diagnostics += unknown_weights(strata, functions, typedefs, environment.externs)
    made = replace(
        program,
        typedefs=typedefs,
        functions=functions,
        relations=every,
        rules=rules_of_all,
        strata=(*program.strata, *strata),
        externs=environment.externs,
        declarations=lambda: environment,
    )
    return made, in_order(diagnostics)
