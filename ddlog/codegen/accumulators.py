"""Collections that a loop only adds to and looks up in: Python's own while the loop runs, growing in place.

A vector is a tuple, and pushing copies it, so a loop that fills one would take quadratic time. Where a loop
does nothing with a variable but add to it, ask for its size and look up in it, the variable is a list, a set
or a dict until the loop ends. There is no safe point within an expression, so the memory is looked at after
every 4,096 elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import core
from ..core import Expr
from ..core.walk import children
from .analysis import bound_names


@dataclass(frozen=True, slots=True)
class Filling:
    """The code for a library function that adds to a collection: the class of the collection while the loop
    runs, the statement that adds, and the class of the collection after the loop."""

    builder: str
    add: str
    result: str


_ASKING = "len({0}) & 4095 or _check_memory()"
_SET = Filling("set", f"{{0}}.add({{1}}); {_ASKING}", "_Set")
FILLING = {
    "ddlog_std::vec_push": Filling("list", f"{{0}}.append({{1}}); {_ASKING}", "_Vec"),
    "ddlog_std::vec_append": Filling("list", "_extended({0}, {1})", "_Vec"),
    "ddlog_std::set_insert": _SET,
    "ddlog_std::map_insert": Filling("dict", f"{{0}}[{{1}}] = {{2}}; {_ASKING}", "_Map"),
    "hashset::hashset_insert": _SET,
    "tinyset::insert": _SET,
}
_HAS, _SIZE, _EMPTY = "({1} in {0})", "len({0})", "(not {0})"
LOOKING_UP = {  # the code for a library function that looks up in a collection, of the collection as it grows
    "ddlog_std::vec_len": _SIZE,
    "ddlog_std::vec_is_empty": _EMPTY,
    "ddlog_std::vec_contains": _HAS,
    "ddlog_std::vec_nth": "_item({0}, {1})",
    "ddlog_std::set_size": _SIZE,
    "ddlog_std::set_is_empty": _EMPTY,
    "ddlog_std::set_contains": _HAS,
    "ddlog_std::map_size": _SIZE,
    "ddlog_std::map_is_empty": _EMPTY,
    "ddlog_std::map_contains_key": _HAS,
    "ddlog_std::map_get": "_held({0}, {1})",
    "hashset::hashset_size": _SIZE,
    "hashset::hashset_is_empty": _EMPTY,
    "hashset::hashset_contains": _HAS,
    "tinyset::size": _SIZE,
    "tinyset::is_empty": _EMPTY,
    "tinyset::contains": _HAS,
}


def filled(body: Expr, library: Callable[[str], str], kept: Sequence[str]) -> dict[str, Filling]:
    """The variables outside a loop that the loop's body only adds to and looks up in, each with how it adds.
    `library` gives the name of a function; `kept` are the variables whose values a `return`
    returns."""
    added: dict[str, set[Filling]] = {}
    other: set[str] = set()
    leaves = False

    def adds(expr: Expr, name: str) -> bool:
        match expr:
            case core.Call(function, (core.Var(changed), *_)) if (
                changed == name and library(function) in FILLING
            ):
                return True
        return any(adds(each, name) for each in children(expr))

    def visit(expr: Expr) -> None:
        nonlocal leaves
        leaves = leaves or isinstance(expr, core.Return | core.Try)
        operands: Sequence[Expr] = children(expr)
        if isinstance(expr, core.Call) and expr.args and isinstance(expr.args[0], core.Var):
            named, name = library(expr.function), expr.args[0].name
            if named in FILLING:
                added.setdefault(name, set()).add(FILLING[named])
                operands = operands[1:]
            elif named in LOOKING_UP and not any(adds(each, name) for each in operands[1:]):
                operands = operands[1:]
        if isinstance(expr, core.Var):
            other.add(expr.name)
        for each in operands:
            visit(each)

    visit(body)
    excluded = other | set(bound_names(body)) | (set(kept) if leaves else set())
    return {
        name: next(iter(how))
        for name, how in added.items()
        if name not in excluded and len({each.builder for each in how}) == 1
    }
