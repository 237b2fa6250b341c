"""Modules: their declarations by name, and the library that every program sees.

The library is long and a program uses little of it. It is parsed once per installation; afterwards
its declarations are read one by one, when something names them, from a cache in the user's directory.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from .. import syntax
from ..errors.diagnostics import Diagnostic, InternalError, render
from ..errors.source import Source
from ..syntax.cachefiles import cache_directory, read_cached, write_cached
from ..syntax.hidden import ANY_MODULE, ANY_NAME

DeclarationTables: TypeAlias = dict[str, dict[str, list[Any]]]

TYPES, CONSTRUCTORS, FUNCTIONS, RELATIONS, OTHER = "types", "constructors", "functions", "relations", "other"
TRANSFORMERS = "transformers"
WINDOW = "window"
"""The module of the library whose transformers are operators of the engine, and no functions."""
IMPORT = "import"  # the name of imports among the others


@dataclass(slots=True)
class ModuleSyntax:
    """The declarations of a module by table and name; stored ones are decoded when asked for.
    `path` is the file of a module of the user's. `hidden`: see syntax/hidden.py."""

    name: str
    source: Source
    tables: DeclarationTables = field(default_factory=lambda: _empty())
    path: Path | None = None
    hidden: dict[str, Diagnostic] = field(default_factory=dict)

    def get(self, table: str, name: str) -> tuple[Any, ...]:
        """The declarations of a name."""
        stored = self.tables[table].get(name)
        if stored is None:
            return ()
        for i, each in enumerate(stored):
            if isinstance(each, bytes):
                stored[i] = _decode(each, self.source)
        return tuple(stored)

    def names(self, table: str) -> Iterable[str]:
        """All declared names of a table."""
        return self.tables[table]

    def all(self, table: str) -> Iterator[Any]:
        """All declarations of a table, in order of first occurrence of their names."""
        for name in self.tables[table]:
            yield from self.get(table, name)

    def imports(self) -> list[syntax.ImportDecl]:
        """The imports of the module."""
        return list(self.get(OTHER, IMPORT))

    def miss(self, wanted: syntax.ImportDecl, cause: Diagnostic) -> None:
        """Notes that a module which this one imports is not there."""
        self.hidden[f"{wanted.module}::"] = cause
        self.hidden[f"{wanted.alias}::" if wanted.alias else ANY_NAME] = cause

    def cause(self, name: str) -> Diagnostic | None:
        """The error that hides the module of a name, or may do so; None for no such error."""
        prefix = name.rpartition("::")[0]
        return self.hidden.get(f"{prefix}::") or (self.hidden.get(ANY_MODULE) if prefix else None)

    def qualified(self, name: str) -> str:
        """The name with the prefix of the module, as in other modules and printed values."""
        return f"{self.name}::{name}" if self.name else name


def _empty() -> DeclarationTables:
    return {key: {} for key in (TYPES, CONSTRUCTORS, FUNCTIONS, RELATIONS, TRANSFORMERS, OTHER)}


def index(name: str, source: Source, module: syntax.Module, path: Path | None = None) -> ModuleSyntax:
    """The declarations of a parsed module by name."""
    indexed = ModuleSyntax(name, source, path=path, hidden=dict(module.hidden))

    def put(table: str, key: str, declaration: Any) -> None:
        indexed.tables[table].setdefault(key, []).append(declaration)

    def every(declarations: Iterable[syntax.Declaration]) -> Iterator[syntax.Declaration]:
        for declaration in declarations:
            yield declaration
            if isinstance(declaration, syntax.LoopDecl):
                yield from every(declaration.declarations)

    for declaration in every(module.declarations):
        match declaration:
            case syntax.TypeDecl():
                put(TYPES, declaration.name, declaration)
                for constructor in declaration.constructors:
                    put(CONSTRUCTORS, constructor.name, declaration)
            case syntax.AliasDecl() | syntax.ExternTypeDecl():
                put(TYPES, declaration.name, declaration)
            case syntax.FunctionDecl():
                put(FUNCTIONS, declaration.name, declaration)
            case syntax.RelationDecl():
                put(RELATIONS, declaration.name, declaration)
                if declaration.fields is not None:
                    put(TYPES, declaration.name, declaration)
                    put(CONSTRUCTORS, declaration.name, declaration)
            case syntax.TransformerDecl():
                put(TRANSFORMERS, declaration.name, declaration)
                if name != WINDOW:
                    put(FUNCTIONS, declaration.name, _implementation(declaration))
            case syntax.ImportDecl():
                put(OTHER, IMPORT, declaration)
            case _:
                put(OTHER, "", declaration)
    return indexed


