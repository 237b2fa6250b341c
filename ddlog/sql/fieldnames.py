"""The names of fields of this language for those of columns and fields of SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..syntax import Attribute
from ..syntax.lexer import RESERVED
from ..syntax.tables import tables
from ..syntax.templates import NOWHERE, string


@cache
def _reserved() -> frozenset[str]:
    """The words that cannot name columns of relations, and those of the grammar that could be taken amiss."""
    words = {word for word in tables().words if word.isidentifier()} - {"initial"}
    return RESERVED | words | {"aggregate", "group_all_by", "group_by", "key", "primary"}


def field_name(name: str) -> str:
    """The name of a relation's column for that of a table's."""
    kept = "".join(e if e.isascii() and (e.isalnum() or e == "_") else "_" for e in name) or "col"
    if not (kept[0].islower() or kept[0] == "_"):
        kept = f"c{kept}"
    return f"{kept}_" if kept in _reserved() or kept == "_" else kept


def field_names(names: Sequence[str]) -> list[str]:
    """Names for all columns of a relation, no two alike. Of columns of one name, which have no other in
    files, none is what another column is called."""
    found: list[str] = []
    for name in names:
        made = base = field_name(name)
        number = 1
        while made in found or (made in names and made != name and names.count(name) > 1):
            made, number = f"{base}_{number}", number + 1
        found.append(made)
    return found


def titled(field: str, title: str, is_json: bool = False) -> tuple[Attribute, ...]:
    """The attribute of a field that has another name in files, or any JSON there; none of another one."""
    settings = ['with="raw_json"'] if is_json else []
    if title not in ("", field):
        written = title.replace("\\", r"\\").replace('"', r"\"")
        settings.append(f'rename="{written}"')
    return (Attribute("rust", string(f"serde({', '.join(settings)})"), NOWHERE),) if settings else ()
