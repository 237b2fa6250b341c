"""Checkpoint directories of earlier versions, which had a log of their own. Such a log is read once, on the
driver, and becomes a state.

    DIR/ddlog.json              the input relations that the log is about
    DIR/lock                    held by the session that uses the directory
    DIR/log/epoch-…0007.json    an applied batch: the progress of each stream, and the changed relations
    DIR/log/base-…0006.json     the epochs up to 6 as one change
    DIR/data/epoch-…0007/0-Edge the change itself, in Parquet, part by part
    DIR/streams/NAME/           Spark's own checkpoint of a stream, which stays

The change of a relation R that rules read with a delay is there as R$past. The log moves to DIR/old before
the state is made, and goes when the state has all of it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...durability.inputs import PAST, definitions
from ...errors.checkpoints import CheckpointOfOtherInputs
from ...errors.diagnostics import DDlogError
from ...errors.state import StateDamaged
from ...lowering.builder import column
from ...sessions.program import Program
from ...types import TypeDef
from ...values.rows import Row
from ..types.codec import SparkCodec

if TYPE_CHECKING:
    from ...core import Relation

_FORMAT = 1
_HEADER = "ddlog.json"
_ENTRY = re.compile(r"(epoch|base)-(\d+)\.json\Z")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An epoch of the log, or (`base`) the sum of all epochs up to one. `changed` has the relation of each
    part of the change, in order; `streams` has of each stream Spark's id of its query and the last batch;
    `facts` identifies the facts that the session began with."""

    epoch: int
    changed: tuple[str, ...]
    streams: Mapping[str, Mapping[str, Any]]
    program: str
    facts: str | None = None
    base: bool = False


def set_aside(place: Path) -> Path:
    """Moves the log of a directory out of the way of a state, and returns where it is. Raises OSError."""
    home = place / "old"
    home.mkdir(exist_ok=True)
    for name in ("log", "data", _HEADER):
        if (place / name).exists() and not (home / name).exists():
            os.rename(place / name, home / name)
    return home


def discard(place: Path) -> None:
    """Deletes the log of a directory, which a state has. What a crash leaves of it is no log any more. Raises
    OSError."""
    over = place / "old.over"
    shutil.rmtree(over, ignore_errors=True)
    if (place / "old").is_dir():
        os.rename(place / "old", over)
        shutil.rmtree(over, ignore_errors=True)


class OldLog:
    """The log of a directory. `entries` are the last base and the epochs after it."""

    def __init__(self, home: Path, program: Program) -> None:
        """Raises DDlogError for the log of other inputs, and if it is not what was written."""
        self._home, self._relations = home, program.relations
        self._codec = SparkCodec(program.checked.typedefs)
        self._check_inputs(described_inputs(program, program.checked.typedefs))
        self.entries = self._read()

    def rows(self, name: str, first: int, last: int) -> list[tuple[Row, int]]:
        """The changes of a relation, or of its past, in some epochs, one after another."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        relation, found = self._relations[name.removesuffix(PAST)], list[tuple[Row, int]]()
        for entry in self.entries:
            for part, changed in enumerate(entry.changed):
                files = sorted(self._folder(entry, part).glob("*.parquet")) if changed == name else []
                if files and first <= entry.epoch <= last:
                    found += self._signed(relation, pa.concat_tables(map(pq.read_table, files)))
        return found

    def _signed(self, relation: Relation, table: Any) -> Iterable[tuple[Row, int]]:
        """The rows of a change of one epoch: deletions come before insertions."""
        values = [
            self._codec.decode(column(each.name, each.type), table.column(position))
            for position, each in enumerate(relation.columns)
        ]
        rows = zip(*values, strict=True) if values else iter([()] * table.num_rows)
        return sorted(zip(rows, table["_op"].to_pylist(), strict=True), key=lambda each: each[1])

    def applied(self, relation: Relation, before: Iterable[tuple[Row, int]]) -> list[tuple[Row, int]]:
        """The rows of an input when the log has changed it: a row that is there does not come again, and one
        that is not there does not go."""
        held = dict(before)
        for row, op in self.rows(relation.name, 0, self.entries[-1].epoch):
            count = held.get(row, 0) + op
            held[row] = max(0, count) if relation.kind == "multiset" else int(op > 0)
        return [(row, count) for row, count in held.items() if count]

    def _folder(self, entry: LogEntry, part: int) -> Path:
        name = f"{'base' if entry.base else 'epoch'}-{entry.epoch:010d}"
        return self._home / "data" / name / f"{part}-{quote(entry.changed[part], safe='')}"

    def _check_inputs(self, inputs: Mapping[str, Any]) -> None:
        header = self._json(self._home / _HEADER)
        if not isinstance(header, dict) or header.get("format") != _FORMAT:
            raise self._damaged(f"{_HEADER} is of another version")
        difference = _difference(header["inputs"], json.loads(json.dumps(inputs)))
        if difference:
            raise DDlogError([CheckpointOfOtherInputs(str(self._home.parent), difference)])

    def _read(self) -> list[LogEntry]:
        found: dict[str, dict[int, Path]] = {"base": {}, "epoch": {}}
        for file in (self._home / "log").iterdir():
            named = _ENTRY.match(file.name)
            if named is not None:
                found[named.group(1)][int(named.group(2))] = file
        start = max(found["base"], default=-1)
        epochs = sorted(number for number in found["epoch"] if number > start)
        for expected, number in enumerate(epochs, start + 1):
            if number != expected:
                raise self._damaged(f"epoch {expected} is missing")
        files = [found["base"][start]] if start >= 0 else []
        entries = [self._entry(file) for file in (*files, *(found["epoch"][number] for number in epochs))]
        for entry in entries:
            for part in range(len(entry.changed)):
                if not self._folder(entry, part).is_dir():
                    raise self._damaged(f"{self._folder(entry, part).relative_to(self._home)} is missing")
        return entries

    def _entry(self, file: Path) -> LogEntry:
        try:
            content = self._json(file)
            return LogEntry(**{**content, "changed": tuple(content["changed"])})
        except (TypeError, KeyError):
            raise self._damaged(f"{file.name} is not what was written") from None

    def _json(self, file: Path) -> Any:
        try:
            return json.loads(file.read_text("utf-8"))
        except ValueError:
            raise self._damaged(f"{file.name} is not what was written") from None

    def _damaged(self, problem: str) -> DDlogError:
        return DDlogError([StateDamaged(str(self._home), problem, "begin anew with an empty directory")])


def described_inputs(program: Program, typedefs: Mapping[str, TypeDef]) -> dict[str, dict[str, Any]]:
    """The properties of the input relations on which the meaning of a log depends."""
    return {
        name: {
            "kind": program.relations[name].kind,
            "primary key": program.relations[name].key is not None,
            "columns": [[each.name, str(each.type)] for each in program.relations[name].columns],
            "types": definitions([str(each.type) for each in program.relations[name].columns], typedefs),
        }
        for name in program.names("input")
    }


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The first difference between the input relations; empty if there is none."""
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            return f"{name} is no input relation of this one"
        if name not in before:
            return f"it has no {name}"
        for what in before[name]:
            if before[name][what] != now[name].get(what):
                return f"{name} differs in its {what}"
    return ""
