"""What a state in a folder holds of windows: the same as a file of the in-process engine. See
`ddlog.sessions.persistence.windowed`."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.spark.sealing import SealedEpoch
from ...engine.spark.tables import Table
from ...sessions.persistence.stored_changes import PASSED
from ...sessions.persistence.windowed import KeptWindows


def changes(windows: KeptWindows, sealed: SealedEpoch) -> Mapping[str, Table]:
    """What changes of the relations of the state in an epoch."""
    if not windows.relations:
        return {}
    passed = {f"{name}{PASSED}": rows for name, rows in sealed.passed().items()}
    return {**sealed.remembered(), **passed}
