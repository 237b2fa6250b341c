"""Loads numba, and machine code that is on disk, without what only compiling needs: reading all of numba
takes longer than a small program runs.

Each part keeps to what numba does, with less: if numba is not as it is known here, it does all of it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

import numpy as np

from ...clock import done_once

_SETTINGS = ".numba_config.yaml"  # the file of settings that numba reads, where a process begins


class _Later(ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_numba() -> ModuleType:
    """Imports numba. The modules by which it finds extensions and reads settings are imported when they are
    asked for; other threads that import them meanwhile get them as they are."""
    put_off: list[tuple[dict[str, Any], str, ModuleType]] = []
    if "importlib.metadata" not in sys.modules:  # asked for as `from importlib import metadata`
        put_off.append((vars(importlib), "metadata", _Later("importlib.metadata")))
    if "yaml" not in sys.modules and not os.path.exists(_SETTINGS):
        put_off.append((sys.modules, "yaml", _Later("yaml")))
    for names, name, later in put_off:
        names.setdefault(name, later)
    try:
        import numba
    finally:
        for names, name, later in put_off:
            if names.get(name) is later:
                del names[name]
    found: ModuleType = numba
    return found


def load_alone(dispatcher: Any) -> None:
    """Lets a kernel whose machine code is on disk load it without all that numba needs to compile one. If the
    code is not there, or anything else is not as it should be, numba does as it always does."""
    with suppress(AttributeError, ImportError):
        _skip_extensions(dispatcher)
    with suppress(AttributeError, ImportError):
        _type_arrays(dispatcher)
    with suppress(AttributeError, ImportError):
        _load_code(dispatcher)


def _skip_extensions(dispatcher: Any) -> None:
    """Kernels have no values of types that extensions of numba define."""
    if dispatcher._compilation_chain_init_hook is not None:
        dispatcher._compilation_chain_init_hook = lambda: None


def _type_arrays(dispatcher: Any) -> None:
    """Types plain arrays. Before it does that, numba asks whether they are masked ones, which it then has to
    import."""
    from numba.core import types
    from numba.np.numpy_support import from_dtype, map_layout

    typed, note = dispatcher.typeof_pyval, dispatcher._types_active_call.add

    def typeof_pyval(value: Any) -> Any:
        if type(value) is not np.ndarray:
            return typed(value)
        readonly = not value.flags.writeable
        found = types.Array(from_dtype(value.dtype), value.ndim, map_layout(value), readonly=readonly)
        note(found)
        return found

    dispatcher.typeof_pyval = typeof_pyval


def _load_code(dispatcher: Any) -> None:
    """Loads machine code without the definitions of what is compiled, which take 0.12 s to read."""
    from numba.core.runtime.nrt import rtsys

    cache = dispatcher._cache
    load, load_code = cache.load_overload, cache._load_overload

    def load_overload(signature: Any, target: Any) -> Any:
        with done_once(), suppress(Exception):
            rtsys.initialize(target)
            with _environments_alone():
                found = load_code(signature, target)
            if found is not None:
                return found
        return load(signature, target)

    cache.load_overload = load_overload


@contextmanager
def _environments_alone() -> Iterator[None]:
    """A context in which the environments of machine code, which hold its constants, do not import the
    modules that the code was compiled from. Numba holds its lock of compilation around it."""
    environment: Any = importlib.import_module("numba.core.environment")
    rebuild = environment._rebuild_env

    def rebuild_alone(module: str, constants: Any, name: str) -> Any:
        if module in sys.modules or environment.lookup_environment(name) is not None:
            return rebuild(module, constants, name)
        made = environment.Environment({"__name__": module})
        made.consts[:] = constants
        made.env_name = name
        environment.Environment._memo[name] = made
        return made

    environment._rebuild_env = rebuild_alone
    try:
        yield
    finally:
        environment._rebuild_env = rebuild
