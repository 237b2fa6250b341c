"""Facts, command files and record texts of the programs, read and written without the engine.

Enough of the formats for the folders in `programs/`: CSV facts, inserts and deletes of plain values, records.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]
Facts = dict[str, set[Row]]
Columns = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Con:
    """A value of a union or struct: the constructor's place among its siblings, its name, its fields."""

    index: int
    name: str
    fields: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Grouped:
    """A group: it prints as its values, and differs from another with these values under another key."""

    key: Any
    values: tuple[Any, ...]


def order(value: Any) -> Any:
    """A sort key: the order of the language on the values that occur here."""
    if isinstance(value, Con):
        return (value.index, *(order(field) for _, field in value.fields))
    if isinstance(value, Grouped):
        return (order(value.key), order(value.values))
    return tuple(order(item) for item in value) if isinstance(value, list | tuple) else value


def text(value: Any) -> str:
    """The record text of a value."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case float():
            return str(int(value)) if value == int(value) else str(value)
        case Con():
            return (
                value.name + "{" + ", ".join(f".{name} = {text(field)}" for name, field in value.fields) + "}"
            )
        case Grouped():
            return text(list(value.values))
        case tuple():
            return "(" + ", ".join(map(text, value)) + ")"
        case list():
            return "[" + ", ".join(map(text, value)) + "]"
        case _:
            return str(value)


def record(relation: str, columns: tuple[str, ...], row: Row) -> str:
    """A row as command files and changes show it."""
    return text(Con(0, relation, tuple(zip(columns, row, strict=True))))


def table(columns: tuple[str, ...], rows: Iterable[Row]) -> str:
    """A relation as a CSV file with a header, in the order of values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in sorted(rows, key=order):
        writer.writerow([cell(value) for value in row])
    return out.getvalue()


STRUCTS = {"Centrality", "Chain"}  # the others are constructors of unions


def cell(value: Any) -> str:
    """A value in a CSV file: a string as it is, structs, unions and collections as JSON."""
    data = text(value) if isinstance(value, float) else plain(value)
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Con):
        fields = {name: plain(field) for name, field in value.fields}
        return fields if value.name in STRUCTS else {value.name: fields} if fields else value.name
    if isinstance(value, Grouped):
        value = list(value.values)
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def changes(columns: Columns, before: Facts, after: Facts) -> str:
    """The text of the difference of two states."""
    lines = []
    for relation in sorted(columns):
        left, right = hashable(before[relation]), hashable(after[relation])
        delta = {
            **dict.fromkeys(left.keys() - right.keys(), "-1"),
            **dict.fromkeys(right.keys() - left.keys(), "+1"),
        }
        if delta:
            lines.append(f"{relation}:")
        for key in sorted(delta, key=lambda key: order((left | right)[key])):
            lines.append(f"{record(relation, columns[relation], (left | right)[key])}: {delta[key]}")
    return "".join(line + "\n" for line in lines)


def hashable(rows: Iterable[Row]) -> dict[str, Row]:
    """Rows by a text that tells them apart: lists in them cannot be keys."""
    return {repr(row): row for row in rows}


# ---- Facts and updates


def columns_of(program: Path, kind: str) -> dict[str, list[tuple[str, str]]]:
    """Names and types of the columns of the program's input or output relations, from its text."""
    text = re.sub("//.*", "", program.read_text(encoding="utf-8"))
    declared = re.findall(rf"^{kind} relation (\w+)\((.*?)\)[ ]*$", text, re.MULTILINE | re.DOTALL)
    result = {}
    for relation, inside in declared:
        parts = re.findall(r"(\w+): ([^,<(]+(?:<[^>]*>)?)", inside)
        result[relation] = [(name, kind.strip()) for name, kind in parts]
    return result


def parse_cell(cell: str, kind: str) -> Any:
    """A cell of a facts file as a value of the type with this text."""
    if kind == "string":
        return cell
    if kind == "bool":
        return cell == "true"
    if kind.startswith("Set<string>"):
        return tuple(sorted(set(re.findall(r'"([^"]*)"', cell))))
    return int(cell)


def read_facts(directory: Path) -> Facts:
    """The rows of facts/*.csv."""
    inputs = columns_of(directory / f"{directory.name}.dl", "input")
    facts: Facts = {relation: set() for relation in inputs}
    for relation, columns in inputs.items():
        with open(directory / "facts" / f"{relation}.csv", newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            assert tuple(next(reader)) == tuple(name for name, _ in columns)
            facts[relation] = {
                tuple(parse_cell(cell, kind) for cell, (_, kind) in zip(row, columns, strict=True))
                for row in reader
            }
    return facts


TOKEN = re.compile(
    r'\s+|#[^\n]*\n|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+)|(?P<word>\w+)|(?P<mark>[(),;\[\]])'
)


def tokens(script: str) -> Iterator[Any]:
    """Words as ('word', w), marks as ('mark', m), literals as ('value', v)."""
    for match in TOKEN.finditer(script):
        if match["string"]:
            yield "value", match["string"][1:-1]
        elif match["number"]:
            yield "value", int(match["number"])
        elif match["word"] in ("true", "false"):
            yield "value", match["word"] == "true"
        elif match.lastgroup:
            yield match.lastgroup, match[0]


def parse_values(stream: Iterator[Any], closing: str) -> Row:
    """The values up to the closing mark."""
    values: list[Any] = []
    for kind, token in stream:
        if (kind, token) == ("mark", closing):
            break
        if (kind, token) == ("mark", "["):
            values.append(tuple(sorted(set(parse_values(stream, "]")))))
        elif kind == "value":
            values.append(token)
    return tuple(values)


def transactions(script: str, facts: Facts) -> Iterator[Facts]:
    """The state of the facts after each commit of a command file."""
    state = draft = facts
    stream = tokens(script)
    for kind, token in stream:
        match kind, token:
            case "word", "start":
                draft = {relation: set(rows) for relation, rows in state.items()}
            case "word", "insert" | "delete":
                _, relation = next(stream)
                next(stream)
                row = parse_values(stream, ")")
                (draft[relation].add if token == "insert" else draft[relation].discard)(row)
            case "word", "clear":
                draft[next(stream)[1]].clear()
            case "word", "commit":
                state = draft
                yield state
