"""Writes docs/python.md, the page about the Python API, of the docstrings: `python -m tests.pythonpage`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ddlog

NAMES = (
    "compile", "connect", "connect_async", "Program", "Session", "RelationView", "Result", "Changes",
    "IndexView", "SparkOptions",
    "DDlogError", "Diagnostic", "render", "DDlogWarning",
)  # fmt: skip
"""The public names in the order of the page."""

_WIDTH = 100
PAGE = Path(__file__).parent.parent / "docs" / "python.md"

EXAMPLE = '''\
import datetime
from dataclasses import dataclass

import ddlog

program = ddlog.compile("""
import time
input relation Order(id: u32, day: Date, note: Option<string>) primary key (o) o.id
output relation Late(id: u32, note: Option<string>)
Late(i, n) :- Order(i, d, n), d > time::try_from_yo(2026, 365).unwrap_or_default().
""")


@dataclass
class Order:
    id: int
    day: datetime.date
    note: str | None = None


with program.session() as session:
    session.insert("Order", Order(1, datetime.date(2027, 1, 4)), (2, datetime.date(2026, 3, 1), "soon"))
    session.insert_table("Order", {"id": [3], "day": [datetime.date(2027, 2, 1)], "note": ["urgent"]})
    for row, weight in session.commit()["Late"]:
        print(weight, row.id, row.note)
    print(session.query("Order(i, d, None)").rows)
'''

OUTPUT = """\
1 1 None
1 3 urgent
[(1, datetime.date(2027, 1, 4))]
"""

HEAD = f"""\
# The Python API

`import ddlog` has the names of this page. A program is compiled once, and runs in sessions:

```python
{EXAMPLE}```

```output
{OUTPUT}```

[commands.md](commands.md#rows-in-other-forms) has the table of types: what Python, Arrow and data frames
have for each type of the language. [language.md](language.md#functions-in-python) is about functions of a
program in Python.

`python -m tests.pythonpage` writes this page; what follows are the docstrings.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *(part for name in NAMES for part in _section(name, getattr(ddlog, name)))])


def _section(name: str, of: Any) -> Iterator[str]:
    """The parts about a public name: a class with its members, or a function."""
    if not inspect.isclass(of):
        yield _entry("##", f"ddlog.{name}", of)
        return
    bases = "" if not issubclass(of, Exception) else f" ({of.__mro__[1].__name__})"
    yield f"## {name}{bases}\n\n{inspect.getdoc(of)}\n"
    for member, value in _members(of):
        yield _entry("###", member, value)


def _members(of: type) -> Iterator[tuple[str, Any]]:
    """The documented members of a class by name, those of its bases in ddlog first."""
    found: dict[str, Any] = {}
    for each in reversed(of.__mro__):
        if each.__module__.startswith("ddlog."):
            found |= {name: value for name, value in vars(each).items() if _is_shown(name, value)}
    yield from found.items()


def _is_shown(name: str, value: Any) -> bool:
    documented = inspect.isfunction(value) or isinstance(value, property)
    return documented and bool(value.__doc__) and (name == "__getitem__" or not name.startswith("_"))


def _entry(level: str, name: str, of: Any) -> str:
    title = name.removeprefix("ddlog.")
    return f"{level} {title}\n\n```text\n{_signature(name, of)}\n```\n\n{inspect.getdoc(of)}\n"


def _signature(name: str, of: Any) -> str:
    if isinstance(of, property):
        return f"{name}: {of.fget.__annotations__['return']}"
    found = inspect.signature(of)
    given = [
        each.replace(
            annotation=_Plain(each.annotation),
            default=_Plain(each.default.__name__) if inspect.isfunction(each.default) else each.default,
        )
        for each in found.parameters.values()
    ]
    given = given[1:] if given[0].name == "self" else given
    result = found.return_annotation
    result = "" if result is inspect.Signature.empty else f" -> {result}"
    line = f"{name}{inspect.Signature(given)}{result}"
    if len(line) <= _WIDTH:
        return line
    parts = re.split(r", (?=\*?\w+: |\*, )", line[len(name) + 1 : -len(result) - 1 or None].removesuffix(")"))
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){result}"])


class _Plain(str):
    """A text that stands for itself: an annotation, the name of a function."""

    def __repr__(self) -> str:
        return str(self)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
