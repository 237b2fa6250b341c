"""The calls of the tables give what the tables say, and call every function of their modules."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from .calls import given, untried

TABLES = [
    import_module(f"{__package__}.tables.{path.stem}")
    for path in sorted(Path(__file__).with_name("tables").glob("[a-z]*.py"))
]
each_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.MODULE)


@each_table
def test_calls(table: Any) -> None:
    assert given(table.PRELUDE, table.CALLS) == table.CALLS


@each_table
def test_every_function_is_tried(table: Any) -> None:
    assert untried(table.MODULE, table.PRELUDE, table.CALLS) == []
