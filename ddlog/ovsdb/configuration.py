"""Files of options of `ddlog import-ovsdb`, as `ovsdb2ddlog` reads and writes them:

    {"ovsSchemaFile": "N.ovsschema", "outputFile": "N.dl",
     "outputTables": [["Port", {"Left": ["tag"]}], ["Site", []]], "outputOnlyTables": ["Flow"]}

An output table has the columns that the program does not write, `Left` of them, or `Right` of those that it
writes. Options that not all versions of that tool have are further members.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors.source import Source
from .choices import Choices
from .jsonplaces import Located, LocatedReader, read_json

_LISTS = {
    "outputOnlyTables": "only_outputs",
    "keyColumns": "keys",
    "proxyTables": "proxies",
    "internTables": "interned",
    "renamed": "renamed",
}
_SIDES = {"Left": "read_only", "Right": "writable"}
_TABLE = 'a pair of a table and columns, {"Left": […]} or {"Right": […]}'
_MEMBERS = ("ovsSchemaFile", "outputFile", "outputTables", *_LISTS, "internStrings")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The schema, the file for the module, and the choices; None and empty: not said."""

    schema: str | None = None
    output: str | None = None
    choices: Choices = field(default_factory=Choices)

    def and_then(self, other: Configuration) -> Configuration:
        """The options of both; where there can be one, that of the other."""
        both: dict[str, Any] = {}
        for name in (each.name for each in fields(Choices)):
            one, more = getattr(self.choices, name), getattr(other.choices, name)
            both[name] = one or more if isinstance(one, bool) else (*one, *(e for e in more if e not in one))
        return Configuration(other.schema or self.schema, other.output or self.output, Choices(**both))


def read_configuration(source: Source) -> Configuration:
    """The options that a text holds. Raises DDlogError with all that is wrong."""
    reader = _ConfigurationReader()
    found = reader.configuration(read_json(source))
    reader.end()
    return found


class _ConfigurationReader(LocatedReader):
    def configuration(self, given: Located) -> Configuration:
        members = self.object(given, "a file of options", _MEMBERS, ())
        chosen: dict[str, Any] = {"outputs": [], **{name: [] for name in _SIDES.values()}}
        for each in self.several(members.get("outputTables"), "`outputTables`"):
            self.output(each, chosen)
        for member, name in _LISTS.items():
            chosen[name] = list(self.texts(members.get(member), f"`{member}`"))
        strings = members.get("internStrings")
        chosen["intern_strings"] = strings is not None and strings.value is True
        if strings is not None and not isinstance(strings.value, bool):
            self.wrong(strings, "`internStrings`", "true or false")
        schema, output = (self.file(members.get(each)) for each in _MEMBERS[:2])
        return Configuration(schema, output, Choices(**chosen))

    def file(self, given: Located | None) -> str | None:
        return None if given is None or given.value is None else self.text(given, "a file") or None

    def output(self, given: Located, chosen: dict[str, Any]) -> None:
        """Notes an output table and its columns."""
        match given.value:
            case str(table):
                chosen["outputs"].append(table)
                return
            case [Located(value=str(table)), Located(value=dict(sides)) as columns] if len(sides) == 1:
                ((side, columns),) = sides.items()
            case [Located(value=str(table)), columns]:
                side = "Left"
            case _:
                side = ""
        if side not in _SIDES:
            self.wrong(given, "an output table", _TABLE)
            return
        chosen["outputs"].append(table)
        chosen[_SIDES[side]] += (f"{table}.{each}" for each in self.texts(columns, "the columns of a table"))

    def several(self, given: Located | None, what: str) -> list[Located]:
        if given is not None and isinstance(given.value, list):
            return given.value
        if given is not None:
            self.wrong(given, what, "a list")
        return []

    def texts(self, given: Located | None, what: str) -> Iterator[str]:
        return (self.text(each, f"an element of {what}") for each in self.several(given, what))


def configuration_text(given: Configuration) -> str:
    """The options as a text that `read_configuration` reads."""
    choices, tables = given.choices, []
    for table in choices.outputs:
        by_side = {
            side: [
                column.partition(".")[2]
                for column in getattr(choices, name)
                if column.startswith(f"{table}.")
            ]
            for side, name in _SIDES.items()
        }
        side = "Right" if by_side["Right"] else "Left"
        tables.append([table, {side: by_side[side]}])
    found = {"ovsSchemaFile": given.schema or "", "outputFile": given.output, "outputTables": tables}
    found |= {member: list(getattr(choices, name)) for member, name in _LISTS.items()}
    return json.dumps(found | {"internStrings": choices.intern_strings}, indent=2) + "\n"
