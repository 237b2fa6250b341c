"""The module of a schema: its tables, and the rules that compare outputs with the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .choices import ROW_NAME, Choices, ModuleColumn, ModuleTable, plan
from .schema import ATOMS, ElementType, Schema

_REFERENCE = "uuid_or_string_t"
_UUID = ("_uuid", "_uuid")
_ZEROS = {"integer": "0", "real": "0.0", "boolean": "false", "string": '""', "uuid": "0"}


def module_text(schema: Schema, choices: Choices) -> str:
    """The module of a schema. Raises DDlogError if choices name what the schema does not have."""
    plans = plan(schema, choices)
    writer = _ModuleWriter(choices.intern_strings, _referred(schema, plans))
    parts = [
        f"// The database {schema.name}, by `ddlog import-ovsdb`.",
        "import ovsdb",
        *_headed("Tables, as the database has them", writer.inputs(plans)),
        *_headed("Tables, as the program wants them", writer.outputs(plans)),
        *_headed("Changes to the database", writer.changes(plans)),
    ]
    return "\n\n".join(parts) + "\n"


def _headed(title: str, parts: Iterable[str]) -> list[str]:
    found = list(parts)
    return [f"// {title}.", *found] if found else []


def _referred(schema: Schema, plans: Sequence[ModuleTable]) -> dict[str, str]:
    """The relations of the output tables that written columns of output tables refer to, by their tables."""
    named = dict(zip(schema.tables, plans, strict=True))
    tables = (column.table for each in plans if each.role != "input" for column in each.written)
    return {table: named[table].name for table in sorted({each for each in tables if each is not None})}


class _ModuleWriter:
    def __init__(self, intern_strings: bool, referred: dict[str, str]) -> None:
        self.string = "istring" if intern_strings else "string"
        self.referred = referred

    def inputs(self, plans: Iterable[ModuleTable]) -> Iterator[str]:
        for each in plans:
            if each.role == "output":
                continue
            fields = self.fields(each.columns)
            if each.interned:
                yield f"typedef {each.name} = {each.name}{{{fields}}}"
                yield f"input relation {each.name}[Intern<{each.name}>]\nprimary key (x) x._uuid"
            else:
                yield f"input relation {each.name}({fields})\nprimary key (x) x._uuid"

    def outputs(self, plans: Iterable[ModuleTable]) -> Iterator[str]:
        for each in plans:
            if each.role != "input":
                yield f"output relation Out_{each.name}({self.fields(each.written)})"
            if each.proxy:
                fields = self.fields(each.written, _swizzled(each))
                yield f"// Filled from {_swizzled_name(each)}.\nrelation OutProxy_{each.name}({fields})"

    def changes(self, plans: Iterable[ModuleTable]) -> Iterator[str]:
        for each in plans:
            if each.role == "both" and each.name in self.referred.values():
                yield from self.uuid_map(each)
            if each.role != "input" and _swizzled(each):
                yield from self.swizzled(each)
            if each.role == "both":
                yield from self.plus(each)
                yield from self.minus(each)
                yield from self.update(each)

    def fields(
        self, columns: Iterable[ModuleColumn], swizzled: bool = False, first: str = "_uuid: uuid"
    ) -> str:
        found = [first] if first else []
        for each in columns:
            values = (*each.of.key.values, *(each.of.value.values if each.of.value else ()))
            remark = f"  // one of {', '.join(values)}" if values else ""
            found.append(f"{each.name}: {self.type(each, swizzled)}{remark}")
        lines = [_before_remark(line, "," if i + 1 < len(found) else "") for i, line in enumerate(found)]
        return "\n    " + "\n    ".join(lines) + "\n"

    def type(self, column: ModuleColumn, swizzled: bool) -> str:
        key, value = column.of.key, column.of.value
        refers = swizzled and column.table is not None
        if value is not None:
            return f"Map<{self.atom(key)}, {_REFERENCE if refers else self.atom(value)}>"
        element = _REFERENCE if refers else self.atom(key)
        return {"one": element, "option": f"Option<{element}>"}.get(column.of.kind, f"Set<{element}>")

    def atom(self, base: ElementType) -> str:
        return self.string if base.atom == "string" else ATOMS[base.atom]

    def uuid_map(self, table: ModuleTable) -> Iterator[str]:
        name = f"UUIDMap_{table.name}"
        wanted, there = _wanted(table), _input(table)
        keys, held = _variables(table.keys), _match(table)
        real = "__uuid" if keys else "_uuid"
        found = _atom(there, [("_uuid", real), *held] if keys else held)
        absent = _atom(there, held)
        rows = _atom(wanted, [_UUID, *keys])
        yield "\n".join([
            f"// How a row of Out_{table.name} is referred to; 0 stands for none.",
            f"relation {name}(_uuid: uuid, id: {_REFERENCE})",
            f'{name}(0, Right{{""}}).',
            f"{name}(_uuid, Left{{{real}}}) :-\n    {rows},\n    {found}.",
            f"{name}(_uuid, Right{{uuid2name(_uuid)}}) :-\n    {rows},\n    not {absent}.",
        ])  # fmt: skip

    def swizzled(self, table: ModuleTable) -> Iterator[str]:
        columns = table.written
        names = {each.name: each.name for each in columns}
        body = [_atom(f"Out_{table.name}", [_UUID, *names.items()])]
        for each in columns:
            if each.table is not None:
                body += self.reference(each, names)
        role = "output relation" if table.role == "output" else "relation"
        declared = f"{role} Swizzled_{table.name}({self.fields(columns, swizzled=True)})"
        head = _atom(f"Swizzled_{table.name}", [_UUID, *names.items()])
        yield f"{declared}\n{head} :-\n    {_joined(body)}."

    def reference(self, column: ModuleColumn, names: dict[str, str]) -> Iterator[str]:
        """The clauses that put references in place of the UUIDs of a column; `names` are the variables."""
        assert column.table is not None
        name, target = column.name, f"UUIDMap_{self.referred[column.table]}"
        new = f"__id_{name}"
        if column.of.kind == "one":
            yield f"{target}({name}, {new})"
            names[name] = new
            return
        others = ", ".join(["_uuid", *(each for key, each in names.items() if key != name)])
        if column.of.kind == "map":
            zero = _ZEROS[column.of.key.atom]
            zero = f"i{zero}" if zero == '""' and self.string == "istring" else zero
            yield f"var __pair = FlatMap(map_with_sentinel({name}, {zero}))"
            yield "(var __key, var __one) = __pair"
            yield f"{target}(__one, __id)"
            yield f"var {new} = (__key, __id).group_by(({others})).group2map_remove_sentinel()"
        else:
            given = f"{name}.to_set()" if column.of.kind == "option" else name
            yield f"var __one = FlatMap(set_union({given}, set_singleton(0)))"
            yield f"{target}(__one, __id)"
            grouped = f"__id.group_by(({others}))"
            if column.of.kind == "option":
                yield f"var {new} = {grouped}.group2vec_remove_sentinel().nth(0)"
            else:
                yield f"var {new} = {grouped}.group2set_remove_sentinel()"
        names[name] = new

    def plus(self, table: ModuleTable) -> Iterator[str]:
        name, rows = f"DeltaPlus_{table.name}", _final(table)
        named = table.name in self.referred.values()
        declared = self.fields(table.written, _swizzled(table), f"{ROW_NAME}: string" if named else "")
        head = [(ROW_NAME, "uuid2name(_uuid)")] if named else []
        own = _variables(table.written)
        wanted = [_UUID, *own] if named or not table.keys else own
        yield (
            f"output relation {name}({declared})\n{_atom(name, [*head, *own])} :-\n"
            f"    {_atom(rows, wanted)},\n    not {_atom(_input(table), _match(table))}."
        )

    def minus(self, table: ModuleTable) -> Iterator[str]:
        name, there = f"DeltaMinus_{table.name}", _input(table)
        wanted = [
            (each.name, f"Left{{{each.name}}}" if each.table and _swizzled(table) else each.name)
            for each in table.keys
        ] or [_UUID]
        yield (
            f"output relation {name}(_uuid: uuid)\n{name}(_uuid) :-\n"
            f"    {_atom(there, [_UUID, *_variables(table.keys)])},\n    not {_atom(_final(table), wanted)}."
        )

    def update(self, table: ModuleTable) -> Iterator[str]:
        columns = [each for each in table.written if not each.key]
        if not columns:
            return
        name = f"Update_{table.name}"
        own, keys = _variables(columns), _variables(table.keys)
        old = [(each.name, f"__old_{each.name}") for each in columns]
        was = ", ".join(value for _, value in old)
        now = ", ".join(_extracted(each) if _swizzled(table) else each.name for each in columns)
        first = keys or [_UUID]
        there = [_UUID, *(_match(table) if keys else ()), *old]
        yield (
            f"output relation {name}({self.fields(columns, _swizzled(table))})\n"
            f"{_atom(name, [_UUID, *own])} :-\n    {_atom(_final(table), [*first, *own])},\n"
            f"    {_atom(_input(table), there)},\n    ({was}) != ({now})."
        )


def _swizzled(table: ModuleTable) -> bool:
    """True if rows of an output table refer to rows of output tables."""
    return any(each.table is not None for each in table.written)


def _swizzled_name(table: ModuleTable) -> str:
    return f"{'Swizzled' if _swizzled(table) else 'Out'}_{table.name}"


def _final(table: ModuleTable) -> str:
    """The relation whose rows the database is to have."""
    return f"OutProxy_{table.name}" if table.proxy else _swizzled_name(table)


def _wanted(table: ModuleTable) -> str:
    """The relation that has the keys of an output table: that with references only if keys are references."""
    return _swizzled_name(table) if any(each.table for each in table.keys) else f"Out_{table.name}"


def _input(table: ModuleTable) -> str:
    return f"&{table.name}" if table.interned else table.name


def _match(table: ModuleTable) -> list[tuple[str, str]]:
    """The fields by which a wanted row finds its row of the database: the keys, or `_uuid`."""
    own = [(each.name, _held(table, each.name, each.name)) for each in table.keys]
    return own or [_UUID]


def _held(table: ModuleTable, name: str, value: str) -> str:
    """A key as the database has it."""
    refers = any(each.name == name and each.table is not None for each in table.keys)
    return f"extract_uuid({value})" if refers else value


def _extracted(column: ModuleColumn) -> str:
    """The value of a column with UUIDs in place of references."""
    if column.table is None:
        return column.name
    functions = {
        "one": "extract_uuid", "option": "option_extract_uuid",
        "set": "set_extract_uuids", "map": "map_extract_val_uuids",
    }  # fmt: skip
    return f"{functions[column.of.kind]}({column.name})"


def _atom(relation: str, fields: Iterable[tuple[str, str]]) -> str:
    return f"{relation}({', '.join(f'.{name} = {value}' for name, value in fields)})"


def _variables(columns: Iterable[ModuleColumn]) -> list[tuple[str, str]]:
    """The columns as fields of an atom, each with a variable of its own name."""
    return [(each.name, each.name) for each in columns]


def _joined(clauses: Iterable[str]) -> str:
    return ",\n    ".join(clauses)


def _before_remark(line: str, end: str) -> str:
    text, mark, remark = line.partition("  //")
    return f"{text}{end}{mark}{remark}"
