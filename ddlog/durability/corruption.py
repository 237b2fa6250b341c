"""The errors of states with right checksums that hold what no session has written.

Cheap checks find most of it when a part, or a unit of a checkpoint (`engine/inprocess/units.py`), is read.
One that contradicts another makes a kernel, NumPy or Arrow raise something, which is a fault of ddlog in a
session that derived all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..errors.diagnostics import DDlogError
from ..errors.state import StateDamaged
from ..syntax.cursor import TextFault

FAULTS: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, TextFault, TypeError,
    ValueError,
)  # fmt: skip
"""The errors of the engine, and of Arrow, over wrong numbers and rows."""

_OURS: Final = frozenset({"ddlog", "numpy", "pyarrow", None})  # None: functions of the program


def is_fault(error: BaseException) -> bool:
    """Whether wrong numbers can be the reason of an exception: no function of the user's raised it."""
    if not isinstance(error, FAULTS):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = None if trace is None else trace.tb_frame.f_globals.get("__name__")
    return (name if name is None else name.partition(".")[0]) in _OURS


def misfit(error: BaseException) -> str:
    """The problem of a state whose use has raised something."""
    return f"what it holds does not fit together ({type(error).__name__}: {str(error) or 'none'})"


@contextmanager
def trusting(path: str) -> Iterator[None]:
    """Turns what goes wrong because of the rows of a state inside into a DDlogError."""
    try:
        yield
    except FAULTS as error:
        if not is_fault(error):
            raise
        raise DDlogError([StateDamaged(path, misfit(error))]) from error
