"""Structs and maps: literals, fields, elements, and functions of maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import tree
from . import conversions as c
from .calls import check_arguments, of_arguments
from .fieldnames import field_name
from .jsons import member
from .lists import a_list, literal
from .scalars import Scalars, Translate
from .types import BOOLEAN, INTEGER, JSON, NULL, SqlType, SqlValue, list_of, map_of, null, struct_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def struct(s: Scalars, node: Expression) -> SqlValue:
    """`{'a': 1}`, STRUCT_PACK(a := 1), NAMED_STRUCT and STRUCT."""
    names = list[str]()
    for each in node.expressions:
        if not isinstance(each, sql.PropertyEQ) or not each.name or each.name[0].isdigit():
            s.places.refuse("a field of a struct without a name", each)  # also one that a parameter names
        if each.name.lower() in names:
            s.places.wrong(f"the struct has two fields `{each.name}`", each)
        names.append(each.name.lower())
    if not names:
        s.places.refuse("a struct without fields", node)
    values = [s.value(each.expression) for each in node.expressions]
    type = struct_of(names, [each.type for each in values])
    return SqlValue(c.struct(values, type), type)


def made_map(s: Scalars, node: Expression) -> SqlValue:
    """`MAP {'a': 1}`, MAP(keys, values), MAP_FROM_ARRAYS."""
    if isinstance(node, sql.ToMap) and isinstance(node.this, sql.Bracket):  # `MAP {'a': 1}['a']`
        at = node.this.copy()
        at.set("this", sql.ToMap(this=node.this.this.copy()))
        return s.value(at)
    given = list(node.iter_expressions())
    if isinstance(node, sql.ToMap | sql.VarMap) or not (given or s.places.dialect.is_ansi):
        pairs = node.this.expressions if isinstance(node, sql.ToMap) else ()
        sides = [each.this for each in pairs], [each.expression for each in pairs]
        if isinstance(node, sql.VarMap):
            sides = node.args["keys"].expressions, node.args["values"].expressions
        keys, values = (literal(s.alike([s.value(e) for e in side], node, "a map")) for side in sides)
    else:
        check_arguments(s, node, len(given), 2, 2)
        keys, values = (a_list(s, each, node) for each in given)
    type = map_of(keys.type.parts[0], values.type.parts[0])
    return c.strict([keys, values], f"(sql::map_of($, $): {type.plain})", type)


def of_entries(s: Scalars, node: Expression) -> SqlValue:
    """MAP_FROM_ENTRIES, of a list of structs of two fields."""
    pairs, name = next(node.iter_expressions(), sql.null()), sql.to_identifier("entry")
    entry = a_list(s, pairs, node).type.parts[0]
    if len(entry.fields) != 2:
        s.places.mistyped(s.places.called(node), f"{entry}[]", node)
    parts = [sql.Dot(this=sql.column(name), expression=sql.to_identifier(each)) for each in entry.fields]
    sides = [sql.Transform(this=pairs, expression=sql.Lambda(this=e, expressions=[name])) for e in parts]
    return made_map(s, sql.Map(keys=sides[0], values=sides[1]))


def field(s: Scalars, value: SqlValue, name: str, node: Expression) -> SqlValue:
    """The field of a struct. Raises SqlError."""
    if value.type.kind != "struct":
        s.places.mistyped(f"the field `{name}`", str(value.type), node)
    if name not in value.type.fields:
        s.places.wrong(f"{value.type} has no field `{name}`", node)
    part = value.type.parts[value.type.fields.index(name)]
    return c.strict([value], lambda x: c.fields_of(x, value.type)[name].tree, part, optional=True)


def dotted(s: Scalars, node: Expression) -> SqlValue:
    """`(s).a`, also of JSON."""
    if not isinstance(node.expression, sql.Identifier):
        s.places.refuse(s.places.called(node), node)
    value = s.value(node.this)
    if value.type == JSON:
        return member(value, node.expression.name)
    return field(s, value, node.expression.name.lower(), node)


def extracted(s: Scalars, node: Expression) -> SqlValue:
    """STRUCT_EXTRACT(s, 'a')."""
    return field(s, s.value(node.this), _name_of(s, node.expression), node)


def _name_of(s: Scalars, node: Expression) -> str:
    if not (isinstance(node, sql.Literal) and node.is_string):
        s.places.refuse("the name of a field that is not a constant", node)
    return str(node.this).lower()


def at(elements: Callable[[Scalars, Expression], SqlValue], template: str = "sql::map_at($, $)") -> Translate:
    """`s['a']` of a struct, `m[k]` of a map, `j['a']` and `j[0]` of JSON, and elements of lists."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        value = s.value(node.this)
        if value.type.kind not in ("struct", "map", "json") or len(node.expressions) != 1:
            return elements(s, node)
        (key,) = node.expressions
        if value.type == JSON:
            return member(value, _step(s, key, node))
        if value.type.kind == "struct":
            return field(s, value, _name_of(s, key), node)
        return _looked_up(s, value, key, node, template)

    return translate


def _step(s: Scalars, key: Expression, node: Expression) -> str | int:
    """A key of JSON, or a place in it, also as a text of digits. Raises SqlError."""
    given = None if isinstance(key, sql.Slice) else s.value(key).constant
    if isinstance(given, bool) or not isinstance(given, str | int):
        s.places.refuse("a path of JSON that is not a constant", node)
    return int(given) if isinstance(given, str) and given.isdecimal() else given


def _looked_up(s: Scalars, value: SqlValue, key: Expression, node: Expression, template: str) -> SqlValue:
    part = value.type.parts[1]
    args = [value, _key(s, value.type, key, node)]
    return c.strict(args, lambda m, k: c.inside(tree(template, m, k), part), part, optional=True)


