"""The types of values that files have: also of objects in them, which become typedefs of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from ipaddress import ip_address
from itertools import chain
from typing import Any
from uuid import UUID

from ..errors.diagnostics import counted
from ..syntax.lexer import RESERVED
from ..syntax.tables import tables
from .columns import is_value
from .guesses import DATE, FLOAT, INTEGER, MOMENT, TIME, ZONED

_SCALES = 38
"""The decimals of SQL have up to so many digits behind the point."""

_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}\Z|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+\Z")

_FEW = 8
"""As many names are fields, even if most objects lack them; of more names objects have half on average."""


class InferredTypes:
    """The types of the columns of a relation. `typedefs` are the lines that declare those of objects in it,
    inner ones first, `imports` the modules that the types need."""

    def __init__(self, relation: str, are_texts: bool) -> None:
        """`are_texts`: all values are the cells of a text."""
        self._path, self._are_texts = [relation], are_texts
        self._names: set[str] = set()
        self.typedefs: list[str] = []
        self.imports: set[str] = set()
        self.left_out: set[str] = set()  # columns of types that the language lacks

    def fields(self, columns: Sequence[tuple[str, Sequence[Any]]]) -> list[str]:
        """Lines that declare columns or fields by their names and values, None for one that is missing."""
        lines = list[str]()
        for name, values in columns:
            self._path.append(re.search(r"\w+$", name)[0])  # type: ignore[index]
            type, why = self._type(values)
            self._path.pop()
            self.imports.update(re.findall(r"(\w+(?:::\w+)*)::", type))
            lines.append(f"    {name}: {type},  // {why}" if type else f"    // {name} is left out: {why}")
            self.left_out |= set() if type else {name}
        last = next((at for at in range(len(lines) - 1, -1, -1) if ",  //" in lines[at]), None)
        if last is not None:
            lines[last] = lines[last].replace(",  //", "  //", 1)
        return lines

    def _type(self, values: Sequence[Any]) -> tuple[str, str]:
        """The type of some values, and why."""
        present = [value for value in values if value is not None]
        type, why = self._type_of(present) if present else ("string", "no value is there")
        missing = len(values) - len(present)
        if not type or (present and not missing):
            return type, why
        lacking = f"missing in {missing:,} of {len(values):,}"
        return f"Option<{type}>", f"{why}; {lacking} {'rows' if len(self._path) == 2 else 'objects'}"

    def _type_of(self, values: Sequence[Any]) -> tuple[str, str]:
        kinds = {float if isinstance(value, float) else type(value) for value in values}
        if kinds == {str}:
            return _type_of_texts(values, self._are_texts)
        if kinds == {bool}:
            return "bool", "true or false"
        if kinds == {int}:
            return _integer(values)
        if kinds <= {int, float}:
            return "double", f"{min(values)} to {max(values)}"
        if kinds == {time}:
            return "time::Time", f"{min(values)} to {max(values)}"
        if kinds == {date}:
            return "time::Date", f"{min(values)} to {max(values)}"
        if all(isinstance(value, datetime) for value in values):
            zoned = "Tz" * (values[0].tzinfo is not None)
            return f"time::{zoned}DateTime", f"{min(values).isoformat()} to {max(values).isoformat()}"
        if kinds == {Decimal}:
            return _decimal(values)
        if kinds == {UUID}:
            return "uuid::Uuid", counted(len(set(values)), "UUID")
        if kinds == {list}:
            return self._listed(list(chain.from_iterable(values)))
        if kinds == {dict}:
            return self._object(values)
        if kinds <= {str, bool, int, float, list, dict}:
            return "json::JsonValue", "values of several kinds"
        return "", f"its values are {', '.join(sorted(kind.__name__ for kind in kinds))}"

    def _listed(self, items: Sequence[Any]) -> tuple[str, str]:
        if items and all(isinstance(item, tuple) and len(item) == 2 for item in items):  # a map of Arrow
            return self._map([key for key, _ in items], [value for _, value in items])
        inner, why = self._type(items)
        return f"Vec<{inner}>" if inner else "", f"lists: {why}"

    def _map(self, keys: Sequence[Any], values: Sequence[Any]) -> tuple[str, str]:
        key, _ = self._type(keys)
        value, why = self._type(values)
        return (
            f"Map<{key}, {value}>" if key and value else "",
            f"maps of {counted(len(set(keys)), 'key')}: {why}",
        )

    def _object(self, values: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
        """Objects with fields that most of them have: a struct; with others of one type: a map."""
        names = list(dict.fromkeys(chain.from_iterable(values)))
        if names and (len(names) <= _FEW or 2 * sum(map(len, values)) >= len(names) * len(values)):
            return self._struct(names, values)
        found = list(chain.from_iterable(each.values() for each in values))
        if found:
            known = len(self.typedefs)
            type, why = self._map(list(chain.from_iterable(values)), found)
            if "JsonValue" not in type:
                return type, why
            del self.typedefs[known:]
        why = f"objects of {counted(len(names), 'name')}, which differ" if names else "objects without names"
        return "json::JsonValue", why

    def _struct(self, names: Sequence[str], values: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
        own = type_name(" ".join(self._path))
        while own in self._names:
            own += "_"
        self._names.add(own)
        shown = [
            name if name == there else f"#[rust = {_quoted(f'serde(rename={_quoted(there)})')}] {name}"
            for name, there in zip(field_names(names, keep_case=True), names, strict=True)
        ]
        columns = [[each.get(name) for each in values] for name in names]
        lines = self.fields(list(zip(shown, columns, strict=True)))
        self.typedefs += [f"typedef {own} = {own}{{", *lines, "}"]
        return own, counted(len(values), "object")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _type_of_texts(values: Sequence[str], are_texts: bool) -> tuple[str, str]:
    def all_are(form: re.Pattern[str], read: Callable[[str], Any]) -> bool:
        return all(map(form.match, values)) and all(is_value(read, value) for value in values)

    if all_are(DATE, date.fromisoformat):
        return "time::Date", f"{min(values)} to {max(values)}"
    if all_are(MOMENT, datetime.fromisoformat):
        return "time::DateTime", f"{min(values)} to {max(values)}"
    if all_are(ZONED, datetime.fromisoformat):
        return "time::TzDateTime", f"{min(values)} to {max(values)}"
    if all_are(TIME, time.fromisoformat):
        return "time::Time", f"{min(values)} to {max(values)}"
    if all_are(_UUID, UUID):
        return "uuid::Uuid", counted(len(set(values)), "UUID")
    if all_are(_ADDRESS, ip_address):
        return "net::ipaddr::IpAddr", counted(len(set(values)), "IP")
    cells = [value.strip() for value in values] if are_texts else []
    if cells and all(cell.lower() in ("true", "false") for cell in cells):
        return "bool", "true or false"
    if cells and all(map(INTEGER.match, cells)):
        return _integer(list(map(int, cells)))
    if cells and all(FLOAT.match(cell) and not re.match(r"-?0[0-9]", cell) for cell in cells):
        numbers = list(map(float, cells))
        return "double", f"{min(numbers)} to {max(numbers)}"
    example = json.dumps(values[0][:20], ensure_ascii=False)
    return "string", f"{counted(len(set(values)), 'text')}, such as {example}"


def _integer(values: Sequence[int]) -> tuple[str, str]:
    least, most = min(values), max(values)
    fits = least >= -(1 << 63) and most < 1 << 63
    return "s64" if fits else "bigint", f"{least:,} to {most:,}"


def _decimal(values: Sequence[Decimal]) -> tuple[str, str]:
    scale = max(-int(value.as_tuple().exponent) for value in values)
    told = f"{min(values)} to {max(values)}"
    return (f"sql::Decimal{scale}", told) if 0 < scale <= _SCALES else ("double", told)


def type_name(words: str) -> str:
    """A name for a type or a relation."""
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"\W+|_", words) if part)
    return name if name[:1].isascii() and name[:1].isalpha() else f"R{name}"


def field_names(found: Iterable[str], keep_case: bool = False) -> list[str]:
    """Names of columns or fields for those in a file."""
    reserved, names = RESERVED | tables().words.keys(), dict[str, None]()
    for each in found:
        name = re.sub(r"[^0-9A-Za-z_]+", "_", each).strip("_")
        name = (name[:1].lower() + name[1:] if keep_case else name.lower()) or "column"
        name = f"c{name}" if name[0].isdigit() else name
        name = f"{name}_" if name in reserved else name
        while name in names:
            name += "_"
        names[name] = None
    return list(names)
