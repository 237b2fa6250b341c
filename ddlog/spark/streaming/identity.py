"""The identity of a session's program, inputs and facts, by which a checkpoint recognises them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...durability.inputs import definitions
from ...sessions.program import Program
from ...types import TypeDef


def fingerprint(program: Program) -> str:
    """A digest of a program's text."""
    return hashlib.sha256(program.source.text.encode("utf-8", "surrogatepass")).hexdigest()


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


def facts_digest(places: Sequence[str]) -> str:
    """A digest of fact files by their names, sizes and times of change; of places that are not on this
    machine by their names only."""
    digest = hashlib.sha256()
    for place in places:
        path = Path(place)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        digest.update(place.encode("utf-8", "surrogatepass"))
        for file in files:
            if file.is_file():
                stat = file.stat()
                digest.update(
                    f"{file}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode("utf-8", "surrogatepass")
                )
    return digest.hexdigest()
