"""The compilation of kernels by numba, whose machine code is kept in files."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numba
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.sigutils import normalize_signature

from ...clock import done_once, tell_once
from ...interrupt import deferred
from . import codefiles

# Some of numba has no types, and some too narrow ones.
_njit: Any = numba.njit
_normalize: Any = normalize_signature
_rebuild: Any = CompileResult._rebuild
_dumps: Any = serialize.dumps
_settings: Any = numba.config
# What machine code asks for its constants: without Python, in which a signal's handler may raise.
_serialize: Any = serialize
_serialize._numba_unpickle = functools.cache(_serialize._numba_unpickle)
is_off = bool(_settings.DISABLE_JIT)
"""Whether a setting of numba turns compilation off."""


def compiled_part(function: Callable[..., Any]) -> Any:
    """What numba compiles into the kernels that call it."""
    return _njit(nogil=True, boundscheck=False, forceinline=True, no_cfunc_wrapper=True)(function)


class Compilation:
    """A kernel that numba compiles for the types that it is called with, as `dispatcher`.

    A Ctrl-C ends no compilation in its midst: it would begin anew each time.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.dispatcher: Any = _njit(nogil=True, boundscheck=False, no_cfunc_wrapper=True)(function)
        self.fault: str | None = None  # why the machine code last made is not kept
        self._function = function
        self._compile = self.dispatcher.compile
        self._target = self.dispatcher.targetctx
        self.dispatcher.compile = self._found  # which numba calls for types that it has not seen

    def _found(self, signature: Any) -> Any:
        self.find(signature, wait=True)
        return self._compile(signature)

    def find(self, signature: Any, wait: bool) -> bool:
        """Loads the machine code for types, or makes and keeps it. Whether there is some: if another process
        makes it, only after a wait."""
        types = _normalize(signature)[0]
        if types in self.dispatcher.overloads:
            return True
        made_by = (numba.__version__, *self._target.codegen().magic_tuple())
        name = codefiles.file_name(self._function, tuple(map(str, types)), made_by)
        with deferred(), done_once():
            if self._load(codefiles.read(name)):
                return True
            since = perf_counter()
            with codefiles.locked(name, wait) as file:
                if file is None and not wait:
                    return False
                if file is None or not self._load(file.read()):
                    self._make(signature, types, file)
            how = "it is done once" if self.fault is None else f"their code cannot be kept: {self.fault}"
            tell_once(f"compiling kernels takes some seconds; {how}", perf_counter() - since)
        return True

    def _load(self, code: bytes | None) -> bool:
        if code is None:
            return False
        self._target.refresh()
        try:
            found = _rebuild(self._target, *pickle.loads(code))
        except Exception:  # what another build of numba has made: this one makes its own
            return False
        self._target.insert_user_function(found.entry_point, found.fndesc, [found.library])
        self.dispatcher.add_overload(found)
        return True

    def _make(self, signature: Any, types: tuple[Any, ...], file: codefiles.Locked | None) -> None:
        self._compile(signature)
        result = self.dispatcher.overloads[types]
        if file is None:
            self.fault = "there is no file for it that can be written"
        elif not result.library.has_dynamic_globals:
            self.fault = file.write(_dumps(result._reduce()))
