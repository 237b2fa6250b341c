"""The storage of the columns of a Z-set, and the row expressions that circuits carry."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from threading import RLock
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.int64]


class Kind(Enum):
    """The representation of a column in an int64 array.

    BOOL: 0 or 1. INT: the integer itself where -2^62 <= v < 2^62, else 2^62 + the id of the value
    interned in the column's domain (only for wide types). FLOAT: the bit pattern of the double,
    with one NaN and no negative zero. OBJECT: the id of the value interned in the column's domain.
    """

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    OBJECT = "object"


INLINE_LIMIT = 1 << 62  # integers at or beyond it, either side, are interned


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its representation, and its domain, the text of the value's type:
    two columns hold comparable int64s when their domains are equal. `type` is the front end's own
    description of that type; only codecs of the front end look at it."""

    name: str
    kind: Kind
    domain: str
    type: Any = field(default=None, compare=False, repr=False)


Schema: TypeAlias = tuple[Column, ...]
Origin: TypeAlias = Hashable
"""The origin of an expression: a value of the front end, into which the engine never looks. It has no part
in the equality of expressions; their faults carry it."""


class NotVectorised(Exception):
    """Raised by array code that cannot treat this batch (a fault, a value out of the inline
    range): the runtime then runs the scalar function row by row, which finds the faulty row."""


class SqlForm(Protocol):
    """An expression as SQL over the SQL texts of its inputs. Both methods raise NotImplementedError where
    there turns out to be no such form."""

    def __call__(self, *texts: str) -> str:
        """The value of an expression that cannot fault."""

    def checked(self, *texts: str) -> tuple[str, str]:
        """SQL that is null exactly where the expression faults, and the text of the fault."""


_making = RLock()  # what compiles functions serves one thread


class Deferred:
    """A function that is made when it is first called, or pickled for another process."""

    __slots__ = ("_function", "_make")

    def __init__(self, make: Callable[[], Callable[..., Any]]) -> None:
        self._make = make
        self._function: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        return self.function()(*args)

    def __reduce__(self) -> Any:
        return ready, (self.function(),)

    def function(self) -> Callable[..., Any]:
        """The function itself."""
        if self._function is None:
            with _making:
                self._function = self._make()
        return self._function


def ready(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, without the detour of a Deferred: for many calls."""
    return function.function() if isinstance(function, Deferred) else function


@dataclass(frozen=True, slots=True)
class Carried:
    """An integer expression is `v + c`, `min(v, c)` or `max(v, c)`, by `operator`, of the input v at a
    position: c does not depend on v. Values of its column lie between `low` and `high`, and sums wrap around
    there, or are interned."""

    position: int
    operator: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class RowExpr:
    """A typed expression over the variables of a row.

    `scalar(*values)` takes Python values in the order of `inputs` (see `ready`). `arrays(encoder, *columns)`,
    when there is one, takes and gives int64 arrays of one length in the representation of Kind
    (with no inputs it gives an array of length 1); it may raise NotVectorised.
    `sql`, when there is one, gives the SQL text of the value, in the Spark types of the runtime's codec.
    `columns` describes the inputs, where a codec needs to know. `effect`: computing it does something beside.
    `carried` says of which inputs the value is a sum, or a bound, with something else.
    Two expressions are equal when their inputs, column and key are: `key` is the expression's
    structure. `text` is its source text, for people; `origin` says where it stands, for faults.
    """

    inputs: tuple[str, ...]
    column: Column
    key: Hashable
    text: str = field(compare=False)
    origin: Origin = field(compare=False, repr=False)
    scalar: Callable[..., Any] = field(compare=False, repr=False)
    arrays: Callable[..., Array] | None = field(compare=False, repr=False, default=None)
    sql: SqlForm | None = field(compare=False, repr=False, default=None)
    columns: tuple[Column, ...] = field(compare=False, repr=False, default=())
    effect: bool = field(compare=False, repr=False, default=False)
    carried: tuple[Carried, ...] = field(compare=False, repr=False, default=())


def fault_message(fault: BaseException) -> str:
    """The message of an error that user code, or the values given to it, caused."""
    if isinstance(fault, RecursionError):
        return "a value is nested too deeply"
    return str(fault) or type(fault).__name__


class RowFault(Exception):
    """User code failed on a row: division by zero, index out of range. `rule` is the text of the
    rule, `origin` that of the expression, `row` the valuation by variable name."""

    def __init__(self, message: str, rule: str, origin: Origin, row: dict[str, Any]) -> None:
        super().__init__(message)
        self.message, self.rule, self.origin, self.row = message, rule, origin, row


Rows: TypeAlias = Sequence[tuple[Any, ...]]
