"""Random queries over small random tables with NULL, against DuckDB, after inserts and deletes.

`python -m tests.sql.random_queries COUNT` tries thousands.
"""

from __future__ import annotations

import pytest

from ..trying import longer
from .random_queries import trial


@pytest.mark.parametrize("seed", range(longer(3, 60)))
def test_views_are_those_of_duckdb_after_each_change(seed: int) -> None:
    assert trial(seed, queries=longer(6, 20)) == []
