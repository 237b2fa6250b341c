"""The log of a checkpoint directory, read and checked: its entries, and the program's inputs that it is
about."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...errors.checkpoints import CheckpointDamaged, CheckpointOfOtherInputs
from ...errors.diagnostics import DDlogError
from .durable import write_json

_FORMAT = 1
_MANIFEST = re.compile(r"(epoch|base)-(\d+)\.json\Z")


@dataclass(frozen=True, slots=True)
class Position:
    """The progress of a stream: Spark's id of its query, and the last batch that was applied."""

    query: str
    batch: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An epoch of the log, or (`base`) the sum of all epochs up to one. `changed` has the relation of each
    part of the change, in order; `facts` identifies the facts that the session began with."""

    epoch: int
    changed: tuple[str, ...]
    streams: Mapping[str, Position]
    program: str
    facts: str | None = None
    base: bool = False

    @property
    def name(self) -> str:
        """The name of its file and of the folder of its data."""
        return f"{'base' if self.base else 'epoch'}-{self.epoch:010d}"


def data_folder(path: Path, entry: Entry, part: int) -> Path:
    """The folder for a part of an epoch's change, in the checkpoint directory `path`."""
    return path / "data" / entry.name / f"{part}-{quote(entry.changed[part], safe='')}"


def check_header(path: Path, inputs: Mapping[str, Any]) -> None:
    """Writes or compares the description of the input relations. Raises DDlogError if the directory has
    another."""
    file = path / "ddlog.json"
    if not file.exists():
        write_json(file, {"format": _FORMAT, "inputs": inputs})
        return
    header = _json(file, path)
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise _damaged(path, "ddlog.json is of another version")
    difference = _difference(header["inputs"], json.loads(json.dumps(inputs)))
    if difference:
        raise DDlogError([CheckpointOfOtherInputs(str(path), difference)])


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


def read_entries(path: Path) -> list[Entry]:
    """The entries of a log: the last base, and the epochs that follow it. Raises DDlogError if one is
    missing."""
    found: dict[str, dict[int, Path]] = {"base": {}, "epoch": {}}
    for file in (path / "log").iterdir():
        named = _MANIFEST.match(file.name)
        if named is not None:
            found[named.group(1)][int(named.group(2))] = file
    start = max(found["base"], default=-1)
    epochs = sorted(number for number in found["epoch"] if number > start)
    for expected, number in enumerate(epochs, start + 1):
        if number != expected:
            raise _damaged(path, f"epoch {expected} is missing")
    files = [found["base"][start]] if start >= 0 else []
    entries = [_entry(file, path) for file in (*files, *(found["epoch"][number] for number in epochs))]
    for entry in entries:
        for part in range(len(entry.changed)):
            folder = data_folder(path, entry, part)
            if not folder.is_dir():
                raise _damaged(path, f"{folder.relative_to(path)} is missing")
    return entries


def _entry(file: Path, path: Path) -> Entry:
    try:
        content = _json(file, path)
        streams = {name: Position(**each) for name, each in content.pop("streams").items()}
        return Entry(**{**content, "changed": tuple(content["changed"])}, streams=streams)
    except (TypeError, KeyError, AttributeError):
        raise _damaged(path, f"{file.name} is not what was written") from None


def _json(file: Path, path: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError:
        raise _damaged(path, f"{file.name} is not what was written") from None


def _damaged(path: Path, problem: str) -> DDlogError:
    return DDlogError([CheckpointDamaged(str(path), problem)])
