"""The files and tables that Spark reads for each input relation."""

from __future__ import annotations

import gzip
import mmap
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import facts as errors
from ...errors.diagnostics import DDlogError
from ...errors.spark import NotForSpark, OnlyReadHere
from ...io.dialects import PLAIN, Dialect, check_fits
from ...io.files import NO_NAMES, FactFile, split_name
from ...io.places import Place, find_local, shown
from ...io.remote import WEB
from ..sessions.failures import local_path, spark_failures

_SPECIAL = re.compile(r"([\\*?\[\]{}])")
_FORMS = ("facts", "tsv", "csv", "jsonl", "ndjson", "json", "parquet", "orc")


@dataclass(frozen=True, slots=True)
class SparkFile:
    """A file, or a folder of columnar part files, by the URL that Spark is given. `local` is its path on this
    machine, if it has one."""

    url: str
    form: str
    local: Path | None = None
    dialect: Dialect = PLAIN

    @property
    def shown(self) -> str:
        """The path as people write it."""
        return str(self.local) if self.local is not None else self.url

    def is_at(self, url: str) -> bool:
        """Whether a URL that Spark gives out is this file's."""
        home = str(self.local.absolute()) if self.local is not None else self.url
        return local_path(url) == home or url == self.url

    def may_have(self, text: bytes) -> bool:
        """Whether the file may contain a text; True if it cannot be searched quickly."""
        if self.local is None or self.url.endswith(".gz"):
            return True
        with (
            suppress(OSError, ValueError),
            self.local.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return data.find(text) >= 0
        return False

    def first_lines(self, most: int) -> list[str] | None:
        """The first lines without their ends; None if only Spark can read them."""
        if self.local is None:
            return None
        opened = gzip.open if self.url.endswith(".gz") else open
        with suppress(OSError, EOFError), opened(self.local, "rb") as file:
            lines = [line.removesuffix(b"\n").removesuffix(b"\r") for line in islice(file, most)]
            return [line.decode("utf-8", "replace") for line in lines]
        return None


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """The files and the tables by relation, the relations that have neither, and the files passed over."""

    files: dict[str, list[SparkFile]]
    tables: dict[str, list[str]]
    missing: tuple[str, ...]
    ignored: tuple[Path, ...]


def find_facts(
    spark: Any,
    places: Sequence[Place],
    inputs: Sequence[str],
    others: Collection[str],
    originals: Mapping[str, str] = NO_NAMES,
) -> SparkFacts:
    """The files and tables that places hold for the input relations; a place of one relation replaces the
    places of all relations. Raises DDlogError."""
    files: dict[str, list[SparkFile]] = {}
    tables: dict[str, list[str]] = {}
    for place in places:
        if place.text.startswith(WEB) or (place.dialect.given and place.kind == "table"):
            raise DDlogError([OnlyReadHere(shown(place))])
    here = [place for place in places if not place.spark_only and not _elsewhere(place)]
    found = find_local(here, inputs, others, originals) if here else None
    for file in found.files if found else ():
        files.setdefault(file.relation, []).append(_local(file))
    own = {place.relation for place in places if place.relation is not None}
    for place in places:
        if place in here:
            continue
        if place.kind == "table":
            for name, table in _tables(spark, place, [n for n in inputs if n not in own]):
                tables.setdefault(name, []).append(table)
        elif place.relation is not None:
            files.setdefault(place.relation, []).extend(_written(_remote(spark, place.text), place))
        else:
            for listed in _written(_listed(spark, place.text), place):
                relation = _relation_of(place.text, listed.url, inputs)
                if relation is not None and relation not in own:
                    files.setdefault(relation, []).append(listed)
    files = {name: _folders(each) for name, each in files.items()}
    present = files.keys() | tables.keys() | own
    missing = tuple(name for name in inputs if name not in present)
    return SparkFacts(files, tables, missing, found.ignored if found else ())


def _elsewhere(place: Place) -> bool:
    """Whether only Spark can read the files at a path, for their form or because they are elsewhere."""
    if place.kind == "path" and place.relation is not None:
        path = Path(place.text)
        return path.suffix == ".orc" or (path.is_dir() and not _plain(path))
    return False


def _plain(folder: Path) -> bool:
    """Whether a folder has nothing but part files in it."""
    entries = [each for each in folder.iterdir() if not each.name.startswith((".", "_"))]
    return all(not each.is_dir() and split_name(each) is not None for each in entries)


def _local(file: FactFile) -> SparkFile:
    if file.fetch is not None:
        raise DDlogError([NotForSpark(file.shown, "pipes")])
    return SparkFile(
        "file:" + _SPECIAL.sub(r"\\\1", str(file.path.absolute())), file.format, file.path, file.dialect
    )


def _written(files: Sequence[SparkFile], place: Place) -> list[SparkFile]:
    """Files as the options of their place say. Raises DDlogError."""
    for file in files if place.relation is not None else ():
        check_fits(place.dialect, file.form, file.shown)
    return [replace(file, dialect=place.dialect) for file in files]


def _tables(spark: Any, place: Place, inputs: Sequence[str]) -> list[tuple[str, str]]:
    if place.relation is not None:
        return [(place.relation, place.text)]
    with spark_failures():
        return [(name, place.text + name) for name in inputs if spark.catalog.tableExists(place.text + name)]


def _remote(spark: Any, url: str) -> list[SparkFile]:
    """The files of one relation at the URL of a file, a folder or a pattern."""
    path = Path(url)
    if path.suffix == ".orc" or path.is_dir():
        url = f"file:{path.absolute()}"
    found = _listed(spark, url)
    forms = {file.form for file in found}
    if forms <= {"parquet", "orc"} and len(forms) == 1 and not url.endswith(("parquet", "orc")):
        return [SparkFile(url, forms.pop())]
    return found


def _listed(spark: Any, url: str) -> list[SparkFile]:
    """All files below a URL whose ending is a format's. Spark lists them, and reads none."""
    with spark_failures():
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(url)
        paths = sorted(row[0] for row in files.select("path").collect())
    found = []
    for path in paths:
        form = path.removesuffix(".gz").rpartition(".")[2]
        if form in _FORMS:
            found.append(SparkFile(_SPECIAL.sub(r"\\\1", path), form))
    if not found:
        raise DDlogError([errors.CannotRead(url, f"no file there ends in {', '.join(_FORMS)}")])
    return found


def _relation_of(base: str, url: str, inputs: Sequence[str]) -> str | None:
    """The relation that the name of a file or of one of its folders says."""
    parts = PurePosixPath(url.replace("\\", "")).parts
    name = split_name(Path(parts[-1]))
    candidates = [name[0] if name else parts[-1].partition(".")[0]]
    candidates += [
        part.removesuffix(".parquet") for part in reversed(parts[len(PurePosixPath(base).parts) - 1 : -1])
    ]
    return next((each for each in candidates if each in inputs), None)


def _folders(files: list[SparkFile]) -> list[SparkFile]:
    """The files without repetition."""
    return list(dict.fromkeys(files))
