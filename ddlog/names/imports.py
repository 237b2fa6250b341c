"""Imports: the modules that a program names, those that they name, and where their files are.

`import a::b` is the file a/b.dl, or a/b.sql, in the folder of the main file, in a folder of -L or in
$DDLOG_HOME/lib, and in one of them only; if it is in none, the module of the library. So it is if the file
is a module of that name from another installation, whose extern functions have no Python. Modules may import
each other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import syntax
from ..errors import modules as errors
from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.nearest import nearest
from ..errors.souffle import ProgramOfSouffle
from ..errors.source import Source, not_utf8, program_bytes, program_text
from ..sql.translate import translate
from ..syntax.lexer import Places
from ..syntax.parser import parse_program
from .modules import (
    FUNCTIONS,
    TYPES,
    ModuleSyntax,
    bare_constructors,
    index,
    library,
    library_folder,
    library_module,
    module_file,
)

# A declaration of Soufflé, in a text that is none of this language.
_SOUFFLE = re.compile(
    r'^[ \t]*(\.(?:decl|comp|init|type|input|output|printsize|functor|pragma))[ \t]+["\w]', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Modules:
    """The modules of a program by name, the main one "" first; `own` are those that are not the library's.
    `files` are the contents of all files that were looked for, None for those that do not exist."""

    all: dict[str, ModuleSyntax]
    own: tuple[ModuleSyntax, ...]
    files: Mapping[Path, bytes | None]


def load_program(
    source: Source,
    library_paths: Sequence[Path],
    known: Mapping[Path, bytes | None] | None = None,
    tree: syntax.Module | None = None,
) -> tuple[Modules, list[Diagnostic]]:
    """The main module with all that it imports, and the errors in their texts. The files of `known` are not
    read again. `tree` is the main module if its text is of another language; it imports nothing from the
    folder of that text. A module that imports the main one sees that one, not another like it."""
    contents = dict(known or {})
    folders = _folders(source if tree is None else None, library_paths)
    parsed, found = _parsed(source) if tree is None else (tree, [])
    path = Path(source.name)
    has_externs = (tree is not None or path.suffix == ".dl") and path.is_file()
    main = index("", source, parsed, path if has_externs else None)
    modules: dict[str, ModuleSyntax] = {"": main, **library()}
    own, waiting = [main], [(main, each) for each in main.imports()]
    while waiting:
        importer, wanted = waiting.pop(0)
        if wanted.module in modules and wanted.module not in library():
            continue
        files = _files(wanted.module, folders, contents)
        module: ModuleSyntax | None = None
        if len(files) > 1:
            found.append(
                errors.SeveralModules(
                    span=wanted.span, name=wanted.module, files=" and ".join(map(str, files))
                )
            )
        elif files and main.path is not None and files[0].resolve() == main.path.resolve():
            module = modules[wanted.module] = main
        elif files:
            module = _read_whole(wanted, files[0], source.dialect, contents, found)
        else:
            module = library_module(wanted.module)
            if module is None:
                found.append(_missing(wanted, folders))
        if module is None:
            importer.miss(wanted, found[-1])
        elif module is not modules.get(module.name):
            modules[module.name] = module
            waiting += [(module, each) for each in module.imports()]
            if files and module is not library_module(module.name):
                own.append(module)
    for each in own:
        bare_constructors(each, _types_seen(each, modules))
    return Modules(modules, tuple(own), contents), found


def _folders(source: Source | None, library_paths: Sequence[Path]) -> list[Path]:
    """The folders to search, each once."""
    main = None if source is None else Path(source.name)
    folders = [main.parent] if main is not None and main.is_file() else []
    folders += library_paths
    home = os.environ.get("DDLOG_HOME")
    if home:
        folders.append(Path(home) / "lib")
    return list({folder.resolve(): folder for folder in reversed(folders)}.values())[::-1]


def _files(name: str, folders: Sequence[Path], contents: dict[Path, bytes | None]) -> list[Path]:
    files = [module_file(folder, name).with_suffix(end) for folder in folders for end in (".dl", ".sql")]
    return [file for file in files if _exists(file, contents)]


def _exists(file: Path, contents: dict[Path, bytes | None]) -> bool:
    if file not in contents and not file.is_file():
        contents[file] = None
    return file not in contents or contents[file] is not None


def _read_whole(
    wanted: syntax.ImportDecl,
    file: Path,
    dialect: str,
    contents: dict[Path, bytes | None],
    found: list[Diagnostic],
) -> ModuleSyntax | None:
    """The module of a file; that of the library, if it has the name and the file lacks its extern half."""
    module = _read(wanted, file, dialect, contents, found)
    standard = library_module(wanted.module)
    if module is None or standard is None or _exists(file.with_suffix(".py"), contents):
        return module
    if any(each.body is None for each in module.all(FUNCTIONS)):
        found.append(errors.HalfModule(span=wanted.span, name=wanted.module, file=str(file)))
        return standard
    return module


def _read(
    wanted: syntax.ImportDecl,
    file: Path,
    dialect: str,
    contents: dict[Path, bytes | None],
    found: list[Diagnostic],
) -> ModuleSyntax | None:
    try:
        content = contents.get(file)
        if content is None:
            content = contents[file] = program_bytes(file)
        source = Source(str(file), program_text(content), dialect=dialect)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{file}: {not_utf8(error)}"
        found.append(
            errors.UnreadableModule(span=wanted.span, name=wanted.module, reason=reason or str(error))
        )
        return None
    try:
        parsed, problems = _parsed(source)
    except DDlogError as error:
        found += error.diagnostics
        return None
    found += problems
    return index(wanted.module, source, parsed, None if file.suffix == ".sql" else file)


def _parsed(source: Source) -> tuple[syntax.Module, list[Diagnostic]]:
    """The syntax tree of a module, and its errors. Raises DDlogError for a module of SQL that has some."""
    if source.name.endswith(".sql"):
        return translate(source), []
    parsed, found = parse_program(source)
    souffle = _SOUFFLE.search(source.text) if found else None
    if souffle is not None:
        span = Places(source).span(*souffle.span(1))
        return replace(parsed, declarations=()), [ProgramOfSouffle(name=source.name, span=span)]
    return parsed, found


def _missing(wanted: syntax.ImportDecl, folders: Sequence[Path]) -> Diagnostic:
    places = [str(folder) for folder in folders] + ["the library"]
    file = module_file(Path(), wanted.module).as_posix()
    near = nearest(wanted.module, _module_names([*folders, library_folder()])) or _declares(wanted.module)
    hint = f"did you mean `{near}`? " if near else ""
    return errors.NoSuchModule(
        span=wanted.span, name=wanted.module, near=hint, file=file, places=", ".join(places)
    )


def _module_names(folders: Sequence[Path]) -> Iterator[str]:
    """The names of the modules in folders, and in the folders in these."""
    for folder in folders:
        for file in (*folder.glob("*.dl"), *folder.glob("*/*.dl")):
            yield "::".join(file.relative_to(folder).with_suffix("").parts)


def _declares(name: str) -> str | None:
    """The module of the library that declares a type of that name, such as `time`, which has Date, for date.
    Those that SQL is translated to are not meant."""
    declaration = re.compile(rf"^(?:extern type|typedef) {re.escape(name)}\b", re.IGNORECASE | re.MULTILINE)
    files = [file for file in sorted(library_folder().glob("*.dl")) if "sql" not in file.stem]
    return next((file.stem for file in files if declaration.search(file.read_text("utf-8"))), None)


def _types_seen(module: ModuleSyntax, modules: dict[str, ModuleSyntax]) -> set[str]:
    """The names of types that the module may write, with and without prefix."""
    seen = {name for each in library().values() for name in each.names(TYPES)}
    for each in module.imports():
        if each.module in modules:
            names = modules[each.module].names(TYPES)
            seen.update(f"{each.alias or each.module}::{name}" for name in names)
            seen.update(names if each.alias is None else ())
    return seen
