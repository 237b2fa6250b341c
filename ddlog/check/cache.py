"""Checked programs that were checked before, by content. `DDLOG_CACHE=off` turns this off.

The key of an entry is the content of a program: its text and the name of its file, its syntax tree if that is
given, the places where imports are looked for, and the files of ddlog itself. It lists the files in which
imports were looked for, with their digests, and is good only while each of them is as it was. Python files of
extern functions and types are read anew; the first query parses the program again.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import core, syntax
from ..codegen.programexterns import static_problem
from ..core.pythonfile import PythonClass, PythonFile
from ..engine.digests import blake2b
from ..errors.diagnostics import Diagnostic
from ..errors.modules import AbsentCode
from ..errors.source import Source
from ..syntax.cachefiles import cache_directory, keep_recent, read_cached, write_cached
from ..syntax.stackroom import deep_recursion
from ..types import TypeDef
from .elaboration import Elaborated

if TYPE_CHECKING:
    from ..names.environment import Environment

FILES, SIZE = 100, 1 << 28  # the most entries, and bytes in all of them

_TABLES = ("typedefs", "functions", "relations", "rules", "strata", "indexes", "array_keys")
_ROOMS = (
    "check",
    "codegen",
    "core",
    "errors",
    "lowering",
    "names",
    "sql",
    "syntax",
    "syntax/tree",
    "types",
    "values",
)


def check_cached(
    source: Source, library_paths: Sequence[Path], tree: syntax.Module | None = None
) -> tuple[core.CheckedProgram | None, list[Diagnostic]]:
    """The result of `check_program`, from the cache if the program was checked before."""
    path = _entry_path(source, library_paths, tree)
    found = _load(path, source, library_paths, tree)
    if found is not None:
        return found
    from .program import check_program

    program, diagnostics = check_program(source, library_paths, tree)
    absent = any(isinstance(each, AbsentCode) for each in diagnostics)  # it may be there the next time
    if path is not None and isinstance(program, Elaborated) and not absent:
        _store(path, program, diagnostics)
    return program, diagnostics


def _entry_path(source: Source, library_paths: Sequence[Path], tree: syntax.Module | None) -> Path | None:
    directory = cache_directory()
    if directory is None or os.environ.get("DDLOG_CACHE") == "off":
        return None
    asked = (
        repr(source),
        source.text,
        source.dialect,
        None if tree is None else _tree_digest(tree),
        os.path.abspath(source.name),
        os.path.isfile(source.name),
        [(str(each), os.path.abspath(each)) for each in library_paths],
        os.environ.get("DDLOG_HOME"),
        sys.version,
        _own_files(),
    )
    return directory / "programs" / blake2b(repr(asked).encode(), digest_size=20).hexdigest()


@cache
def _own_files() -> list[tuple[str, int, int]]:
    """The files that decide how a program is checked: their names, sizes and times of change."""
    from .. import stdlib

    home, library = Path(__file__).parents[1], str(Path(str(stdlib.__file__)).parent)
    roots = (*(str(home / room) for room in _ROOMS), library)
    folders = [folder for root in roots for folder, _, _ in os.walk(root)]
    found: list[tuple[str, int, int]] = []
    for folder in folders:
        with os.scandir(folder) as entries:
            for each in entries:
                if each.name.endswith((".py", ".dl", ".lark")):
                    known = each.stat()
                    found.append((each.path, known.st_size, known.st_mtime_ns))
    return sorted(found)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=20).digest()


def _tree_digest(tree: syntax.Module) -> bytes:
    with deep_recursion():
        return _digest(pickle.dumps(tree, pickle.HIGHEST_PROTOCOL))


def _store(path: Path, program: Elaborated, diagnostics: list[Diagnostic]) -> None:
    tables = {name: getattr(program, name) for name in _TABLES}
    plain = {name: dict(each) if isinstance(each, Mapping) else each for name, each in tables.items()}
    files = {file: None if content is None else _digest(content) for file, content in program.files.items()}
    externs = {name: file.path for name, file in program.externs.items()}
    try:
        with deep_recursion():
            content = pickle.dumps((plain, diagnostics, files, externs), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
        return  # some value in it cannot be pickled
    write_cached(path, content)
    keep_recent(path.parent, FILES, SIZE)


def _load(
    path: Path | None, source: Source, library_paths: Sequence[Path], tree: syntax.Module | None
) -> tuple[core.CheckedProgram, list[Diagnostic]] | None:
    stored = read_cached(path)
    if path is None or stored is None:
        return None
    try:
        with deep_recursion():
            tables, diagnostics, digests, extern_files = pickle.loads(stored)
        files = _unchanged(digests)
        externs = {name: PythonFile.beside(path) for name, path in extern_files.items()}
        os.utime(path)
    except Exception:  # a file or an extern function that is not as it was: the checker says so
        return None
    if files is None or not _externs_fit(tables["functions"], externs):
        return None
    tables["typedefs"] = {name: _rebound(each, externs) for name, each in tables["typedefs"].items()}
    if any(map(_is_missing, tables["typedefs"].values())):
        return None
    environment = cache(partial(_environment, source, library_paths, files, tree))
    program = Elaborated(**tables, externs=externs, declarations=environment, files=files)
    return program, diagnostics


def _unchanged(digests: Mapping[Path, bytes | None]) -> dict[Path, bytes | None] | None:
    """The contents of the files; None if one of them is not as it was."""
    files: dict[Path, bytes | None] = {}
    for file, digest in digests.items():
        content = file.read_bytes() if file.is_file() else None
        if (None if content is None else _digest(content)) != digest:
            return None
        files[file] = content
    return files


def _externs_fit(functions: Mapping[str, core.Function], externs: Mapping[str, PythonFile]) -> bool:
    """Whether the Python files still define the extern functions."""
    return not any(
        static_problem(externs[each.module], each.name, len(each.parameters), each.span)
        for each in functions.values()
        if each.body is None and each.module in externs
    )


def _rebound(typedef: TypeDef, externs: Mapping[str, PythonFile]) -> TypeDef:
    """The type; of an extern one, the class is that of the file as it is now."""
    if not isinstance(typedef.extern, PythonClass):
        return typedef
    return replace(typedef, extern=replace(typedef.extern, file=externs[typedef.name.rpartition("::")[0]]))


def _is_missing(typedef: TypeDef) -> bool:
    of = typedef.extern
    return isinstance(of, PythonClass) and static_problem(of.file, of.name, None, of.span) is not None


def _environment(
    source: Source,
    library_paths: Sequence[Path],
    files: Mapping[Path, bytes | None],
    tree: syntax.Module | None,
) -> Environment:
    from ..names.environment import Environment
    from ..names.imports import load_program
    from ..names.modules import library

    modules, _ = load_program(source, library_paths, files, tree)
    return Environment(modules.all, tuple(library()))
