"""What calls of library functions give, all of a table in one program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ddlog import stdlib
from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table, row_expr
from ddlog.errors.diagnostics import render
from ddlog.errors.source import Source
from ddlog.values import Fault, Group

LIBRARY = Path(str(stdlib.__file__)).parent


def given(prelude: str, expressions: Iterable[str]) -> dict[str, str]:
    """Each expression with its value as to_string_debug shows it, or with its fault."""
    listed = list(expressions)
    rules = [f"Shown(to_string_debug({each}))." for each in listed]
    return dict(zip(listed, heads(prelude, rules, []), strict=True))


def given_of_group(
    prelude: str, value_type: str, values: Iterable[Any], expressions: Iterable[str]
) -> dict[str, str]:
    """The same of expressions over `g`, the group of the values, which are in order, for the key 1: u8."""
    listed, group = list(expressions), Group(1, values)
    rows = f"\ninput relation Row(key: u8, value: {value_type})"
    body = "Row(key, value), var g = value.group_by(key)"
    rules = [f"Shown(to_string_debug({each})) :- {body}." for each in listed]
    return dict(zip(listed, heads(prelude + rows, rules, [group]), strict=True))


def heads(prelude: str, rules: list[str], arguments: list[Any]) -> list[str]:
    """What the head of each rule is for the arguments."""
    program = "\n".join([prelude, "output relation Shown(text: string)", *rules])
    checked, found = check_program(Source("calls.dl", program))
    assert checked is not None, render(found)
    functions = compile_function_table(checked)
    made = [head for rule in checked.rules for head in rule.heads if head.relation == "Shown"]
    assert len(made) == len(rules)
    return [_scalar(row_expr(head.args[0], functions, "text").scalar, arguments) for head in made]


def _scalar(scalar: Any, arguments: list[Any]) -> str:
    try:
        found: str = scalar(*arguments)
    except Fault as fault:
        return f"fault: {fault.message}"
    return found


def untried(module: str, *tables: str | Mapping[str, str]) -> list[str]:
    """The functions of a module that no text, expression or other function of the module calls."""
    text = re.sub("//.*", "", (LIBRARY / f"{module.replace('::', '/')}.dl").read_text())
    used = [
        re.sub(r"function \w+", "", text),
        *(each if isinstance(each, str) else " ".join(each) for each in tables),
    ]
    words = set(re.findall(r"\w+", " ".join(used)))
    return [name for name in re.findall(r"function (\w+)", text) if name not in words]
