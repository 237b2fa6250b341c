"""Fingerprints of the parts of a program: what a checkpoint is kept under.

The expressions of a circuit name functions and types. A fingerprint has their definitions, so that a function
that changes takes with it what it computes. Functions in Python count by the contents of their file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import FunctionType
from typing import Any

from ...codegen.scalar import Structure
from ...core import CheckedProgram, Function
from ...core.pythonfile import PythonFile
from ...engine.circuit import Circuit, Node
from ...engine.fingerprints import Fingerprints, digest, fingerprints, plain_digest
from ...errors.installation import version
from ...types import TypeDef

_FORM = 2  # of what units hold


class Definitions:
    """The digests of the functions and types of a program."""

    def __init__(self, program: CheckedProgram) -> None:
        self._functions: Mapping[str, Function] = program.functions
        self._typedefs: Mapping[str, TypeDef] = program.typedefs
        self._externs: Mapping[str, PythonFile] = program.externs
        self._own: dict[str, tuple[bytes, set[str]] | None] = {}
        self._reached: dict[str, Mapping[str, bytes] | None] = {}

    def of_circuit(
        self, circuit: Circuit, before: tuple[CheckedProgram, Fingerprints] | None = None
    ) -> Fingerprints:
        """The fingerprints of a circuit. Those of a program before are taken over, if no name means another
        function or type in it, and its Python files are as they were."""
        known: Mapping[Node, bytes | None] = {}
        if before is not None:
            program, found = before
            tables: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...] = (
                (program.functions, self._functions),
                (program.typedefs, self._typedefs),
                (program.externs, self._externs),
            )
            if all(now.get(name, each) == each for then, now in tables for name, each in then.items()):
                known = found.digests
        return fingerprints(circuit, opened, self.named, known)

    def of_type(self, domain: str) -> str | None:
        """The fingerprint of the type of some values; None if it has none."""
        found = digest(("values", domain), opened, self.named)
        return None if found is None else found.hex()

    def named(self, text: str) -> Mapping[str, bytes] | None:
        """The digests of the definitions that a text names, with all that these name."""
        if text not in self._reached:
            self._reached[text] = self._closure(text)
        return self._reached[text]

    def _closure(self, text: str) -> Mapping[str, bytes] | None:
        found: dict[str, bytes] = {}
        waiting = self._names(text)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            own = self._definition(name)
            if own is None:
                return None
            found[name] = own[0]
            for each in own[1]:
                waiting |= self._names(each)
        return found

    def _names(self, text: str) -> set[str]:
        if text in self._functions:
            return {text}
        return {
            name for name in re.findall(r"[\w:$]+", text) if name in self._typedefs or name in self._functions
        }

    def _definition(self, name: str) -> tuple[bytes, set[str]] | None:
        if name not in self._own:
            parts = [each[name] for each in (self._functions, self._typedefs) if name in each]
            self._own[name] = plain_digest((*parts, *map(self._code, parts)), opened)
        return self._own[name]

    def _code(self, part: Function | TypeDef) -> bytes:
        """The contents of the file of an extern function."""
        if isinstance(part, Function) and part.body is None and part.module in self._externs:
            return self._externs[part.module].content or b""
        return b""


def opened(value: Any) -> Any:
    """An expression in place of the key that it is, and the name of a function of ddlog in its place."""
    if isinstance(value, FunctionType) and "<" not in value.__qualname__:
        own = value.__module__.startswith("ddlog.")
        return (value.__module__, value.__qualname__) if own else value
    return value.expr if isinstance(value, Structure) else value


@cache
def made_by() -> str:
    """The version of ddlog, with the files of its engine, and the form of numbers on this machine."""
    home = Path(__file__).parents[1]
    from ... import engine, stdlib

    folders = [home, *(Path(str(each.__path__[0])) for each in (engine, stdlib))]
    listed = repr([sorted(_files(str(folder))) for folder in folders]).encode()
    return f"{_FORM} {version()} {sys.byteorder} {blake2b(listed, digest_size=8).hexdigest()}"


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """The names and sizes of the Python files below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.name, entry.stat().st_size
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)
