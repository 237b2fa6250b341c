"""The options of a session, and the combinations of them that have no meaning."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ..engine.spilling import takes_arrays
from ..errors.diagnostics import DDlogError
from ..errors.options import STATE_NEEDS, BadOptionValue, Exclusion, check_combinations
from .engines import EngineChoice, check_state, engine_named, memory_limit_of, path_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..durability.log import Durability
    from ..engine.maintenance import Mode
    from ..engine.runtime import Progress
    from ..engine.spark.runtime import SparkOptions

P = ParamSpec("P")
Self = TypeVar("Self")
Options = TypeVar("Options")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Options with which a session of a program is opened, as `Program.session` takes them."""

    relations: str | Iterable[str] = "all"
    max_iterations: int | None = None
    engine: str = "auto"
    spark: SparkSession | None = None
    spark_options: SparkOptions | None = None
    workers: int | None = None
    progress: Progress | None = None
    memory_limit: int | str | None = None
    spill: str | Path | None = None
    maintain: Mode = "auto"
    state: str | Path | None = None
    durability: Durability = "commit"
    read_only: bool = False
    migrate: bool | Mapping[str, Any] = False
    updates: bool = True

    @property
    def choice(self) -> EngineChoice:
        """The engine that is asked for. Raises DDlogError."""
        return engine_named(self.engine, self.spark, self.spark_options)

    @property
    def limit(self) -> int | None:
        """The limit of memory in bytes. Raises DDlogError."""
        return memory_limit_of(self.memory_limit, self.choice)

    @property
    def place(self) -> str | None:
        """The place of the state. Raises DDlogError."""
        return None if self.state is None else path_of(self.state)

    @property
    def fill(self) -> Mapping[str, Any] | None:
        """The values of new columns of a state; None if nothing is to be migrated."""
        return ({} if self.migrate else None) if isinstance(self.migrate, bool) else self.migrate

    def check(self) -> None:
        """Raises DDlogError for a value that has not the form of its option, and for options that cannot be
        combined."""
        choice = self.choice
        for name, value in (("max_iterations", self.max_iterations), ("workers", self.workers)):
            if value is not None and not (isinstance(value, int) and value > 0):
                raise DDlogError([BadOptionValue(name, repr(value), "a positive integer")])
        memory_limit_of(self.memory_limit, choice)
        if self.spill is not None and not takes_arrays(self.spill):
            text = "a folder on a disk that this process may write to"
            raise DDlogError([BadOptionValue("spill", repr(str(self.spill)), text)])
        if self.maintain not in ("always", "never", "auto"):
            raise DDlogError([BadOptionValue("maintain", repr(self.maintain), '"always", "never" or "auto"')])
        check_combinations(self, GIVEN, STATE_NEEDS, EXCLUSIONS)
        if self.place is not None:
            check_state(choice, self.durability, self.place)


GIVEN: dict[str, Callable[[SessionOptions], bool]] = {
    'engine="spark"': lambda options: options.choice.spark,
    "a state": lambda options: options.state is not None,
    "durability": lambda options: options.durability != "commit",
    'memory_limit="none"': lambda options: options.memory_limit == "none",
    "migrate": lambda options: options.fill is not None,
    "read_only": lambda options: options.read_only,
    "spill": lambda options: options.spill is not None,
    "state": lambda options: options.state is not None,
    "updates=False": lambda options: not options.updates,
    "workers": lambda options: options.workers is not None,
}
"""Whether an option of the tables is given."""

EXCLUSIONS = (
    Exclusion("workers", 'engine="spark"', "the Spark session settles the number of its threads"),
    Exclusion("spill", 'engine="spark"', "workers write to the local disks of Spark (spark.local.dir)"),
    Exclusion("spill", 'memory_limit="none"', "memory goes to disk when it comes near the limit"),
    Exclusion("updates=False", "a state", "a state is kept for updates"),
)


def taking(
    options: Callable[P, Options],
) -> Callable[[Callable[[Self, Options], Result]], Callable[Concatenate[Self, P], Result]]:
    """Lets a method that takes options be called with the fields of these as arguments."""

    def decorate(method: Callable[[Self, Options], Result]) -> Callable[Concatenate[Self, P], Result]:
        @wraps(method)
        def called(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> Result:
            return method(self, options(*args, **kwargs))

        first = next(iter(inspect.signature(method).parameters.values()))
        fields = inspect.signature(options).parameters.values()
        called.__signature__ = inspect.Signature([first, *fields])  # type: ignore[attr-defined]
        return called

    return decorate
