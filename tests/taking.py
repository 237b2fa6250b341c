"""Epochs that are taken back between the others, and thresholds at which a few rows are many.

An epoch that is taken back is a part of the changes of the next one: as a trial, refused when it is sealed,
interrupted, or out of memory at some safe point; or the last one is undone on trial. With DDLOG_TEST_TAKEN=N
in the environment, some come before the epochs of every test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from random import Random
from typing import Any
from unittest import mock

from ddlog.engine import interrupt
from ddlog.engine.circuit import Circuit
from ddlog.engine.inprocess import operators, sealing
from ddlog.engine.inprocess.arrangements import bulkindex, locating, store, timeline, views, windows
from ddlog.engine.inprocess.groups import grouping, grouptimeline, orderedmembers, roundgroup, wholegroups
from ddlog.engine.inprocess.joins import fused, join, merging, proposals
from ddlog.engine.inprocess.recursion import (
    history,
    loopepoch,
    loopgates,
    loopsums,
    lowering,
    memories,
    paths,
    ranked,
)
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage import batch, interner, layout, rows, steps, sweeping
from ddlog.engine.memory import Exhausted
from ddlog.engine.operators.steps import has_effect
from ddlog.engine.runtime import NotKept
from ddlog.engine.schema import RowFault
from ddlog.engine.settling import Unsettled

WAYS = ("tried", "tried", "undone", "refused", "interrupted", "interrupted", "exhausted")


class Refused(Exception):
    """What a seal raises."""


class Pressed(BaseException):
    """What an interrupt raises."""


ENDS = (Refused, Pressed, RowFault, Unsettled, MemoryError, Exhausted, NotKept)


def acting_at(point: int, raised: type[BaseException]) -> Callable[[], None]:
    """`interrupt.check` that raises at the safe point of this number."""
    left = iter(range(point))

    def check() -> None:
        if next(left, None) is None:
            raise raised

    return check


def refuse(sealed: Any) -> None:
    """Reads the changes of an epoch, and refuses it."""
    for each in (*sealed.inputs().values(), *sealed.outputs().values()):
        each()
    raise Refused


def held(runtime: InProcess) -> dict[str, Any]:
    """The contents of all relations."""
    found = {}
    for name in runtime._relations:
        contents = runtime.rows(name)
        assert runtime.size(name) == len(contents), name
        found[name] = dict(zip(contents, contents.weights or [1] * len(contents), strict=True))
    return found


def some_of(rng: Random, changes: Mapping[str, Any]) -> dict[str, Any]:
    """All changes, or the first ones of some relations."""
    if rng.random() < 0.5:
        return dict(changes)
    kept = [name for name in changes if rng.random() < 0.6]
    return {name: changes[name][: rng.randint(0, len(changes[name]))] for name in kept}


def take_back(target: InProcess, changes: Mapping[str, Any], options: Mapping[str, Any], rng: Random) -> None:
    """Runs an epoch that is taken back, and compares the state with that of before."""
    way, some, point = rng.choice(WAYS), some_of(rng, changes), int(rng.expovariate(1 / 25))
    begun, before = target.committed > 0, held(target)
    with suppress(*ENDS):
        if way in ("interrupted", "exhausted"):
            raised = Pressed if way == "interrupted" else MemoryError
            with mock.patch.object(interrupt, "check", acting_at(point, raised)):
                PLAIN(target, some, **{**options, "seal": refuse})
        elif way == "refused" or not begun or options.get("static"):
            PLAIN(target, some, **{**options, "seal": refuse})
        elif way == "undone":
            target.before(lambda: held(target), options.get("max_iterations"))
        else:
            target.attempt(some, lambda: held(target), options.get("max_iterations"))
    assert held(target) == before, way


def is_silent(circuit: Circuit) -> bool:
    """Whether no rule has an effect."""
    bodies = [circuit]
    while bodies:
        for node in bodies.pop().nodes:
            if any(has_effect(step) for step in getattr(node, "steps", ())):
                return False
            if isinstance(body := getattr(node, "body", None), Circuit):
                bodies.append(body)
    return True


PLAIN = InProcess.commit


@contextmanager
def taking(seed: int, most: int = 2) -> Iterator[None]:
    """Inside, up to so many epochs that are taken back come before each epoch in process."""

    def commit(target: InProcess, changes: Mapping[str, Any], **options: Any) -> Any:
        sizes = [(name, [(part.length, sign) for part, sign in parts]) for name, parts in changes.items()]
        rng = Random(repr((seed, target.committed, sizes)))
        if is_silent(target.circuit):
            for _ in range(rng.randint(0, most)):
                take_back(target, changes, options, rng)
        return PLAIN(target, changes, **options)

    with mock.patch.object(InProcess, "commit", commit):
        yield


GHOSTS = (grouping, history, ranked, store, paths, loopsums, timeline, windows)
SMALL: tuple[tuple[Any, dict[str, Any]], ...] = (
    *((module, {"_FEW_GHOSTS": 0}) for module in GHOSTS),
    *((module, {"FEW": 1}) for module in (batch, rows, store, views, operators)),
    *((module, {"_FEW": 0}) for module in (layout, interner, sealing)),
    (ranked, {"MOST": 0, "_FEW": 0}),
    (locating, {"LARGE": 0, "_PATIENCE": 100}),
    (views, {"_FEW_PAIRS": 0}),
    (steps, {"_REPEATS": 1}),
    (proposals, {"FEW": 0, "FEW_PROPOSED": 0, "SAMPLE": 1, "PEEK": 1}),
    (fused, {"LEAST": 1, "ROOM": 1, "ROOM_NEW": 1, "WORK": 1}),
    (join, {"CHUNK": 3, "LEAST": 1, "WAVE": 3, "MOST": 2, "ROOM": 5}),
    (merging, {"MANY": 1, "SAMPLE": 1, "LEAST_GAIN": 0.0, "LEAST_FANOUT": 0.0, "PIECE": 2}),
    (memories, {"CHUNK": 2}),
    (lowering, {"CHUNK": 2, "_MANY": 1}),
    (bulkindex, {"CHUNK": 2, "_WAVE": 2, "_FEW_KEYS": 0}),
    (orderedmembers, {"LARGE": 0, "_FEW_NEW": 0}),
    (roundgroup, {"LARGE": 0}),
    (wholegroups, {"_SPARE": 1, "_SMALL": 0}),
    (wholegroups, {"_MANY": 0}),
    (grouptimeline, {"_CHUNK": 2}),
    (loopgates, {"_MOST_BATCHES": 1}),
    (loopepoch, {"_LOOKS": 1}),
    (sweeping, {"is_due": lambda _: True, "_CHUNK": 2}),
)


@contextmanager
def small(seed: int) -> Iterator[None]:
    """Inside, some thresholds are so low that a few rows are many; all of them for seed 1, none for 0."""
    rng = Random(seed)
    with ExitStack() as patched:
        for module, values in SMALL:
            if seed == 1 or (seed and rng.random() < 0.5):
                patched.enter_context(mock.patch.multiple(module, **values))
        yield
