"""The Python file beside a module: its text, and the module that it makes when a program runs."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors.source import Span


@dataclass(frozen=True)
class PythonFile:
    """A Python file as it was read. `path` is None for a program in no file, `content` for one that cannot
    be read. Nothing of it is executed before `module` is asked for."""

    path: Path | None
    content: bytes | None

    @classmethod
    def beside(cls, path: Path | None) -> PythonFile:
        """The Python file beside a `.dl` file."""
        if path is None:
            return cls(None, None)
        file = path.with_suffix(".py")
        try:
            return cls(file, file.read_bytes())
        except OSError:
            return cls(file, None)

    def __getstate__(self) -> dict[str, object]:
        """The path and the content alone: trees and modules that were made of them are not pickled."""
        return {"path": self.path, "content": self.content}

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises SyntaxError or ValueError."""
        return ast.parse(self.content or b"", str(self.path))

    @cached_property
    def module(self) -> ModuleType:
        """The module, executed once. Raises any error of it."""
        assert self.path is not None and self.content is not None
        module = ModuleType(f"ddlog_externs_{self.path.stem}")
        module.__file__ = str(self.path)
        linecache.checkcache(str(self.path))
        exec(compile(self.content, str(self.path), "exec", dont_inherit=True), module.__dict__)
        return module


@dataclass(frozen=True)
class PythonClass:
    """The class of an extern type: its name in a file, and where the type is declared."""

    file: PythonFile
    name: str
    span: Span

    def __call__(self) -> Any:
        """The class. Raises AttributeError, or any error of the module."""
        return getattr(self.file.module, self.name)
