"""The scopes of a name: its module, the modules that this one imports, and those of its prefix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import errors
from ..errors.diagnostics import Diagnostic
from ..errors.nearest import meant, nearest
from ..errors.source import Span
from .modules import ModuleSyntax

SPELLINGS = {"Vector": "Vec", "toString": "to_string"}


@dataclass(frozen=True, slots=True)
class ModuleScope:
    """The modules that a module sees: `plain` need no prefix, nearest first; `imported` are those among them
    that it imports; `prefixed` are the modules of each prefix."""

    plain: list[ModuleSyntax]
    imported: list[ModuleSyntax]
    prefixed: dict[str, list[ModuleSyntax]]


class Names:
    """The names of modules, as each module sees them."""

    def __init__(self, modules: Mapping[str, ModuleSyntax], everywhere: Sequence[str]) -> None:
        self.modules = dict(modules)
        self.everywhere = tuple(everywhere)
        self._scopes: dict[str, ModuleScope] = {}

    def visible(self, name: str, module: str) -> tuple[str, list[ModuleSyntax]]:
        """The name without its prefix, and the modules to look for it in, nearest first."""
        prefix, _, last = name.rpartition("::")
        scope = self._scope(module)
        return last, scope.prefixed.get(prefix, []) if prefix else scope.plain

    def _scope(self, module: str) -> ModuleScope:
        if module not in self._scopes:
            own = self.modules[module]
            imports = own.imports()
            known = [(each, self.modules[each.module]) for each in imports if each.module in self.modules]
            imported = list({id(found): found for each, found in known if each.alias is None}.values())
            everywhere = [self.modules[name] for name in self.everywhere]
            plain = list({id(each): each for each in (own, *imported, *everywhere)}.values())
            prefixed = {each.name: [each] for each in (*plain, *(found for _, found in known))}
            prefixed |= {each.module: [found] for each, found in known}
            for each, found in known:
                if each.alias is not None and found not in prefixed.setdefault(each.alias, []):
                    prefixed[each.alias].append(found)
            self._scopes[module] = ModuleScope(plain, imported, prefixed)
        return self._scopes[module]

    def find(self, table: str, name: str, module: str) -> tuple[ModuleSyntax, Any] | None:
        """The declaration of a name in the nearest module that has one; None if several imports have it. A
        name that nothing declares may be another spelling."""
        if len(self._rivals(table, name, module)) > 1:
            return None
        found = next(self.declarations(table, name, module), None)
        if found is None and name in SPELLINGS:
            return self.find(table, SPELLINGS[name], module)
        return found

    def aliases(self, owner: ModuleSyntax, name: str) -> tuple[str, ...]:
        """The names that a declaration of a module has in the program's own by aliases of imports."""
        imports = self.modules[""].imports() if owner.name and "" in self.modules else ()
        return tuple(f"{each.alias}::{name}" for each in imports if each.alias and each.module == owner.name)

    def declarations(self, table: str, name: str, module: str) -> Iterator[tuple[ModuleSyntax, Any]]:
        """The declarations of a name, one of each module that it may be in, nearest first."""
        last, modules = self.visible(name, module)
        return ((each, found) for each in modules for found in each.get(table, last)[:1])

    def _rivals(self, table: str, name: str, module: str) -> list[str]:
        """The imported modules, or those of the prefix, that have a name which the module itself does not
        declare."""
        last, modules = self.visible(name, module)
        imported = modules if "::" in name else self._scope(module).imported
        if len(imported) < 2 or (imported is not modules and self.modules[module].get(table, name)):
            return []
        return [each.name for each in imported if each.get(table, last)]

    def names(self, table: str, module: str) -> list[str]:
        """All names of a table that a module sees, with the prefixes that they may have."""
        scope = self._scope(module)
        plain = [name for each in scope.plain for name in each.names(table)]
        return plain + [
            f"{prefix}::{name}"
            for prefix, modules in scope.prefixed.items()
            for each in modules
            for name in each.names(table)
            if prefix
        ]

    def misnamed(self, table: str, name: str, span: Span, module: str) -> Diagnostic | None:
        """The error for a name that an earlier error hides, whose prefix is no module, or that several
        imported modules have; None when there is nothing wrong with it."""
        cause = self.hiding(name, module) or self.modules[module].cause(name)
        if cause is not None:
            return cause
        rivals = self._rivals(table, name, module)
        if len(rivals) > 1:
            return errors.modules.Ambiguous(span=span, name=name, modules=tuple(rivals))
        prefix = name.rpartition("::")[0]
        known = self._scope(module).prefixed
        if not prefix or prefix in known:
            return None
        close = nearest(prefix, known) if len(prefix) > 2 else None
        return errors.modules.UnknownModule(span=span, name=prefix, help=meant(close))

    def hiding(self, name: str, module: str) -> Diagnostic | None:
        """The error that hides a declaration of the name which the module would see."""
        last, modules = self.visible(name, module)
        return next((each.hidden[last] for each in modules if last in each.hidden), None)

    def suggest(self, name: str, candidates: Iterable[str]) -> str:
        """A help text with the candidate nearest to the name, with the same prefix; empty when none is
        near."""
        prefix, last = name.rpartition("::")[::2]
        same = {each for each in candidates if each.rpartition("::")[0] == prefix}
        close = nearest(last, {each.rpartition("::")[2] for each in same}) if len(last) > 2 else None
        return meant(f"{prefix}::{close}" if close and prefix else close)
