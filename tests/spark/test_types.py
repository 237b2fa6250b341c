"""Values to Spark and back, and what Spark's equality, groups and joins make of them."""

from __future__ import annotations

import json
import math
import pickle
from itertools import product
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from ddlog.codegen.scalar import kind_of
from ddlog.codegen.sqltypes import spark_type
from ddlog.engine.schema import Column
from ddlog.sessions.program import compile
from ddlog.spark.types.canonical import Canonical
from ddlog.spark.types.codec import SparkCodec
from ddlog.spark.types.typelists import type_as_lists, type_of_lists
from ddlog.types import (
    ANY,
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    FunctionType,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    TypeVar,
    User,
)
from ddlog.values import (
    NAN,
    Group,
    Map,
    Set,
    Vec,
    any_class,
    canonical_float,
    constructors_of,
    integer_range,
    make,
    single,
)

from ..trying import trying

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S, B = String(), Bool()


def union(name: str, *constructors: tuple[str, dict[str, Type]], parameters: tuple[str, ...] = ()) -> TypeDef:
    """A typedef of these constructors."""
    made = (Constructor(of, i, tuple(fields.items())) for i, (of, fields) in enumerate(constructors))
    return TypeDef(name, parameters, tuple(made))


TREE, SHAPE, DEEP = User("m::Tree"), User("m::Shape"), User("m::Deep")
DEEP_PARTS = Opaque(
    "std::Map", (Tuple((B, Float(64), S, Signed(9))), Opaque("std::Group", (DEEP, Opaque("std::Set", (B,)))))
)
TYPEDEFS = {
    each.name: each
    for each in (
        union("Option", ("None", {}), ("Some", {"x": TypeVar("A")}), parameters=("A",)),
        union("m::Point", ("m::Point", {"x": Bit(32), "select": S})),
        union("m::Empty", ("m::Empty", {})),
        union("m::Case", ("m::Case", {"ab": Bit(8), "aB": Bit(8), "AB": S})),
        union("m::Shape", ("m::Square", {"size": Float(64)}), ("m::Dot", {}), ("m::Tag", {"at": Bit(16)})),
        union("m::Sorted", ("m::Aa", {"x": S}), ("m::Bb", {})),
        union("m::Deep", ("m::End", {}), ("m::All", {"all": DEEP_PARTS})),
        union("m::Tree", ("m::Leaf", {"value": BigInt()}), ("m::Fork", {"all": Opaque("Vec", (TREE,))})),
    )
}
CODEC = SparkCodec(TYPEDEFS)


def option(of: Type) -> Type:
    """Option<of>."""
    return User("Option", (of,))


def vec(of: Type) -> Type:
    """Vec<of>."""
    return Opaque("std::Vec", (of,))


def set_of(of: Type) -> Type:
    """Set<of>."""
    return Opaque("std::Set", (of,))


def map_of(key: Type, value: Type) -> Type:
    """Map<key, value>."""
    return Opaque("std::Map", (key, value))


GROUP = Opaque("std::Group", (S, Bit(8)))
TYPES: list[Type] = [
    *(Bit(n) for n in (1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 126, 127, 128, 200)),
    *(Signed(n) for n in (1, 8, 9, 16, 32, 40, 64, 65, 127, 128, 200)),
    BigInt(), B, S, Float(32), Float(64),
    Tuple(()), Tuple((Bit(8), S)), Tuple((Tuple((B,)), Float(64))),
    User("m::Point"), User("m::Empty"), User("m::Case"), SHAPE, User("m::Sorted"),
    option(Bit(64)), option(option(S)), option(Float(64)), option(Tuple(())), option(TREE),
    vec(Bit(8)), vec(S), vec(vec(Float(32))), vec(SHAPE), set_of(S), set_of(Signed(128)), set_of(option(B)),
    map_of(S, Bit(32)), map_of(Float(64), SHAPE), vec(map_of(B, set_of(B))), vec(Tuple(())),
    TREE, GROUP, DEEP, vec(TREE), Tuple((BigInt(), TREE, Float(64))),
]  # fmt: skip


def column(type: Type) -> Column:
    """A column of the type."""
    return Column("c", *kind_of(type), type)


