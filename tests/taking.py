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

from ddlog.engine import interrupt, thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.divergence import Unsettled
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage import sweep
from ddlog.engine.memory import Exhausted
from ddlog.engine.operators.steps import has_effect
from ddlog.engine.runtime import NotKept
from ddlog.engine.schema import RowFault

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
    for each in (*sealed.inputs().values(), *map(sealed.output, sealed.deltas)):
        if each is not None:
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


PLAIN, IS_DUE = InProcess.commit, sweep.is_due


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


SMALL: tuple[dict[str, float], ...] = (
    {"GHOSTS": 0},
    {"FEW_ROWS": 0},
    {"FEW_PAIRS": 0},
    {"REPEATS": 1},
    {"LARGE_RANK": 0},
    {"FOLLOWED_WORK": 1},
    {"FOLLOWED_ROWS": 8},
    {"NARROW_ROWS": 0, "NARROW_BITS": 0, "NARROW_WORD": 35, "NARROW_DISTANCE": 1, "LARGE_SLOTS": 0},
    {"LARGE_TABLE": 0, "SOUGHT_TABLE": 0},
    {"ROWS_BY_MEANS": 0, "PROPOSED_BY_MEANS": 0, "PROPOSED_SAMPLE": 1, "PROPOSED_PEEK": 1},
    {"FUSED_MATCHES": 1, "FUSED_ROOM": 1, "FUSED_ROOM_NEW": 1, "FUSED_WORK": 1, "ORDERED_TABLE": 0},
    {"JOIN_CHUNK": 3, "JOIN_ASKING": 3, "JOIN_LEAST": 1, "JOIN_WAVE": 3, "JOIN_MOST": 2, "JOIN_ROOM": 5},
    {"MERGED_ROWS": 1, "MERGED_SAMPLE": 1, "MERGING_GAIN": 0.0, "MERGING_FANOUT": 0.0, "MERGED_PIECE": 2},
    {"CHUNK": 2},
    {"INDEX_CHUNK": 2, "INDEX_WAVE": 2, "INDEX_ROWS_PER_KEY": 0, "PACKED_IDS": 0},
    {"FIRST_SPARE": 1, "SMALL_GROUP": 0},
    {"GROUPS_READ_AGAIN": 0},
    {"GATE_BATCHES": 1},
    {"LOOP_EVENTS": 1},
    {"PATHS_TOLD": 2, "PATHS_TOLD_AT_ONCE": 1},
    {"IDS_LOOKED_AT": 0},
)


@contextmanager
def small(seed: int) -> Iterator[None]:
    """Inside, some thresholds are so low that a few rows are many; all of them for seed 1, none for 0."""
    rng = Random(seed)
    with ExitStack() as patched:
        for values in SMALL:
            if seed == 1 or (seed and rng.random() < 0.5):
                patched.enter_context(mock.patch.multiple(thresholds, **values))
        if seed == 1 or (seed and rng.random() < 0.5):
            patched.enter_context(mock.patch.object(sweep, "is_due", lambda _: True))
        yield


USUAL = {name: getattr(thresholds, name) for values in SMALL for name in values}


@contextmanager
def as_usual() -> Iterator[None]:
    """Inside, all is as without `taking` and `small`: for tests that count what an epoch does."""
    with (
        mock.patch.multiple(thresholds, **USUAL),
        mock.patch.object(sweep, "is_due", IS_DUE),
        mock.patch.object(InProcess, "commit", PLAIN),
    ):
        yield
