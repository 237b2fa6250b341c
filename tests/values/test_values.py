"""Values at run time: order, equality, printing, and what users may give for them."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog import values
from ddlog.types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    User,
)
from ddlog.values import NAN, Group, Map, Set, Vec
from ddlog.values.fromtext import parse_value

from ..engine.declared import OPTION
from ..trying import trying

PERSON = TypeDef("Person", (), (Constructor("Person", 0, (("name", String()), ("make", Bit(8)))),))
SHAPE = TypeDef(
    "m::Shape", (),
    (
        Constructor("m::Dot", 0, ()),
        Constructor("m::Disc", 1, (("r", Bit(8)),)),
        Constructor("m::Box", 2, (("r", Bit(8)), ("h", Bit(8)))),
    ),
)  # fmt: skip
TYPEDEFS = {each.name: each for each in (OPTION, PERSON, SHAPE)}


def option(of: Type) -> User:
    return User("ddlog_std::Option", (of,))


def opaque(name: str, *args: Type) -> Opaque:
    return Opaque(f"ddlog_std::{name}", args)


def check(value: Any, type: Type) -> Any:
    return values.check(value, type, TYPEDEFS)


def show(value: Any, type: Type) -> str:
    return values.show(value, type, TYPEDEFS)


SIMPLE = [
    Bool(),
    BigInt(),
    Bit(8),
    Signed(32),
    Float(64),
    Float(32),
    String(),
    User("m::Shape"),
    User("Person"),
]
TYPES = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.one_of(
        inner.map(lambda t: opaque("Vec", t)),
        inner.map(lambda t: opaque("Set", t)),
        st.tuples(inner, inner).map(lambda ts: opaque("Map", *ts)),
        st.tuples(inner, inner).map(Tuple),
    ),
    max_leaves=3,
)  # fmt: skip


def plain(type: Type) -> st.SearchStrategy[Any]:
    """What a user may give for a value of the type."""
    match type:
        case Bool():
            return st.booleans()
        case BigInt():
            return st.integers()
        case Bit() | Signed():
            return st.integers(*values.integer_range(type))
        case Float():
            return st.floats()
        case String():
            return st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
        case Tuple(items):
            return st.tuples(*map(plain, items))
        case User("Person"):
            return st.fixed_dictionaries({"name": plain(String()), "make": plain(Bit(8))})
        case User():
            disc = values.struct_class("m::Shape", SHAPE.constructors[1], True)
            return st.one_of(st.just("Dot"), st.integers(0, 255).map(disc))
        case Opaque(_, (element,)):
            return st.lists(plain(element), max_size=3)
    assert isinstance(type, Opaque)
    return st.lists(st.tuples(*map(plain, type.args)), max_size=3)


@trying(33)
@given(st.data())
def test_what_is_checked_is_canonical_and_printed_and_read_again(data: st.DataObject) -> None:
    type = data.draw(TYPES)
    value = check(data.draw(plain(type)), type)
    assert check(value, type) == value
    assert parse_value(show(value, type), type, TYPEDEFS) == value
    again = pickle.loads(pickle.dumps(value))
    assert again == value and again.__class__ is value.__class__ and hash(again) == hash(value)
    assert copy.deepcopy(value) == value


@given(st.lists(st.floats()))
def test_floats_are_totally_ordered(floats: list[float]) -> None:
    ordered = sorted(values.canonical_float(x) for x in floats)
    numbers = sorted(x + 0.0 for x in floats if not math.isnan(x))
    assert ordered[: len(numbers)] == numbers
    assert all(x is NAN for x in ordered[len(numbers) :])
    assert {(NAN,)} == {(values.canonical_float(math.nan),)}
    for x in numbers:
        assert x < NAN and x < NAN and x <= NAN and not x >= NAN and x != NAN and not x > NAN and x <= NAN


def test_nan_is_one() -> None:
    assert pickle.loads(pickle.dumps(NAN)) is NAN and copy.copy(NAN) is NAN
    assert NAN == NAN and not NAN < NAN and NAN <= NAN
    assert values.canonical_float(-0.0).hex() == (0.0).hex() == values.single(-0.0).hex()


@given(st.integers())
def test_integers_become_the_nearest_single(n: int) -> None:
    near = np.float32(values.int_to_single(n))
    for other in (np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
        assert abs(Fraction(float(near)) - n) <= abs(Fraction(float(other)) - n)
    assert values.int_to_single(1 << 2000) == math.inf and values.int_to_single(-(1 << 128)) == -math.inf


@given(st.integers(), st.integers(1, 200))
def test_wrapping(n: int, width: int) -> None:
    assert values.wrap_bit(n, width) == n % (1 << width)
    signed = values.wrap_signed(n, width)
    assert (signed - n) % (1 << width) == 0 and -(1 << width - 1) <= signed < 1 << width - 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_print_without_exponent(x: float) -> None:
    text = values.float_text(x)
    assert "e" not in text and float(text) == x and not text.endswith(".0")
    single = values.single(x)
    if math.isfinite(single):
        text = values.float_text(single, 32)
        assert values.single(float(text)) == single and len(Decimal(text).normalize().as_tuple().digits) <= 9


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (True, Bool(), "true"),
        (-(10**30), BigInt(), "-1" + "0" * 30),
        (1.0, Float(64), "1"),
        (1e21, Float(64), "1" + "0" * 21),
        (values.single(0.1), Float(32), "0.1"),
        (NAN, Float(64), "NaN"),
        (-math.inf, Float(32), "-inf"),
        ('a"\\\n\x07é\u0301\0', String(), '"a\\"\\\\\\n\\u{7}é\u0301\\0"'),
        ((), Tuple(()), "()"),
        ((1, "x"), Tuple((Bit(8), String())), '(1, "x")'),
        ({"b": 1, "a": 2}, opaque("Map", String(), Bit(8)), '[("a", 2), ("b", 1)]'),
        ({3, 1}, opaque("Set", Bit(8)), "[1, 3]"),
        (None, option(Bit(8)), "ddlog_std::None{}"),
        (4, option(Bit(8)), "ddlog_std::Some{.x = 4}"),
        (("Ann", 3), User("Person"), 'Person{.name = "Ann", .make = 3}'),
        ("Dot", User("m::Shape"), "m::Dot{}"),
    ],
)
def test_show(value: Any, type: Type, text: str) -> None:
    assert show(check(value, type), type) == text


def test_huge_integers_print() -> None:
    assert show(-(10**5000), BigInt()) == "-1" + "0" * 5000


def test_to_string_has_no_quotes() -> None:
    pairs = opaque("Vec", Tuple((String(), Bit(8))))
    assert values.to_string(check([("a", 1)], pairs), pairs, TYPEDEFS) == "[(a, 1)]"
    group = opaque("Group", String(), String())
    assert values.to_string(Group.of("k", ["b", "a", "b"]), group, TYPEDEFS) == "[a, b]"


@dataclass
class Person:
    name: str
    make: int


def test_structs_are_made_of_what_python_has() -> None:
    cls = values.struct_class("Person", PERSON.constructors[0], False)
    expected = cls("Ann", 3)
    for given_ in (("Ann", 3), ["Ann", np.uint8(3)], {"make": 3, "name": "Ann"}, Person("Ann", 3), expected):
        assert check(given_, User("Person")) == expected
    assert cls(make=3, name="Ann") == cls.make("Ann", 3) == expected == ("Ann", 3)
    assert expected.make == 3 and expected.name == "Ann"  # type: ignore[attr-defined]
    assert expected._asdict() == {"name": "Ann", "make": 3}
    assert repr(expected) == "Person(name='Ann', make=3)"
    with pytest.raises(TypeError, match="Person has the fields"):
        cls("Ann")


def test_union_values_match() -> None:
    disc = values.struct_class("m::Shape", SHAPE.constructors[1], True)
    box = values.struct_class("m::Shape", SHAPE.constructors[2], True)
    value: Any = box(1, 2)
    match value:
        case disc(_):
            raise AssertionError
        case box(r, h):
            assert (r, h) == (1, 2)
    assert disc(200) < box(1, 2) < box(1, 3)
    assert repr(value) == "Box(r=1, h=2)" and value.h == 2 and tuple(value) == (2, 1, 2)


def test_options_nest() -> None:
    some = values.struct_class("ddlog_std::Option", OPTION.constructors[1], True)
    nested = option(option(Bit(8)))
    inner = check(None, option(Bit(8)))
    assert check(some(None), nested) == some(inner)
    assert check(None, nested) == inner
    assert check(3, nested) == some(some(3))


def test_collections() -> None:
    assert repr(Vec([1, "a"])) == "Vec([1, 'a'])" and repr(Set([2, 1])) == "Set([1, 2])"
    m = Map({"b": 1, "a": 2})
    assert repr(m) == "Map({'a': 2, 'b': 1})" and m.keys() == ("a", "b") and m.values() == (2, 1)
    assert (
        m.get("a") == 2
        and m.get("c", 5) == 5
        and m.has("b")
        and not m.has("")
        and m.items() == (("a", 2), ("b", 1))
    )
    assert m["b"] == 1 and dict(m) == {"a": 2, "b": 1} and Map([(1, 2), (1, 3)]) == ((1, 3),)
    assert Set([1, 5]).has(5) and not Set([1, 5]).has(6)
    g = Group.of("k", [2, 1, 2])
    assert (g.key, g.values) == ("k", (1, 2)) and repr(g) == "Group('k', [1, 2])"


@pytest.mark.parametrize(
    ("value", "type", "message"),
    [
        (256, Bit(8), r"256 is out of the range of bit<8>, 0 to 255"),
        (-129, Signed(8), r"-129 is out of the range of signed<8>, -128 to 127"),
        (True, Bit(8), r"expected bit<8>, found True"),
        (1, Bool(), r"expected bool, found 1"),
        ("1", BigInt(), r"expected bigint, found '1'"),
        (1.0, BigInt(), r"expected bigint, found 1.0"),
        ("x", Float(64), r"expected double, found 'x'"),
        (1, String(), r"expected string, found 1"),
        ("\ud800", String(), r"surrogate"),
        ((1,), Tuple((Bit(8), Bit(8))), r"expected \(bit<8>, bit<8>\), found \(1,\)"),
        (("Ann",), User("Person"), r"Person has 2 fields, found 1"),
        (("Ann", 999), User("Person"), r"field make of Person: 999 is out of the range"),
        ({"name": "Ann", "made": 1}, User("Person"), r"has no field 'made'"),
        ({"name": "Ann"}, User("Person"), r"lacks its field 'make'"),
        (3, User("m::Shape"), r"expected m::Shape, found 3"),
        ("Disc", User("m::Shape"), r"expected m::Shape, found 'Disc'"),
        ("abc", opaque("Vec", String()), r"expected ddlog_std::Vec<string>, found 'abc'"),
        ([1, "x"], opaque("Set", Bit(8)), r"expected bit<8>, found 'x'"),
    ],
)
def test_what_does_not_fit_is_refused(value: Any, type: Type, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(value, type)


def test_numpy_scalars_are_numbers() -> None:
    assert check(np.int64(3), Bit(8)) == 3 and check(np.bool_(True), Bool()) is True
    assert check(np.float32(0.5), Float(64)) == 0.5 and check(3, Float(32)) == 3.0


def test_defaults() -> None:
    default = lambda type: values.default_value(type, TYPEDEFS)  # noqa: E731
    assert default(Tuple((Bool(), BigInt(), String(), Float(64)))) == (False, 0, "", 0.0)
    assert default(User("Person")) == ("", 0) and default(option(Bit(8))) == (0,)
    assert default(opaque("Map", String(), Bit(8))) == Map() and default(User("m::Shape")) == (0,)
    with pytest.raises(values.Fault, match="has no default"):
        default(opaque("Group", String(), String()))
