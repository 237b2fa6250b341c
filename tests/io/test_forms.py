"""The forms of types in Arrow: each encoding gives back the values that it was given, also from a slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ddlog.io.forms import FRAMES, SPARK_FILES, Encoding, Forms
from ddlog.spark.types.forms import SPARK
from ddlog.types import Bit, Signed, Type
from ddlog.values import Map, Set, Vec, struct_class

from ..engine.declared import (
    BIGINT,
    BOOL,
    DOUBLE,
    OPTION,
    POINT,
    POINTS,
    S32,
    SHAPE,
    SHAPES,
    STRING,
    map_of,
    option,
    pair,
    set_of,
    typedefs,
    vec,
)

TYPEDEFS = typedefs()
NONE, SOME = (struct_class(OPTION.name, each, True).make for each in OPTION.constructors)
DOT, CIRCLE, BOX = (struct_class(SHAPE.name, each, True).make for each in SHAPE.constructors)
POINT_OF = struct_class(POINT.name, POINT.constructors[0], False).make
CASES: list[tuple[Type, list[Any]]] = [
    (BOOL, [True, False, True]),
    (Bit(64), [0, 2**64 - 1, 5]),
    (Bit(100), [0, 2**100 - 1, 7]),
    (Signed(5), [-16, 15, 0]),
    (BIGINT, [-(10**37), 0, 3]),
    (DOUBLE, [0.5, -1.5, 0.0]),
    (STRING, ["", "a,b", "é"]),
    (SHAPES, [DOT(), CIRCLE(1.5), BOX(1, 2)]),
    (POINTS, [POINT_OF(1, -1), POINT_OF(0, 0), POINT_OF(2, 3)]),
    (option(S32), [NONE(), SOME(1), NONE()]),
    (option(POINTS), [SOME(POINT_OF(1, 2)), NONE(), SOME(POINT_OF(3, 4))]),
    (option(option(S32)), [NONE(), SOME(NONE()), SOME(SOME(1))]),
    (option(pair(option(S32), BOOL)), [SOME((SOME(1), True)), NONE(), SOME((NONE(), False))]),
    (vec(SHAPES), [Vec([DOT()]), Vec([]), Vec([BOX(1, 1), DOT()])]),
    (set_of(Bit(100)), [Set([1, 2]), Set([]), Set([2**99])]),
    (map_of(STRING, option(S32)), [Map([("a", NONE())]), Map([]), Map([("a", SOME(1)), ("b", SOME(2))])]),
    (vec(map_of(S32, pair(BOOL, STRING))), [Vec([]), Vec([Map([(1, (True, "x"))])]), Vec([Map([])])]),
]


@pytest.mark.parametrize("encoding", [FRAMES, SPARK_FILES, SPARK], ids=("frames", "spark files", "spark"))
@pytest.mark.parametrize(("type", "values"), CASES, ids=[str(type) for type, _ in CASES])
def test_values_come_back(type: Type, values: list[Any], encoding: Encoding) -> None:
    form = Forms(TYPEDEFS, encoding).of(type)
    array = form.encode(values)
    array.validate(full=True)
    assert array.type == form.arrow and form.decode(array) == values
    assert (
        form.decode(array[1:]) == values[1:] and form.decode(array[3:]) == form.decode(form.encode([])) == []
    )


@pytest.mark.parametrize("type", [Bit(8), Signed(64), Bit(64), Bit(128), Signed(200), BIGINT], ids=str)
@pytest.mark.parametrize("encoding", [FRAMES, SPARK_FILES], ids=("frames", "spark files"))
def test_arrays_of_numbers_are_taken(type: Type, encoding: Encoding) -> None:
    form = Forms(TYPEDEFS, encoding).of(type)
    assert form.decode(form.encode(np.array([1, 0, 100]))) == [1, 0, 100]
