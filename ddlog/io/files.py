"""The fact files of a directory, and the relations that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, Diagnostic, system_errors
from ..errors.nearest import nearest
from .dialects import PLAIN, Dialect
from .formats import FORMATS, TEXT_FORMATS

NO_NAMES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file, or one part file of a folder, with rows of a relation."""

    relation: str
    path: Path
    format: str
    compressed: bool = False
    dialect: Dialect = PLAIN
    url: str = ""
    fetch: Callable[[], bytes] | None = None
    """Fetches the bytes of a file that is elsewhere, or can be read only once. Raises DDlogError, OSError."""

    @property
    def shown(self) -> str:
        """The place of the file, for messages."""
        return self.url or str(self.path)


@dataclass(frozen=True, slots=True)
class FoundFacts:
    """The fact files of a directory, the relations without a file, and the files that were ignored."""

    files: tuple[FactFile, ...]
    missing: tuple[str, ...]
    ignored: tuple[Path, ...]


def file_of(relation: str, path: Path, format: str, compressed: bool) -> FactFile:
    """The file of a relation at a path. What a pipe gives is kept: messages may read it again."""
    fetch = None if path.is_file() else cache(path.read_bytes)
    return FactFile(relation, path, format, compressed, fetch=fetch)


def split_name(path: Path) -> tuple[str, str, bool] | None:
    """The name of the relation, the format, and whether the file is compressed, by the name of a file, in
    which the format may be in upper case. None when the name does not end as a format's files do."""
    name = path.name
    compressed = name.endswith(".gz")
    stem, _, ending = name.removesuffix(".gz").rpartition(".")
    format = ending.lower()
    if not stem or format not in (TEXT_FORMATS if compressed else FORMATS):
        return None
    return stem, format, compressed


def no_format(path: str | Path, formats: Iterable[str] = FORMATS) -> Diagnostic:
    """The error about a file whose name ends as those of none of the formats."""
    return errors.NotAPartFile(path=str(path), formats=", ".join(f".{each}" for each in formats))


def find_facts(
    directory: str | Path,
    inputs: Collection[str],
    others: Collection[str] = (),
    originals: Mapping[str, str] = NO_NAMES,
) -> FoundFacts:
    """The fact files in a directory. Raises DDlogError when a file belongs to no input relation, or two files
    belong to one. `others` are the program's other relations, for the message; `originals` are names
    of relations by those in their sources, in lower case.

    Hidden files and files with other endings are ignored, and so are files whose names are in lower case
    and not near to the name of a relation.
    """
    folder = Path(directory)
    problems: list[Diagnostic] = []
    found: dict[str, list[Path]] = {}
    ignored: list[Path] = []
    if folder.exists() and not folder.is_dir():
        raise DDlogError([_misnamed(folder, inputs, others)])
    for path in _entries(folder):
        name = _relation_name(path)
        if name is not None and name not in inputs:
            name = originals.get(name.lower(), name)
        if name is None:
            ignored.append(path)
        elif name in inputs:
            found.setdefault(name, []).append(path)
        elif name in others:
            problems.append(errors.NotAnInputRelation(path=str(path), relation=name))
        elif _meant_for_a_relation(name, inputs):
            problems.append(errors.MisnamedFile(path=str(path), relation=name, near=nearest(name, inputs)))
        else:
            ignored.append(path)
    for relation, paths in found.items():
        if len(paths) > 1:
            problems.append(errors.SeveralFiles(relation=relation, paths=tuple(map(str, paths))))
    files = tuple(
        file for relation, paths in sorted(found.items()) for file in _parts(relation, paths[0], problems)
    )
    if problems:
        raise DDlogError(problems)
    return FoundFacts(files, tuple(name for name in inputs if name not in found), tuple(ignored))


def _misnamed(path: Path, inputs: Collection[str], others: Collection[str]) -> Diagnostic:
    """The error about a file that is given as facts, and has the name of no input relation."""
    named = split_name(path)
    if named is None:
        return errors.NotADirectory(path=str(path), help=f"RELATION={path} takes a file of any name")
    name, *_ = named
    if name in others:
        return errors.NotAnInputRelation(path=str(path), relation=name)
    near = nearest(name, inputs)
    help = f"{near or 'RELATION'}={path} takes a file of any name"
    return errors.MisnamedFile(path=str(path), relation=name, near=near, help=help)


def _entries(folder: Path) -> list[Path]:
    if not folder.exists():
        if folder.suffix:
            raise DDlogError([errors.CannotRead(path=str(folder), reason="No such file or directory")])
        raise DDlogError([errors.NoSuchDirectory(path=str(folder))])
    with system_errors(errors.CannotRead, folder):
        entries = sorted(folder.iterdir())
    return [path for path in entries if not path.name.startswith((".", "_"))]


def _relation_name(path: Path) -> str | None:
    parts = split_name(path)
    if parts is not None:
        return parts[0]
    return path.name if path.is_dir() else None


def _meant_for_a_relation(name: str, inputs: Collection[str]) -> bool:
    return name[:1].isupper() or nearest(name, inputs) is not None


def _parts(relation: str, path: Path, problems: list[Diagnostic]) -> Iterator[FactFile]:
    named = split_name(path)
    if not path.is_dir():
        assert named is not None
        yield file_of(relation, path, *named[1:])
        return
    if named is not None and named[1] != "parquet":
        problems.append(errors.DirectoryForFile(path=str(path)))
        return
    for part in _entries(path):
        split = split_name(part)
        if split is None or part.is_dir():
            problems.append(no_format(part))
        else:
            yield file_of(relation, part, *split[1:])