def values_of(type: Type, depth: int = 3) -> st.SearchStrategy[Any]:
    """Values of a type."""
    match type:
        case Bool():
            return st.booleans()
        case Bit() | Signed():
            least, greatest = integer_range(type)
            return st.integers(least, greatest) | st.sampled_from((least, greatest))
        case BigInt():
            return st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(-(2**64), 2**64)
        case Float(64):
            return st.floats().map(canonical_float)
        case Float():
            return st.floats(width=32).map(single)
        case String():
            return st.text(st.characters(codec="utf-8"), max_size=4)
        case Tuple(items):
            return st.tuples(*(values_of(item, depth) for item in items))
        case User(name, args):
            found = constructors_of(TYPEDEFS[type.name], type.args)
            usable = found[:1] if name in ("m::Tree", "m::Deep") and depth <= 0 else found
            return st.one_of(
                *(
                    st.tuples(*(values_of(of, depth - 1) for _, of in each.fields)).map(
                        lambda fields, each=each: make(TYPEDEFS[name], each, fields)
                    )
                    for each in usable
                )
            )
        case Opaque("std::Map", args):
            return st.lists(values_of(Tuple(args), depth), max_size=3).map(Map)
        case Opaque("std::Group", (key, value)):
            values = st.lists(values_of(value, depth), min_size=1, max_size=3)
            return st.tuples(values_of(key, depth), values).map(lambda pair: Group.of(*pair))
        case Opaque(name, (element,)):
            build: Any = Set if name == "std::Set" else Vec
            return st.lists(values_of(element, depth), max_size=3).map(build)
    raise AssertionError(type)


def same(a: Any, b: Any) -> bool:
    """Whether two values are one value of the same Python types: 1 is not true."""
    return bool(a == b) and repr(a) == repr(b) and type(a) is type(b)


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_arrow_gives_back_what_it_got(type: Type) -> None:
    of = column(type)

    @trying(10)
    @given(st.lists(values_of(type), max_size=5))
    def check(values: list[Any]) -> None:
        array = CODEC.encode(of, values)
        assert array.type == CODEC.arrow_type(of) and array.null_count == 0 and len(array) == len(values)
        array.validate(full=True)
        for sliced, expected in ((array, values), (array[1:3], values[1:3]), (array[:0], [])):
            found = CODEC.decode(of, sliced)
            assert len(found) == len(expected)
            assert all(same(a, b) for a, b in zip(found, expected, strict=True))
        assert CODEC.decode(of, pa.chunked_array([array, array])) == values + values

    check()


@given(values_of(TREE), values_of(TREE))
@trying(100)
def test_bytes_are_equal_where_values_are(a: Any, b: Any) -> None:
    form = Canonical(TREE, TYPEDEFS)
    assert (form.to_bytes(a) == form.to_bytes(b)) == (a == b)
    assert form.from_bytes(form.to_bytes(a)) == a


def test_a_long_chain_has_bytes() -> None:
    leaf, fork = TYPEDEFS["m::Tree"].constructors
    value = make(TYPEDEFS["m::Tree"], leaf, (1,))
    for _ in range(3000):
        value = make(TYPEDEFS["m::Tree"], fork, (Vec((value,)),))
    form = Canonical(TREE, TYPEDEFS)
    data = form.to_bytes(value)
    assert form.to_bytes(form.from_bytes(data)) == data


@pytest.mark.parametrize(
    "type", [FunctionType((Bit(8), String()), (False, True), Bit(8)), Tuple(()), *TYPES], ids=str
)
def test_types_come_back_from_their_lists(type: Type) -> None:
    assert type_of_lists(json.loads(json.dumps(type_as_lists(type)))) == type


def test_closures_keep_their_place_and_what_they_captured() -> None:
    program = compile("""
        output relation Steps(f: |u8|: u8)
        Steps(|x| x + n) :- var n = 8'd3.
    """)
    with program.session() as session:
        ((add,),) = session["Steps"].tuples()
    (steps,) = program.relations["Steps"].columns
    codec = SparkCodec(program.checked.typedefs)
    codec.learn(program.checked, [steps.type])
    for each in (codec, pickle.loads(pickle.dumps(codec))):
        (back,) = each.decode(column(steps.type), each.encode(column(steps.type), [add]))
        assert back == add
        assert back(4) == 7


@pytest.mark.parametrize("numbers", [np.array([0, 1, 5]), np.array([], np.int64)])
@pytest.mark.parametrize(
    "type", [Bit(8), Signed(64), Bit(64), Bit(128), Signed(200), BigInt(), Float(64), Float(32)], ids=str
)
def test_numpy_arrays_are_taken(type: Type, numbers: Any) -> None:
    assert CODEC.decode(column(type), CODEC.encode(column(type), numbers)) == numbers.tolist()


