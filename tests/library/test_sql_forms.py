"""What Spark computes of interned strings and hash sets is what it computes of strings and sets."""

from __future__ import annotations

import pytest

from ddlog.check.program import check_program
from ddlog.codegen.functiontable import compile_function_table
from ddlog.codegen.sql import NumberText, SqlWriter
from ddlog.errors.source import Source

SETS = ["s.size()", "s.is_empty()", "s.contains(3)", "s.insert_imm(3)", "s.union(s)", "s.intersection(s)",
        "s.difference(s)"]  # fmt: skip
STRINGS = ['s.contains("a")', 's.starts_with("a")', 's.ends_with("a")', "s.len()"]


def sql(type: str, expression: str) -> str:
    """The SQL of an expression over a column `s` of the type."""
    program = f"""
        import hashset
        import tinyset
        input relation R(s: {type})
        output relation O(text: string)
        O("x") :- R(s), var x = {expression}, x == x.
    """
    checked, found = check_program(Source("sql.dl", program))
    assert checked is not None, found
    let = next(each for each in checked.rules[0].body if hasattr(each, "value"))
    return SqlWriter(compile_function_table(checked)).stored(let.value, {"s": NumberText("`s`")})


@pytest.mark.parametrize("expression", SETS)
@pytest.mark.parametrize("type", ["HashSet<u8>", "Set64<u8>"])
def test_sets(type: str, expression: str) -> None:
    assert sql(type, expression) == sql("Set<u8>", expression)


@pytest.mark.parametrize("expression", STRINGS)
def test_strings(expression: str) -> None:
    assert sql("istring", expression) == sql("string", expression)
