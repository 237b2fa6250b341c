"""Dates and times to text and back, by formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .timespecifiers import Fields, Form, Moment, NameSpecifier, NumberSpecifier, Specifier, TimeDialect


class FormatError(Exception):
    """The format, or the text to parse, is not as it should be."""


@dataclass(frozen=True, slots=True)
class Item:
    """A specifier in a format, with the padding that the format wants: None if it is the usual one."""

    code: str
    specifier: Specifier
    padding: str | None


_ITEM = re.compile(r"%(?P<modifier>[-_0]?)(?P<code>:z|\.f|.)|(?P<text>[^%]+)|%", re.DOTALL)
_PADDING = {"": None, "-": "", "_": " ", "0": "0"}
_NAMES = {
    "year_of_century": "year of the century", "hour_of_12": "hour", "afternoon": "half of the day",
    "ordinal": "day of the year", "iso_year": "year of the week", "iso_year_of_century": "year of the week",
    "iso_week": "week", "sunday_week": "week", "monday_week": "week", "sunday_weekday": "weekday",
    "nanosecond": "fraction of the second", "offset": "offset from UTC", "timestamp": "seconds since 1970",
}  # fmt: skip
_FORMS = {
    "N": "nanosecond",
    "f": "nanosecond",
    ".f": "nanosecond",
    "z": "offset",
    ":z": "offset",
    "s": "timestamp",
}
_NAMED = {"date": "a date", "time": "a time", "offset": "an offset", "timestamp": "an offset"}


@lru_cache(maxsize=256)
def _items(dialect: TimeDialect, format: str) -> tuple[str | Item, ...]:
    return tuple(_parts(dialect, format))


def _parts(dialect: TimeDialect, format: str) -> Iterator[str | Item]:
    for found in _ITEM.finditer(format):
        code = found["code"]
        if found["text"] is not None:
            yield found["text"]
        elif code == "%":
            yield "%"
        elif code in dialect.composites:
            yield from _parts(dialect, dialect.composites[code])
        elif code in dialect.specifiers:
            yield Item(code, dialect.specifiers[code], _PADDING[found["modifier"]])
        else:
            raise FormatError(f"the format has an unknown specifier, `{found[0]}`")


# --------------------------------------------------------------------- writing


def write(moment: Moment, format: str, dialect: TimeDialect) -> str:
    """The moment in the format, or FormatError."""
    items = _items(dialect, format)
    return "".join(item if isinstance(item, str) else _written(item, moment) for item in items)


def _written(item: Item, moment: Moment) -> str:
    specifier = item.specifier
    part = getattr(moment, specifier.needs)
    if part is None:
        raise FormatError(f"`%{item.code}` needs {_NAMED[specifier.needs]}")
    match specifier:
        case Form():
            return specifier.write(part)
        case NameSpecifier():
            return specifier.names[specifier.value(part) - specifier.first]
        case NumberSpecifier():
            padding = specifier.padding if item.padding is None else item.padding
            return _number_text(specifier, specifier.value(part), padding)


def _number_text(specifier: NumberSpecifier, value: int, padding: str) -> str:
    sign = "-" if value < 0 else "+" if specifier.is_year and value > 9999 else ""
    digits = str(abs(value))
    return sign + (digits.rjust(specifier.digits, padding) if padding else digits)


# --------------------------------------------------------------------- reading


def read(text: str, format: str, dialect: TimeDialect) -> Fields:
    """The numbers in a text of the format, or FormatError."""
    fields: Fields = {}
    at = 0
    for item in _items(dialect, format):
        found = re.compile(_pattern(item, dialect)).match(text, at)
        if found is None:
            wanted = f"`{item}`" if isinstance(item, str) else f"the {_words(item)} (`%{item.code}`)"
            if at == len(text):
                raise FormatError(f"premature end of input: expected {wanted}")
            raise FormatError(f"expected {wanted}, found `{text[at:]}`")
        at = found.end()
        if isinstance(item, Item):
            _add(fields, _read(item.specifier, found[0]))
    if at < len(text):
        raise FormatError(f"`{text[at:]}` is left over after what the format describes")
    return fields


def _add(fields: Fields, more: Fields) -> None:
    for name, value in more.items():
        if fields.setdefault(name, value) != value:
            raise FormatError(f"the text has two values of the {_NAMES.get(name, name)}")


def _words(item: Item) -> str:
    """The name of the field that a specifier gives, for messages."""
    specifier = item.specifier
    field = _FORMS[item.code] if isinstance(specifier, Form) else specifier.field
    return _NAMES.get(field, field)


def _pattern(item: str | Item, dialect: TimeDialect) -> str:
    if isinstance(item, str):
        return re.escape(item)
    match item.specifier:
        case Form() as form:
            return form.pattern
        case NameSpecifier(names=names):
            longest_first = sorted(names, key=len, reverse=True)
            return f"(?{'i' if dialect.lenient else ''}:{'|'.join(longest_first)})"
        case NumberSpecifier() as number:
            padding = number.padding if item.padding is None else item.padding
            return _number_pattern(number, "" if dialect.lenient else padding, r"\s*" * dialect.lenient)


def _number_pattern(number: NumberSpecifier, padding: str, before: str) -> str:
    width = number.digits
    if number.is_year:
        least = width if padding == "0" else 1
        return rf"{before}(?:[+-][0-9]{{{least},6}}|[0-9]{{{least},{width}}})"
    if padding == " ":
        return "|".join(" " * n + rf"[0-9]{{{width - n}}}" for n in range(width))
    return rf"{before}[0-9]{{{width if padding else 1},{width}}}"


def _read(specifier: Specifier, text: str) -> Fields:
    match specifier:
        case Form():
            return specifier.read(text)
        case NameSpecifier():
            known = [name.lower() for name in specifier.names]
            return {specifier.field: known.index(text.lower()) + specifier.first}
        case NumberSpecifier():
            return {specifier.field: int(text)}