def test_integers_beyond_38_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="39 digits is beyond the 38 digits"):
        CODEC.encode(column(BigInt()), [1, -(10**38)])


def test_types_have_names() -> None:
    assert spark_type(User("m::Point"), TYPEDEFS) == "STRUCT<`x`: BIGINT, `select`: STRING>"
    assert spark_type(SHAPE, TYPEDEFS) == "STRUCT<`tag`: STRING, `Square`: STRUCT<`size`: DOUBLE>, " + (
        "`Tag_2`: STRUCT<`at`: INT>>"
    )
    assert spark_type(User("m::Case"), TYPEDEFS) == "STRUCT<`ab`: SMALLINT, `aB_2`: SMALLINT, `AB_3`: STRING>"
    assert spark_type(map_of(S, option(TREE)), TYPEDEFS) == (
        "ARRAY<STRUCT<`key`: STRING, `value`: STRUCT<`tag`: STRING, `Some`: STRUCT<`x`: BINARY>>>>"
    )


def test_the_codec_is_pickled_as_its_typedefs() -> None:
    again = pickle.loads(pickle.dumps(CODEC))
    assert again.sql_type(column(SHAPE)) == CODEC.sql_type(column(SHAPE))
    assert again.persistent_load(again.persistent_id(NAN)) is NAN
    cls = type(make(TYPEDEFS["m::Shape"], TYPEDEFS["m::Shape"].constructors[0], (1.0,)))
    assert again.persistent_load(again.persistent_id(cls)) is cls
    assert again.persistent_id("NaN") is None


# ------------------------------------------------------------------- on Spark

EDGES: dict[type, list[Any]] = {
    Bool: [False, True],
    Float: [NAN, math.inf, -math.inf, 0.0, 1.5],
    String: ["", "a", "é", "z", "\U0001f600", "￿", "\0"],
    BigInt: [0, -1, 10**38 - 1, -(10**38) + 1, 2**64],
}