def _key(s: Scalars, type: SqlType, key: Expression, node: Expression) -> SqlValue:
    """A key of a map, as maps have it. Raises SqlError."""
    value = s.value(key)
    made = null(type.parts[0]) if value.type == NULL else c.convert(value, type.parts[0])
    if made is None:
        s.places.mistyped(f"a key of {type}", str(value.type), node)
    return c.outside(made)


def a_map(s: Scalars, node: Expression, whole: Expression) -> SqlValue:
    """A map. Raises SqlError."""
    value = s.value(node)
    if value.type.kind not in ("map", "null"):
        s.places.mistyped(s.places.called(whole), str(value.type), node)
    return null(map_of(NULL, NULL)) if value.type == NULL else value


def _of_map(
    made: Callable[[SqlType], SqlType], function: Callable[[SqlType], Callable[[Expr], Expr]]
) -> Translate:
    """A function of one map."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        given = list(node.iter_expressions())
        check_arguments(s, node, len(given), 1, 1)
        value = a_map(s, given[0], node)
        return c.strict([value], function(value.type), made(value.type))

    return translate


keys = _of_map(lambda of: list_of(of.parts[0]), lambda of: lambda x: c.keys_of(x, of).tree)
values = _of_map(lambda of: list_of(of.parts[1]), lambda of: lambda x: c.values_of(x, of).tree)
size = _of_map(lambda of: INTEGER, lambda of: lambda x: tree("map_size($) as bigint", x))


def entries_of(value: SqlValue) -> SqlValue:
    """The entries of a map, as structs."""
    entry = struct_of(["key", "value"], value.type.parts)
    key, item = map(field_name, entry.fields)
    made = f"Some{{{entry.name}{{.{key} = Some{{pair.0}}, .{item} = pair.1}}}}"
    return c.strict([value], f"sql::map_pairs($).map(|pair| {made})", list_of(entry))


@of_arguments
def entries(s: Scalars, node: Expression, of: Expression) -> SqlValue:
    """MAP_ENTRIES."""
    return entries_of(a_map(s, of, node))


@of_arguments
def found(s: Scalars, node: Expression, of: Expression, key: Expression) -> SqlValue:
    """ELEMENT_AT and MAP_EXTRACT of DuckDB: the value as a list."""
    value = a_map(s, of, node)
    args = [value, _key(s, value.type, key, node)]
    return c.strict(args, "sql::map_found($, $)", list_of(value.type.parts[1]))


@of_arguments
def value_at(s: Scalars, node: Expression, of: Expression, key: Expression) -> SqlValue:
    """MAP_EXTRACT_VALUE."""
    return _looked_up(s, a_map(s, of, node), key, node, "sql::map_at($, $)")


@of_arguments
def has_key(s: Scalars, node: Expression, of: Expression, key: Expression) -> SqlValue:
    """MAP_CONTAINS."""
    value = a_map(s, of, node)
    return c.strict([value, _key(s, value.type, key, node)], "map_contains_key($, $)", BOOLEAN)


@of_arguments
def has_value(s: Scalars, node: Expression, of: Expression, item: Expression) -> SqlValue:
    """MAP_CONTAINS_VALUE."""
    value = a_map(s, of, node)
    made = c.convert(s.value(item), value.type.parts[1])
    if made is None:
        s.places.mistyped(s.places.called(node), f"{value.type} and {s.value(item).type}", node)
    return c.strict([value, c.outside(made)], "sql::map_has_value($, $)", BOOLEAN)


@of_arguments
def joined(s: Scalars, node: Expression, first: Expression, *others: Expression) -> SqlValue:
    """MAP_CONCAT, in which NULL is an empty map, and the last value of a key counts."""
    maps = [a_map(s, each, node) for each in (first, *others)]
    brought = s.alike(maps, node, "MAP_CONCAT")
    made = brought[0].optional().tree
    for each in brought[1:]:
        made = tree("Some{sql::map_joined($, $)}", made, each.optional().tree)
    return SqlValue(made, brought[0].type, True)


@of_arguments
def concatenated(s: Scalars, node: Expression, first: Expression, *others: Expression) -> SqlValue:
    """MAP_CONCAT of Spark: NULL if a map is, and a fault where a key comes twice."""
    brought = s.alike([a_map(s, each, node) for each in (first, *others)], node, "MAP_CONCAT")
    type = brought[0].type

    def made(*maps: Expr) -> Expr:
        sides = [(c.keys_of(each, type).tree, c.values_of(each, type).tree) for each in maps]
        keys, values = (reduce(partial(tree, "sql::joined($, $)"), side) for side in zip(*sides, strict=True))
        return tree(f"(sql::map_of($, $): {type.plain})", keys, values)

    return c.strict(brought, made, type)


def of_maps(maps: Translate, others: Translate) -> Translate:
    """A function of maps, and of others by another translation."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        is_map = bool(node.expressions) and s.value(node.expressions[0]).type.kind == "map"
        return (maps if is_map else others)(s, node)

    return translate


NESTED: dict[type[Expression], Translate] = {
    sql.Struct: struct,
    sql.StructExtract: extracted,
    sql.Dot: dotted,
    sql.ToMap: made_map,
    sql.Map: made_map,
    sql.VarMap: made_map,
    sql.MapFromEntries: of_entries,
    sql.MapKeys: keys,
}
"""The translation of each kind of node that makes a struct or a map or reads one."""

NAMED_NESTED: dict[str, Translate] = {
    "map_values": values,
    "map_entries": entries,
    "map_extract": found,
    "element_at": found,
    "map_extract_value": value_at,
    "map_contains": has_key,
    "map_contains_value": has_value,
    "map_concat": joined,
    "cardinality": size,
}
"""The translation of each function of maps that the parser knows by its name alone."""
