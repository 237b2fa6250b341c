"""The errors of sessions that go on from a checkpoint whose numbers are not those that were derived.

Cheap checks find most of it when a unit is read (`engine/inprocess/units.py`). A unit that
contradicts another one makes a kernel or NumPy raise something, which is a fault of ddlog in a session that
derived all.
"""

from __future__ import annotations

from typing import Final

from ...engine.schema import RowFault
from ...engine.settling import Unsettled
from ...errors.diagnostics import DDlogError

FAULTS: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""The errors of the engine over wrong numbers."""

BEGINNING_ERRORS: Final = (DDlogError, RowFault, Unsettled, *FAULTS)
"""The errors of the first epochs that go on from wrong numbers."""

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