def samples(type: Type, count: int = 7) -> list[Any]:
    """A few different values of a type, the same each time."""
    match type:
        case Bool() | Float() | String() | BigInt():
            return EDGES[type.__class__][:count]
        case Bit() | Signed():
            least, greatest = integer_range(type)
            return sorted({least, greatest, 0, (least + greatest) // 2})
        case Tuple(items):
            return list(product(*(samples(item, 3) for item in items)))[:count]
        case User("m::Deep"):
            end, every = TYPEDEFS["m::Deep"].constructors
            one = make(TYPEDEFS["m::Deep"], end, ())
            group = Group(one, [Set(), Set((True,))])
            return [one, make(TYPEDEFS["m::Deep"], every, (Map({(True, NAN, "é", -256): group}),))]
        case User(name):
            return [
                make(TYPEDEFS[name], each, fields)
                for each in constructors_of(TYPEDEFS[type.name], type.args)
                for fields in (
                    [(5,), (Vec(),)][each.index : each.index + 1] if name == "m::Tree"
                    else product(*(samples(of, 3) for _, of in each.fields))
                )
            ][:count]  # fmt: skip
        case Opaque("std::Group", (key, value)):
            return [Group(k, v) for k in samples(key, 2) for v in ([0], [0, 255])]
        case Opaque("std::Map", (key, value)):
            pairs = list(zip(samples(key, 3), samples(value, 3), strict=False))
            return [Map(), Map(pairs), Map(pairs[:1]), Map(pairs[1:])][: count if len(pairs) > 1 else 2]
        case Opaque(name, (element,)):
            build: Any = Set if name == "std::Set" else Vec
            some = samples(element, 3)
            return list(dict.fromkeys([build(), build(some[:1]), build(some), build(some[-1:])]))
    raise AssertionError(type)


# Types whose keys Spark hashes or compares in ways of their own.
KEYS: list[Type] = [
    Bit(64), Signed(128), S, Float(32), Float(64), Tuple(()), SHAPE, option(Float(64)), vec(vec(Float(32))),
    map_of(Float(64), SHAPE), TREE,
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> int:
    """The views ddlog_left and ddlog_right of as many rows as this gives: a column `c` for each type and
    beside it the number `n` of its value, which repeats."""
    most = max(len(samples(of)) for of in TYPES)
    names, arrays = ["place"], [pa.array(range(most))]
    for i, of in enumerate(TYPES):
        some = samples(of)
        numbers = [n % len(some) for n in range(most)]
        names += [f"c{i}", f"n{i}"]
        arrays += [CODEC.encode(column(of), [some[n] for n in numbers]), pa.array(numbers)]
    frame = spark.createDataFrame(pa.Table.from_arrays(arrays, names=names))
    casts = ", ".join(f"CAST(NULL AS {CODEC.sql_type(column(of))}) AS c{i}" for i, of in enumerate(TYPES))
    declared = spark.sql(f"SELECT {casts}").schema
    for i, of in enumerate(TYPES):
        found, expected = frame.schema[f"c{i}"].dataType, declared[f"c{i}"].dataType
        assert found.simpleString() == expected.simpleString(), of
    frame.createOrReplaceTempView("ddlog_left")
    frame.repartition(2).createOrReplaceTempView("ddlog_right")
    return most


def test_values_come_back_from_spark(spark: SparkSession, tables: int) -> None:
    table = spark.sql("SELECT * FROM ddlog_right").toArrow().sort_by("place")
    for i, of in enumerate(TYPES):
        some = samples(of)
        values = CODEC.decode(column(of), table.column(f"c{i}"))
        assert len(values) == tables
        assert all(same(value, some[n % len(some)]) for n, value in enumerate(values)), of


def test_equality_and_order_are_those_of_the_language(spark: SparkSession, tables: int) -> None:
    items = [f"a.c{i} = b.c{i} AS e{i}, a.c{i} < b.c{i} AS l{i}" for i in range(len(TYPES))]
    query = (
        f"SELECT a.place AS x, b.place AS y, {', '.join(items)} FROM ddlog_left a CROSS JOIN ddlog_right b"
    )
    rows = spark.sql(query).toArrow().to_pylist()
    assert len(rows) == tables * tables
    for i, of in enumerate(TYPES):
        some, ordered = samples(of), CODEC.ordered(column(of))
        for row in rows:
            a, b = some[row["x"] % len(some)], some[row["y"] % len(some)]
            assert row[f"e{i}"] == (a == b), (of, a, b)
            assert not ordered or row[f"l{i}"] == (a < b), (of, a, b)


def test_the_order_of_unions_is_sparks_only_by_luck() -> None:
    ordered = {str(of): CODEC.ordered(column(of)) for of in TYPES}
    assert ordered["m::Sorted"] and ordered["signed<128>"] and ordered["std::Map<string, bit<32>>"]
    assert not ordered["m::Shape"] and not ordered["std::Vec<m::Shape>"]
    assert not ordered["m::Tree"] and ordered[str(GROUP)]


@pytest.mark.parametrize("join", ["BROADCAST", "SHUFFLE_HASH", "MERGE"])
def test_joins_find_equal_values(spark: SparkSession, tables: int, join: str) -> None:
    query = " UNION ALL ".join(
        f"SELECT /*+ {join}(b) */ {i} AS i, a.n{i} AS x, b.n{i} AS y "
        f"FROM ddlog_left a JOIN ddlog_right b ON a.c{i} = b.c{i}"
        for i in map(TYPES.index, KEYS)
    )
    found: dict[int, set[tuple[int, int]]] = {}
    for i, x, y in spark.sql(query).collect():
        found.setdefault(i, set()).add((x, y))
    for of in KEYS:
        assert found[TYPES.index(of)] == {(n, n) for n in range(len(samples(of)))}, of


def test_groups_are_of_equal_values(spark: SparkSession, tables: int) -> None:
    query = " UNION ALL ".join(
        f"SELECT {i} AS i, min(n{i}) AS least, max(n{i}) AS most FROM ddlog_right GROUP BY c{i}"
        for i in map(TYPES.index, KEYS)
    )
    found: dict[int, list[tuple[int, int]]] = {}
    for i, least, most in spark.sql(query).collect():
        found.setdefault(i, []).append((least, most))
    for of in KEYS:
        assert sorted(found[TYPES.index(of)]) == [(n, n) for n in range(len(samples(of)))], of


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (Bit(32), 7),
        (Opaque("ddlog_std::Vec", (String(),)), Vec(("a", "b"))),
        (Tuple((Bool(), Signed(8))), (True, -3)),
        (Tuple(()), ()),
    ],
    ids=str,
)
def test_a_value_of_any_keeps_its_type(of: Type, value: object) -> None:
    canonical = Canonical(Opaque(ANY), {})
    stored = any_class(of)(value)
    read = canonical.from_bytes(canonical.to_bytes(stored))
    assert (type(read), read) == (type(stored), stored)
    assert canonical.to_bytes(stored) != canonical.to_bytes(any_class(Opaque(ANY))(stored))
