"""The kernels: generic loops over int64 arrays, compiled by numba once per installation.

They know words and ids, not columns: a packed row is one non-negative word, a wide row a row of a
two-dimensional array, and -1 a word that no table holds. Open addressing with linear probing; the
multiplier is the golden ratio's (Knuth, The Art of Computer Programming, 6.4). All loops release the GIL.

Loading machine code takes longer than a tiny program runs, so at first kernels are interpreted: the same
functions, as Python, or as operations on arrays where these are given. When that has taken a while, or arrays
get long, every name of a kernel in the kernel's module is rebound to its compiled form; call kernels through
their modules.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ...clock import done_once, tell_once
from ...interrupt import deferred

if TYPE_CHECKING:
    from .compilation import Compilation
    from .machinecode import Loader

F = TypeVar("F", bound=Callable[..., Any])

LONG = 20_000  # items of an array that are not worth interpreting a loop over
interpreted_seconds = 0.025  # of a thread in interpreted kernels: to load machine code takes as long
patient_seconds = 1.0  # of a thread in kernels that are interpreted as their machine code is still made
pause_seconds = 0.1  # of a wait for it after that, which gives as many of patience
_kernels: list[Callable[..., Any]] = []  # that numba has not taken over
_interpreted: list[Callable[..., Any]] = []  # those that are still interpreted, without parts
_parts: set[Callable[..., Any]] = set()  # those that are compiled into the others
_by_arrays: dict[Callable[..., Any], Callable[..., Any]] = {}  # what is interpreted in place of them
_of_one_kind: set[Callable[..., Any]] = set()  # those of which all calls give arguments of the same types
compiled: dict[Callable[..., Any], Compilation] = {}
"""The kernels that numba has taken over."""
_loader: Loader | None = None
_compiling = threading.Lock()


def _unlock() -> None:
    """In the child of a fork: who held the lock is not there."""
    global _compiling
    _compiling = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def kernel(function: F) -> F:
    """Makes a kernel of a function: interpreted while little is to do, compiled from then on."""
    _kernels.append(function)
    _interpreted.append(function)

    @functools.wraps(function)
    def interpreted(*arguments: Any) -> Any:
        global interpreted_seconds
        if interpreted_seconds < 0 or _longest(arguments) > LONG:
            compile_kernels()
            return function.__globals__[function.__name__](*arguments)
        result, seconds = _interpret(function, arguments)
        interpreted_seconds -= seconds
        return result

    return cast(F, interpreted)


def of_one_kind(function: F) -> F:
    """Says of what becomes a kernel that all calls give it arguments of the same types, at which only the
    first call looks: in a kernel that enters or finds one row, that takes three times as long as the rest."""
    _of_one_kind.add(function)
    return function


def part(function: F) -> F:
    """Makes a part of kernels of a function: it is compiled with them, and called by no one else."""
    _kernels.append(function)
    _parts.add(function)
    return cast(F, _by_arrays.get(function, function))


def interpreted_as(form: Callable[..., Any]) -> Callable[[F], F]:
    """Says what is interpreted in place of a kernel or a part: the same by operations on arrays, which take a
    hundredth of the time of a loop of Python."""

    def of(function: F) -> F:
        _by_arrays[function] = form
        return function

    return of


def compile_kernels() -> None:
    """Rebinds all kernels to compiled forms: to machine code that is on disk, and where that cannot be loaded
    without numba, to what numba makes."""
    global _loader
    from .machinecode import loader

    with deferred(), done_once(), _compiling:
        if _interpreted and (found := _loader or loader()):
            while _interpreted:  # also those of a module that was imported since
                function = _interpreted.pop()
                function.__globals__[function.__name__] = _loaded(function, found)
            _loader = found
    if not _loader:
        compile_by_numba()


def _loaded(function: F, loader: Loader) -> F:
    """A kernel whose machine code is loaded when it is called. If there is none for its arguments, processes
    beside make it (`ahead`), and meanwhile the kernel is interpreted where little is to do; after a while,
    as long as was waited for the code. If they cannot, numba takes over all kernels."""
    from .machinecode import NUMBERS

    known: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def find(kinds: tuple[Any, ...], *arguments: Any) -> Callable[..., Any]:
        global patient_seconds
        with deferred(), done_once(), _compiling:
            since = perf_counter()
            code = loader.load(function, arguments)
            if code is None and (wanted := loader.wanted(function, arguments)):
                from . import ahead

                is_little = _longest(arguments) <= LONG
                if is_little and patient_seconds > 0 and ahead.ask(*wanted):
                    return interpreted
                if ahead.wait_for(*wanted, pause_seconds if is_little else None):
                    code = loader.load(function, arguments)
                tell_once("compiling kernels takes some seconds; it is done once", perf_counter() - since)
                if code is None and is_little and ahead.ask(*wanted):
                    patient_seconds += pause_seconds
                    return interpreted
            if code is not None:
                known[kinds] = code
                return code
        compile_by_numba()
        return cast(F, function.__globals__[function.__name__])

    def interpreted(*arguments: Any) -> Any:
        global patient_seconds
        result, seconds = _interpret(function, arguments)
        patient_seconds -= seconds
        return result

    @functools.wraps(function)
    def first(*arguments: Any) -> Any:
        called = find((), *arguments) if function in _of_one_kind else told_apart(*arguments)
        if called is not interpreted:
            with _compiling:
                if function in _kernels:
                    function.__globals__[function.__name__] = called
        return called(*arguments)

    def told_apart(*arguments: Any) -> Callable[..., Any]:
        names = [f"_{place}" for place in range(len(arguments))]
        kinds = (
            f"{name}.dtype, {name}.ndim, {name}.flags.num"
            if isinstance(each, np.ndarray)
            else f"type({name}) if type({name}) in numbers else kind_of({name})"
            for name, each in zip(names, arguments, strict=True)
        )
        given = ", ".join(names)
        text = (
            f"def called({given}):\n"
            f"    try:\n        kinds = ({', '.join(kinds)},)\n"
            f"    except AttributeError:\n        kinds = tuple(map(kind_of, ({given},)))\n"
            f"    return (known.get(kinds) or find(kinds, {given}))({given})\n"
        )
        made: dict[str, Any] = {"known": known, "find": find, "kind_of": _kind_of, "numbers": NUMBERS}
        exec(text, made)  # tells the kinds of arguments in a third of the time of a loop over them
        return cast(F, made["called"])

    return cast(F, first)


def _interpret(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    """The result of a kernel that is interpreted, and the seconds of this thread that it takes."""
    start = thread_time()
    with np.errstate(over="ignore"):
        result = _by_arrays.get(function, function)(*arguments)
    return _as_compiled(result), thread_time() - start


def _as_compiled(result: Any) -> Any:
    """The result of an interpreted kernel with numbers of Python, as machine code returns them. Numbers of
    NumPy with 32 bits would be arguments of other kernels, which have no code for their type."""
    if type(result) is tuple:
        return tuple(map(_as_compiled, result))
    return result.item() if isinstance(result, np.generic) else result


def _longest(arguments: tuple[Any, ...]) -> int:
    """The items of the longest array among the arguments of a kernel."""
    return max(len(each) for each in arguments if isinstance(each, np.ndarray))


def _kind_of(value: Any) -> Any:
    """The key by which machine code is told apart for an argument that is no number: the type of an array,
    with its item type, dimensions and flags; of a tuple, the keys of its items."""
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.ndim, value.flags.num
    return tuple(map(_kind_of, value)) if type(value) is tuple else type(value)


def compile_by_numba() -> None:
    """Rebinds all kernels to their compiled forms, each before those that call it. Where a setting of numba
    turns compilation off, kernels stay interpreted."""
    with deferred(), done_once(), _compiling:  # a kernel half taken over would have no form that ends
        from . import compilation

        _interpreted.clear()
        while _kernels:
            function = _kernels.pop(0)
            bound: Any
            if function in _parts:
                bound = function if compilation.is_off else compilation.compiled_part(function)
            elif compilation.is_off:
                bound = np.errstate(over="ignore")(function)
            else:
                compiled[function] = compilation.Compilation(function)
                bound = compiled[function].dispatcher
            function.__globals__[function.__name__] = bound
