"""Places of facts: the arguments of `--input` and `Session.load`.

DIR                 a directory with a file, or a folder of part files, for each input relation
DIR/Rel.csv         a file, of the input relation that it is named after
'DIR/*.csv'         a pattern: each file is named after its relation
SCHEME://…          the same in an object store, for Spark (file: also in-process); in-process, a file or a
                    pattern of one relation, by fsspec
table:PREFIX        the catalog tables PREFIX + relation, for Spark
Rel=PLACE           one relation: a file, a folder, a pattern, a URL or a table, whatever its name
PLACE.zip           an archive with a file for each input relation; of one relation, its one file, or `member`
PLACE?name=value    how the files are written: see `dialects.py`
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import facts as errors
from ..errors.changes import NotAnInput
from ..errors.diagnostics import DDlogError
from ..errors.options import EmptyInput
from ..errors.spark import OnlySparkReads
from ..errors.unknown import unknown_relation
from .archives import find_members, member_of
from .dialects import PLAIN, Dialect, check_fits, split_options
from .files import NO_NAMES, FactFile, FoundFacts, file_of, find_facts, no_format, split_name
from .formats import FORMATS
from .remote import WEB, files_at

_NAMED = re.compile(r"([A-Za-z_][\w.]*(?:::\w+)*)=(.+)\Z", re.ASCII | re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_TABLE = re.compile(r"(?:[\w$][\w$-]*|`[^`]+`)(?:\.(?:[\w$-]+|`[^`]+`))*\Z")
_ENDINGS = (*FORMATS, "orc", "zip", "txt", "dat", "xls", "bz2", "zst")  # those of files, not of tables


@dataclass(frozen=True, slots=True)
class Place:
    """One place, of all relations or of one. `kind` is path, pattern, url or table."""

    text: str
    kind: str
    relation: str | None = None
    dialect: Dialect = PLAIN

    @property
    def spark_only(self) -> bool:
        """Whether Spark reads it, if no engine is named: a table, or the URL of an object store."""
        return self.kind == "table" or (self.kind == "url" and not self.text.startswith(WEB))


def parse_places(
    texts: str | Path | Iterable[str | Path],
    inputs: Sequence[str],
    relations: Collection[str],
    originals: Mapping[str, str] = NO_NAMES,
) -> tuple[Place, ...]:
    """The places that the texts name; `originals` are names of relations by those in their sources, in lower
    case. Raises DDlogError for an unknown relation."""
    given = [texts] if isinstance(texts, str | Path) else list(texts)
    return tuple(_parse(os.fspath(text), inputs, relations, originals) for text in given)


def _parse(
    text: str, inputs: Sequence[str], relations: Collection[str], originals: Mapping[str, str]
) -> Place:
    text, dialect = (text, PLAIN) if os.path.exists(text) else split_options(text)
    named = _NAMED.match(text)
    name, where = named.groups() if named is not None else ("", text)
    relation = name if name in relations else originals.get(name.lower(), name)
    if named is None or (relation not in relations and os.path.exists(text)):
        where, kind = _kind(text, False)
        return Place(where, kind, _named_after(where, inputs, originals), dialect)
    if relation not in relations:
        raise DDlogError([unknown_relation(relation, relations)])
    if relation not in inputs:
        raise DDlogError([NotAnInput(relation, "computed", tuple(inputs))])
    return Place(*_kind(where, True), relation, dialect)


def _named_after(text: str, inputs: Sequence[str], originals: Mapping[str, str]) -> str | None:
    """The input relation that a file has its name of; None for a folder, and for any other file."""
    found = split_name(Path(text)) if os.path.exists(text) and not os.path.isdir(text) else None
    if found is None:
        return None
    name = found[0] if found[0] in inputs else originals.get(found[0].lower(), "")
    return name if name in inputs else None


def _kind(text: str, named: bool) -> tuple[str, str]:
    if text.startswith("table:"):
        return text.removeprefix("table:"), "table"
    if text.startswith("file:"):
        text = "/" + text.removeprefix("file:").lstrip("/")
    elif _URL.match(text):
        return text, "url"
    if os.path.exists(text):
        return text, "path"
    if glob.has_magic(text):
        return text, "pattern"
    ending = text.lower().removesuffix(".gz").rpartition(".")[2]
    if named and _TABLE.match(text) and ending not in _ENDINGS:
        return text, "table"
    return text, "path"


def file_at(text: str) -> FactFile:
    """The one file of a place. Raises DDlogError."""
    where, dialect = (text, PLAIN) if os.path.exists(text) else split_options(text)
    files = _files_of("", Place(*_kind(where, False), "", dialect))
    if len(files) != 1:
        raise DDlogError([errors.CannotRead(text, f"there are {len(files):,} files; name one of them")])
    return files[0]


def find_local(
    places: Sequence[Place],
    inputs: Sequence[str],
    others: Collection[str],
    originals: Mapping[str, str] = NO_NAMES,
) -> FoundFacts:
    """The fact files of places on this machine. A place of one relation takes precedence over places of all.
    Raises DDlogError."""
    for place in places:
        if place.kind == "table" or (place.kind == "url" and place.relation is None):
            raise DDlogError([OnlySparkReads(shown(place))])
    named = [place for place in places if place.relation is not None]
    own = {place.relation for place in named}
    files = [file for place in named for file in _files_of(place.relation or "", place)]
    ignored: list[Path] = []
    homes: dict[str, str] = {}
    for place in places:
        if place.relation is None:
            found = _all_relations(
                place, [name for name in inputs if name not in own], others, originals, own
            )
            ignored += found.ignored
            for file in found.files:
                if homes.setdefault(file.relation, place.text) != place.text:
                    both = (homes[file.relation], place.text)
                    raise DDlogError([errors.SeveralFiles(relation=file.relation, paths=both)])
            files += found.files
    present = {file.relation for file in files} | own
    missing = tuple(name for name in inputs if name not in present)
    return FoundFacts(tuple(_pipes_shared(files)), missing, tuple(ignored))


def _pipes_shared(files: Iterable[FactFile]) -> Iterator[FactFile]:
    """The files, of which several that are one pipe have what it gives in common."""
    known: dict[str, Callable[[], bytes]] = {}
    for file in files:
        if file.fetch is not None and not file.url:
            file = replace(file, fetch=known.setdefault(os.path.realpath(file.path), file.fetch))
        yield file


def shown(place: Place) -> str:
    """A place as the user wrote it."""
    where = f"table:{place.text}" if place.kind == "table" and place.relation is None else place.text
    return where if place.relation is None else f"{place.relation}={where}"


def _all_relations(
    place: Place,
    inputs: Sequence[str],
    others: Collection[str],
    originals: Mapping[str, str],
    own: Collection[str | None],
) -> FoundFacts:
    if place.kind == "path":
        wanted = [*inputs, *(name for name in own if name)]
        if place.text.lower().endswith(".zip"):
            found = find_members(place.text, wanted, others, originals)
        else:
            found = find_facts(place.text, wanted, others, originals)
        kept = (_written(f, place.dialect, False) for f in found.files if f.relation not in own)
        return FoundFacts(tuple(kept), (), found.ignored)
    files, ignored = [], []
    for path in _matches(place):
        name = split_name(path)
        relation = path.name if name is None else name[0]
        relation = relation if relation in inputs else originals.get(relation.lower(), relation)
        if relation in own:
            continue
        if relation in inputs and (name is not None or path.is_dir()):
            files += _files_of(relation, Place(str(path), "path", None, place.dialect))
        elif relation in others:
            raise DDlogError([errors.NotAnInputRelation(path=str(path), relation=relation)])
        else:
            ignored.append(path)
    return FoundFacts(tuple(files), (), tuple(ignored))


def _matches(place: Place) -> list[Path]:
    matches = [Path(each) for each in sorted(glob.glob(place.text, recursive=True))]
    if not matches:
        raise DDlogError([errors.CannotRead(place.text, "no file matches this")])
    return matches


def _files_of(relation: str, place: Place) -> list[FactFile]:
    """The files of one relation: one file, the files of a folder, or the files that match a pattern."""
    if place.kind == "url":
        return [_written(file, place.dialect, True) for file in files_at(relation, place.text, place.dialect)]
    paths = _matches(place) if place.kind == "pattern" else [Path(place.text)]
    whole = place.relation is not None
    return [
        _written(file, place.dialect, whole)
        for path in paths
        for file in _file_or_parts(relation, path, place)
    ]


def _written(file: FactFile, dialect: Dialect, strict: bool) -> FactFile:
    """A file that is written as a dialect says; if not `strict`, as far as the dialect is about its format.
    Raises DDlogError."""
    if strict:
        check_fits(dialect, file.format, file.shown)
    member = file.dialect.member if file.dialect.member is not None else dialect.member
    return replace(file, dialect=replace(dialect, member=member))


def _file_or_parts(relation: str, path: Path, place: Place) -> list[FactFile]:
    if not path.exists():
        raise DDlogError([errors.CannotRead(str(path), "there is no such file or directory")])
    if path.suffix.lower() == ".zip":
        return [member_of(relation, path, place.dialect.member)]
    if not path.is_dir():
        return [_one(relation, path)]
    entries = sorted(each for each in path.iterdir() if not each.name.startswith((".", "_")))
    return [_one(relation, entry) for entry in entries]


def _one(relation: str, path: Path) -> FactFile:
    name = split_name(path)
    if name is None or path.is_dir():
        raise DDlogError([no_format(path)])
    return file_of(relation, path, *name[1:])


def total_size(places: Sequence[Place]) -> list[tuple[int, str, bool]]:
    """The size, format and compression of each local file in the places, for an estimate. Files that
    cannot be found are left out."""
    paths: list[str] = []
    for place in places:
        if place.kind == "path":
            paths.append(place.text)
        elif place.kind == "pattern":
            paths += glob.glob(place.text, recursive=True)
    return [found for path in paths for found in _sizes(path)]


def _sizes(path: str) -> list[tuple[int, str, bool]]:
    inside = [os.path.join(home, name) for home, _, names in os.walk(path) for name in names]
    sizes = []
    for each in inside or [path]:
        name = split_name(Path(each))
        if os.path.isfile(each) and (name is not None or each.endswith(".orc")):
            form, compressed = name[1:] if name is not None else ("orc", False)
            sizes.append((os.path.getsize(each), form, compressed))
    return sizes


def only_spark(places: Sequence[Place]) -> str | None:
    """The first place that only Spark reads, as the user wrote it, or None."""
    return next((shown(place) for place in places if place.spark_only), None)


def check_not_empty(texts: Sequence[str]) -> None:
    """Raises DDlogError for an empty place."""
    if any(not text for text in texts):
        raise DDlogError([EmptyInput()])
