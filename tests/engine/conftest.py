"""What the tests of the engine share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ddlog.engine import schedule, thresholds
from ddlog.engine.inprocess.recursion import loopdivergence

from .random_circuits import LIMIT


@pytest.fixture(autouse=True, scope="package")
def few_rows_are_dense() -> Iterator[None]:
    """Recursions whose rules are products are evaluated over bits, however few rows there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "DENSE_ROWS", 0)
        patch.setattr(thresholds, "DENSE_PAIRS", 1 << 40)
        yield


@pytest.fixture(autouse=True, scope="package")
def few_rounds() -> Iterator[None]:
    """Ends recursions of random circuits that do not settle as early as evaluation from scratch does, without
    a limit on the epochs, which would have all monotone recursions maintained."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (schedule, loopdivergence):
            patch.setattr(module, "MOST_ROUNDS", LIMIT)
        yield
