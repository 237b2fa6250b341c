"""The machine code of kernels on disk, loaded by LLVM alone: numba itself takes longer to import than a small
program runs.

A file (`codefiles`) holds what numba keeps of a compiled function: an object file of the system, and its
constants. It is loaded as numba would, with the symbols that numba gives to machine code. Nothing is loaded
where anything is not as it is known here, such as the version of numba, a setting, or a symbol; numba then
does what it always does.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from .codefiles import file_name, read, read_whole, settings

if TYPE_CHECKING:
    from .ahead import Signature

_VERSIONS = range(60, 69)  # of numba, from 0.60 on, whose files and symbols are as they are known here
_SETTINGS = ".numba_config.yaml"  # the file of settings that numba reads, where a process begins
NUMBERS = {int: "int64", np.int64: "int64", bool: "bool", float: "float64"}
_SECTION = np.dtype("u4,u4,u8,u8,u8,u8,u4,u4,u8,u8")  # of an object file: name, type, …, place, size, link
_SYMBOL = np.dtype("u4,u1,u1,u2,u8,u8")  # name, …, section, place, size
_SYMBOLS = 2  # the type of a section
_PICKLE = re.compile(r"\.const\.pickledata\.[0-9a-f]{40}(\.\d+)?")  # the name of a constant


class _Unknown(Exception):
    """Something is not as it is known here."""


@dataclass(frozen=True)
class Loader:
    """The parts of LLVM and numba by which machine code is loaded, and what it must be made by."""

    made_by: tuple[str, ...]  # the version of numba, the system, the processor, and its features
    llvm: Any  # llvmlite.binding
    engine: Any  # LLVM's, which links object files
    functions: Any  # the module of numba that makes functions of Python
    environments: dict[str, Any] = field(default_factory=dict)  # the constants of machine code, by symbol
    linked: dict[Any, Callable[..., Any]] = field(default_factory=dict, init=False)  # by function and types

    def load(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Callable[..., Any] | None:
        """The compiled form of a function for arguments of such types; None if it is not on disk."""
        with suppress(Exception):
            types = tuple(map(_type_name, arguments))
            found = self.linked.get((function, types))
            if found is None and (code := read(file_name(function, types, self.made_by))):
                found = self.linked[function, types] = self._linked(function, code)
            return found
        return None

    def wanted(self, function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[str, Signature] | None:
        """The name of the file with the code of a kernel for some arguments, and its signature. None if the
        type of an argument has no name here."""
        with suppress(KeyError):
            types = tuple(map(_type_name, arguments))
            module = function.__module__.rpartition(".")[2]
            return file_name(function, types, self.made_by), (module, function.__name__, types)
        return None

    def _linked(self, function: Callable[..., Any], content: bytes) -> Callable[..., Any]:
        (_, kind, (code, _)), about, own, _, by_object, lifted, _, again, others = _CodeReader(
            BytesIO(content)
        ).load()
        name = about.state[1]["mangled_name"]
        if kind != "object" or by_object or lifted or again or not name.startswith("_ZN"):
            raise _Unknown
        wrapper = f"_ZN7cpython{name[3:]}"
        symbols = list(_symbols_of(code))
        missing = {symbol for symbol, section, _ in symbols if not section}
        if wrapper in missing or not all(map(self.llvm.address_of_symbol, missing)):
            raise _Unknown  # LLVM would end the process
        made = {symbol: self._environment(*given) for given in (own, *others) for symbol in given[2:]}
        self.engine.add_object_file(self.llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()
        for symbol, environment in made.items():
            if at := self.engine.get_global_value_address(symbol):
                ctypes.c_void_p.from_address(at).value = id(environment)
        for symbol, section, length in symbols:
            if section and _PICKLE.fullmatch(symbol):
                _unpickle(self.engine.get_global_value_address(symbol), length)
        address = self.engine.get_function_address(wrapper)
        if not address:
            raise _Unknown
        module, doc = sys.modules[function.__module__], function.__doc__
        compiled: Callable[..., Any] = self.functions.make_function(
            module, function.__name__, doc, address, made[own[2]], (self,)
        )
        return compiled

    def _environment(self, module: str, constants: list[Any], symbol: str) -> Any:
        if not all(isinstance(each, np.dtype) for each in constants):
            raise _Unknown
        if symbol not in self.environments:
            made = self.environments[symbol] = self.functions.Environment({"__name__": module})
            made.consts[:] = constants
        return self.environments[symbol]


def loader() -> Loader | None:
    """What loads machine code in this process; None where numba has to."""
    if sys.platform != "linux" or settings() or os.path.exists(_SETTINGS) or "numba" in sys.modules:
        return None
    with suppress(Exception):
        return _loader()
    return None


def _loader() -> Loader:
    import llvmlite.binding as llvm

    spec = find_spec("numba")
    if spec is None or not spec.submodule_search_locations:
        raise _Unknown
    (home,) = spec.submodule_search_locations
    version = re.search(
        r'"version": "(0\.(\d+)\.\d+)"', read_whole(os.path.join(home, "_version.py")).decode()
    )
    if version is None or int(version[2]) not in _VERSIONS:
        raise _Unknown
    memory = _extension(home, "numba.core.runtime._nrt_python")
    helpers, functions = (_extension(home, f"numba.{name}") for name in ("_helperlib", "_dynfunc"))
    memory.memsys_use_cpython_allocator()
    for name, at in _symbols(memory, helpers, functions):
        llvm.add_symbol(name, at)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    system, name, features = (
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )
    target = llvm.Target.from_triple(system).create_target_machine(cpu=name, features=features, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    return Loader((version[1], system, name, features), llvm, engine, functions)


def _extension(home: str, name: str) -> Any:
    """A module of numba that is written in C. Numba itself imports it as if it were not there."""
    spec = PathFinder.find_spec(name, [os.path.join(home, *name.split(".")[1:-1])])
    if spec is None or spec.loader is None:
        raise _Unknown
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return module


def _symbols(memory: Any, *helpers: Any) -> Iterator[tuple[str, int]]:
    """The names that numba gives to machine code, and where they are."""
    yield "_Py_NoneStruct", id(None)
    for name, at in memory.c_helpers.items():
        yield name if name[0] == "_" else f"NRT_{name}", at
    for module in helpers:
        for name, at in module.c_helpers.items():
            yield f"numba_{name}", at
    yield "numba_unpickle", ctypes.cast(_CALLED, ctypes.c_void_p).value or 0
    for error in vars(builtins).values():
        if isinstance(error, type) and issubclass(error, BaseException):
            yield f"PyExc_{error.__name__}", id(error)


@functools.cache
def _unpickle(at: int, length: int) -> Any:
    """A constant of machine code, which lies there as a pickle, and is never unloaded. Machine code ends the
    process if this raises, as a signal's handler does wherever Python runs; what is found in the cache is
    found without Python."""
    return pickle.loads(ctypes.string_at(at, length))


_CALLED = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(_unpickle)


def _symbols_of(code: bytes) -> Iterator[tuple[str, int, int]]:
    """The named symbols of an object file: their names, sections, and sizes in bytes. The section is 0 if a
    symbol is needed from elsewhere. Raises _Unknown if it is not a file of ELF for little-endian machines of
    64 bits."""
    if code[:6] != b"\x7fELF\x02\x01":
        raise _Unknown
    sections = np.frombuffer(
        code, _SECTION, int.from_bytes(code[60:62], "little"), int.from_bytes(code[40:48], "little")
    )
    for section in sections[sections["f1"] == _SYMBOLS]:
        names = int(sections[section["f6"]]["f4"])
        symbols = np.frombuffer(code, _SYMBOL, int(section["f5"]) // _SYMBOL.itemsize, int(section["f4"]))
        for at, _, _, number, _, size in symbols[symbols["f0"] > 0].tolist():
            yield code[names + at : code.index(b"\0", names + at)].decode(), number, size


class _Something:
    """Something in such a file that is not looked into, but for its state."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _CodeReader(pickle.Unpickler):
    """Reads what numba keeps of a function, without its classes: types as their names, environments as what
    makes them."""

    def find_class(self, module: str, name: str) -> Any:
        match module, name:
            case "numba.core.types.abstract", "_type_reconstructor":
                return lambda _, __, state: state["name"]
            case "numba.core.environment", "_rebuild_env":
                return lambda *given: given
            case "numpy", "dtype":
                return np.dtype
        return _Something


def _type_name(value: Any) -> str:
    """The type of an argument, as numba names it. Raises KeyError if kernels are given none of its kind."""
    if type(value) is tuple:
        items = [*map(_type_name, value)]
        alike = len(items) > 0 and items == items[:1] * len(items)
        return f"UniTuple({items[0]} x {len(items)})" if alike else f"Tuple({', '.join(items)})"
    if type(value) is not np.ndarray:
        return NUMBERS[type(value)]
    flags = value.flags
    if value.dtype.kind not in "biuf" or not value.dtype.isnative or not flags.aligned:
        raise KeyError(value.dtype)
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return f"{'' if flags.writeable else 'readonly '}array({value.dtype}, {value.ndim}d, {layout})"