def _implementation(transformer: syntax.TransformerDecl) -> syntax.FunctionDecl:
    """The function that a transformer is: from vectors to one vector, or to a tuple of several."""

    def vector(port: syntax.Field) -> syntax.Type:
        if not isinstance(port.type, syntax.RelationType):
            return port.type
        return syntax.NamedType("ddlog_std::Vec", (port.type.element,), port.span)

    inputs = tuple(
        syntax.Parameter(each.name, vector(each), False, (), each.span) for each in transformer.inputs
    )
    outputs = tuple(map(vector, transformer.outputs))
    result = outputs[0] if len(outputs) == 1 else syntax.TupleType(outputs, transformer.span)
    span, name_span = transformer.span, transformer.name_span
    return syntax.FunctionDecl(transformer.name, inputs, result, None, (), span, name_span)


def bare_constructors(indexed: ModuleSyntax, elsewhere: Collection[str]) -> None:
    """`typedef N = M` where M is no type, not even of another module that this one sees (`elsewhere`),
    declares a constructor M, perhaps N itself."""
    types = indexed.tables[TYPES]
    for name, declarations in list(types.items()):
        for i, each in enumerate(declarations):
            match each:
                case syntax.AliasDecl(type=syntax.NamedType(other, (), span)) if other[:1].isupper() and (
                    other == name or other not in types
                ):
                    if other != name and other in elsewhere:
                        continue
                    constructor = syntax.ConstructorDecl(other, (), (), span)
                    made = syntax.TypeDecl(
                        name, each.parameters, (constructor,), each.attributes, each.span, each.name_span
                    )
                    declarations[i] = made
                    indexed.tables[CONSTRUCTORS].setdefault(other, []).append(made)


_loaded: dict[str, ModuleSyntax] = {}


def library() -> Mapping[str, ModuleSyntax]:
    """The modules that every program sees, by name."""
    from .. import stdlib

    if not _loaded:
        _loaded.update(load_modules(library_folder(), stdlib.AUTO_IMPORTED))
    return {name: _loaded[name] for name in stdlib.AUTO_IMPORTED}


def library_module(name: str) -> ModuleSyntax | None:
    """A module of the library; None for other names."""
    if name not in library() and name not in _loaded:
        if not module_file(library_folder(), name).is_file():
            return None
        _loaded.update(load_modules(library_folder(), (name,)))
    return _loaded[name]


def module_file(folder: Path, name: str) -> Path:
    """The path of a module in a folder of modules."""
    return folder.joinpath(*name.split("::")).with_suffix(".dl")


def library_folder() -> Path:
    from .. import stdlib

    return Path(str(stdlib.__file__)).parent


def load_modules(directory: Path, names: Iterable[str]) -> dict[str, ModuleSyntax]:
    """The named modules of a directory, from the cache if it is current."""
    sources = {name: Source(f"{name}.dl", module_file(directory, name).read_text("utf-8")) for name in names}
    path = _cache_path(sources)
    stored = read_cached(path)
    if stored is None:
        modules = {name: _parse(name, source) for name, source in sources.items()}
        content = {name: _encoded(module) for name, module in modules.items()}
        write_cached(path, pickle.dumps(content, pickle.HIGHEST_PROTOCOL))
        return modules
    tables: dict[str, DeclarationTables] = pickle.loads(stored)
    return {name: ModuleSyntax(name, source, tables[name]) for name, source in sources.items()}


def _parse(name: str, source: Source) -> ModuleSyntax:
    from ..syntax.parser import parse_program

    module, diagnostics = parse_program(source)
    if any(each.severity == "error" for each in diagnostics):
        raise InternalError(f"library module {name} does not parse:\n{render(diagnostics)}")
    return index(name, source, module)


def _cache_path(sources: Mapping[str, Source]) -> Path | None:
    digest = hashlib.blake2b(f"{sys.version} {sorted(sources)}".encode(), digest_size=16)
    language = Path(__file__).parents[1] / "syntax"
    for file in (Path(__file__), *sorted(language.rglob("*.py")), language / "grammar.lark"):
        digest.update(file.read_bytes())
    for name in sorted(sources):
        digest.update(sources[name].text.encode())
    directory = cache_directory()
    return directory and directory / f"library-{digest.hexdigest()}.pickle"


def _encoded(module: ModuleSyntax) -> DeclarationTables:
    return {
        table: {name: [_encode(each) for each in stored] for name, stored in entries.items()}
        for table, entries in module.tables.items()
    }


class _Pickler(pickle.Pickler):
    """Writes the source of a module as a reference to it."""

    def persistent_id(self, obj: Any) -> Any:
        return "source" if isinstance(obj, Source) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, source: Source) -> None:
        super().__init__(io.BytesIO(content))
        self._source = source

    def persistent_load(self, pid: Any) -> Source:
        return self._source


def _encode(declaration: Any) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(declaration)
    return buffer.getvalue()


def _decode(content: bytes, source: Source) -> Any:
    return _Unpickler(content, source).load()
