"""Values as text and as JSON, both ways."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog import values
from ddlog.syntax.cursor import Cursor, TextFault
from ddlog.types import Bit, Float, Signed, Tuple, Type, User
from ddlog.values.fromjson import from_json
from ddlog.values.fromtext import parse_value, read_value
from ddlog.values.mutation import read_mutation
from ddlog.values.tojson import to_json

from ..engine.declared import (
    BIGINT,
    BOOL,
    DOUBLE,
    POINTS,
    S32,
    SHAPES,
    STRING,
    map_of,
    option,
    pair,
    set_of,
    typedefs,
    vec,
)
from ..trying import trying

TYPES = typedefs()


def read(text: str, type: Type) -> Any:
    return parse_value(text, type, TYPES)


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [
        ("true", BOOL, True),
        ("0x_FF_", BIGINT, 255),
        ("-\n5", S32, -5),
        ("0x10", DOUBLE, 16.0),
        ("-\t1_0.5", DOUBLE, -10.5),
        ('"\\\\ \\" \\\' \\n \\a \\b \\f \\r \\t \\v \\?"', STRING, "\\ \" ' \n \a \b \f \r \t \v ?"),
        ('[ ("a", 1,), ]', map_of(STRING, S32), (("a", 1),)),
        ("Point{}", POINTS, (0, 0)),
        ("Some{[1, 2]}", option(vec(S32)), (1, (1, 2))),
        ('@json "{\\"x\\": 1, \\"y\\": 2}"', POINTS, (1, 2)),
        ('[@json "1", 2]', vec(S32), (1, 2)),
        ("-1_000", S32, -1000),
        ("0xff", Bit(8), 255),
        ("1", DOUBLE, 1.0),
        ("-2.5e3", DOUBLE, -2500.0),
        ("inf", DOUBLE, math.inf),
        ('"a\\n\\"\\u{41}\\\\"', STRING, 'a\n"A\\'),
        ("()", Tuple(()), ()),
        ('(1, "a")', pair(S32, STRING), (1, "a")),
        ("[1, 2,]", vec(S32), (1, 2)),
        ("7", vec(S32), (7,)),
        ("[2, 1, 2]", set_of(S32), (1, 2)),
        ('[("b", 1), ("a", 2)]', map_of(STRING, S32), (("a", 2), ("b", 1))),
        ("Dot", SHAPES, (0,)),
        ("Dot{}", SHAPES, (0,)),
        ("Box{3, 4}", SHAPES, (2, 3, 4)),
        ("Box{.h = 4, .w = 3}", SHAPES, (2, 3, 4)),
        ("Point{.y = 4}", POINTS, (0, 4)),
        ("ddlog_std::Some{3}", option(S32), (1, 3)),
        ("Some{.x = 3}", option(S32), (1, 3)),
        ("ddlog_std::None", option(S32), (0,)),
        ("3", option(S32), (1, 3)),
        ("[]", option(S32), (0,)),
        ("[3]", option(S32), (1, 3)),
        ("[3]", option(vec(S32)), (1, (3,))),
        ('@json "[1, 2]"', vec(S32), (1, 2)),
        ("123456789012345678901234567890", BIGINT, 123456789012345678901234567890),
    ],
)
def test_text_reads_as_value(text: str, type: Type, value: Any) -> None:
    assert read(text, type) == value


@pytest.mark.parametrize(
    ("text", "type", "message", "start"),
    [
        ("x", S32, "expected signed<32>, found `x`", 0),
        ("300", Bit(8), "300 is out of the range of bit<8>, 0 to 255", 0),
        ('"a', STRING, "this string does not end", 0),
        ('"\\q"', STRING, "`\\q` is no escape of a string", 1),
        ("(1)", pair(S32, S32), "expected 2 values, found 1", 1),
        ("(1, 2, 3)", pair(S32, S32), "expected 2 values, found more", 7),
        ("Box{.w = 3}", SHAPES, "missing field `h`", 4),
        ("Box{.q = 3}", SHAPES, "there is no field `q`; the fields are `w`, `h`", 4),
        ("Blob{}", SHAPES, "expected Shape: `Dot{…}` or `Circle{…}` or `Box{…}`, found `Blob`", 0),
        ("[1, 2", vec(S32), "expected `]`, found the end of the text", 5),
        ("1 2", S32, "expected the end of the value, found `2`", 2),
        ('@json "{"', S32, "in the JSON:", 6),
        ('@json "{\\"x\\": 1, \\"x\\": 2}"', POINTS, 'in the JSON: "x" is there twice in an object', 6),
        ("1.5", S32, "expected signed<32>, found `1.5`", 0),
        ('["a" -> 1]', map_of(STRING, S32), 'expected an entry of a map, `(key, value)`, found `"`', 1),
        ("0x_", S32, "expected signed<32>, found `0x_`", 0),
        ('%"a"', STRING, 'only commands read files (`%"file"`)', 0),
        ('@json %"a"', POINTS, 'only commands read files (`%"file"`)', 6),
        ('%%"a"', STRING, "expected string, found `%`", 1),
        ("Point{.x = 1, .x = 2}", POINTS, "field `x` is given twice", 14),
        ("[1 2]", set_of(S32), "expected `]`, found `2`", 3),
        ("1", set_of(S32), "expected ddlog_std::Set<signed<32>>, found `1`", 0),
    ],
)
def test_faults_have_places(text: str, type: Type, message: str, start: int) -> None:
    with pytest.raises(TextFault) as caught:
        read(text, type)
    assert caught.value.message.startswith(message)
    assert caught.value.start == start


TYPED = st.deferred(
    lambda: st.sampled_from([BOOL, S32, Bit(64), BIGINT, DOUBLE, Float(32), STRING, SHAPES, POINTS]).flatmap(
        _wrapped
    )
)


def _wrapped(type: Type) -> st.SearchStrategy[Type]:
    return st.sampled_from(
        [
            type,
            vec(type),
            set_of(type),
            option(type),
            pair(type, STRING),
            map_of(type, option(type)),
            vec(option(type)),
        ]
    )


def of_type(type: Type) -> st.SearchStrategy[Any]:
    """Plain Python values that `check` takes."""
    match type:
        case Signed(w):
            return st.integers(-(1 << w - 1), (1 << w - 1) - 1)
        case Bit(w):
            return st.integers(0, (1 << w) - 1)
        case Float(w):
            return st.floats(width=w)  # type: ignore[arg-type]
        case Tuple(items):
            return st.tuples(*map(of_type, items))
        case User("Shape"):
            return st.sampled_from(["Dot", "Dot{}", "Circle{2.5}", "Box{1, 2}"]).map(
                lambda t: read(t, SHAPES)
            )
        case User("Point"):
            return st.tuples(of_type(S32), of_type(S32))
        case User():
            return st.none() | of_type(type.args[0])
    if type == BOOL:
        return st.booleans()
    if type == BIGINT:
        return st.integers()
    if type == STRING:
        return st.text()
    element = type.args  # type: ignore[union-attr]
    return st.lists(of_type(element[0]) if len(element) == 1 else of_type(Tuple(element)), max_size=4)


@trying(33)
@given(st.data())
def test_text_and_json_round_trip(data: st.DataObject) -> None:
    type = data.draw(TYPED)
    value = values.check(data.draw(of_type(type)), type, TYPES)
    assert read(values.show(value, type, TYPES), type) == value
    assert from_json(json.loads(json.dumps(to_json(value, type, TYPES))), type, TYPES) == value


@pytest.mark.parametrize(
    ("old", "mutation", "type", "new"),
    [
        ("Point{1, 2}", "_{.y = 5}", POINTS, "Point{1, 5}"),
        ("Point{1, 2}", "Point{3, 4}", POINTS, "Point{3, 4}"),
        ("[1, 2]", "[3]", vec(S32), "[3]"),
        ("[1, 2]", "[2, 3]", set_of(S32), "[1, 3]"),
        ("[(1, 10), (2, 20)]", "[(1, ()), (2, 21), (3, 30)]", map_of(S32, S32), "[(2, 21), (3, 30)]"),
        ("Box{1, 2}", "Box{.h = 9}", SHAPES, "Box{1, 9}"),
        ("[(1, Point{1, 2})]", "[(1, _{.x = 7})]", map_of(S32, POINTS), "[(1, Point{7, 2})]"),
        ("1", '@json "2"', S32, "2"),
        ("Point{1, 2}", "_{}", POINTS, "Point{1, 2}"),
        ("Point{1, 2}", '@json "[3, 4]"', POINTS, "Point{3, 4}"),
        ("[1, 2]", '@json "[2, 3]"', set_of(S32), "[2, 3]"),
        ("None", "Some{.x = 3}", option(S32), "3"),
        ("Dot", "Circle{.r = 1.5}", SHAPES, "Circle{1.5}"),
        ("[]", "[(1, Some{.x = 3})]", map_of(S32, option(S32)), "[(1, 3)]"),
        (
            "[(1, [2, 3]), (4, [])]",
            "[(1, [3, 5]), (6, [7]),]",
            map_of(S32, set_of(S32)),
            "[(1, [2, 5]), (4, []), (6, [7])]",
        ),
    ],
)
def test_mutations(old: str, mutation: str, type: Type, new: str) -> None:
    mutate = read_mutation(Cursor(mutation), type, TYPES)
    assert mutate(read(old, type)) == read(new, type)


def test_a_part_of_another_constructor_is_refused() -> None:
    mutate = read_mutation(Cursor("Box{.w = 1}"), SHAPES, TYPES)
    with pytest.raises(ValueError, match="is no Box: to make it one, all fields must be given"):
        mutate(read("Dot", SHAPES))


def test_commands_take_the_contents_of_files(tmp_path: Path) -> None:
    def read(text: str, type: Type) -> Any:
        return read_value(Cursor(text, commands=True), type, TYPES)

    (tmp_path / "name").write_text("an ä")
    (tmp_path / "point.json").write_text('{"x": 1, "y": 2}')
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert read(f'%"{tmp_path}/name"', STRING) == "an ä"
    assert read(f'[% "{tmp_path}/name", "b"]', vec(STRING)) == ("an ä", "b")
    assert read(f'@json %"{tmp_path}/point.json"', POINTS) == (1, 2)
    wrong = [
        ("none", "No such file"),
        ("bytes", "it is not UTF-8"),
        ("", "Is a directory"),
        ("a\\0b", "null"),
    ]
    for name, problem in wrong:
        with pytest.raises(TextFault, match=problem):
            read(f'%"{tmp_path}/{name}"', STRING)
