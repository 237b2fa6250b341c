"""JSON text: what is written is what Python reads, places are found, numbers are as short as can be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.stdlib import jsontext
from ddlog.values import single
from ddlog.values.anyjson import from_any_json, to_any_json

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
DATA = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(DATA)
def test_encoded_is_what_python_reads(data: object) -> None:
    text = jsontext.encode(data)
    assert json.loads(text) == data
    assert jsontext.decode(text) == data


@given(DATA)
def test_values_hold_all_of_json(data: object) -> None:
    small = json.loads(json.dumps(data), parse_int=lambda digits: int(digits) % 1000)
    assert to_any_json(from_any_json(small)) == small


@given(DATA.filter(lambda data: isinstance(data, list | dict)), st.data())
def test_a_path_leads_to_the_end_of_a_value(data: object, choose: st.DataObject) -> None:
    path: list[str | int] = []
    inner = data
    while isinstance(inner, list | dict) and inner and choose.draw(st.booleans()):
        steps: list[str | int] = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        path.append(choose.draw(st.sampled_from(steps)))
        inner = inner[path[-1]]  # type: ignore[call-overload,index]
    text = json.dumps(data, indent=choose.draw(st.sampled_from([None, 1])))
    assert text[: jsontext.end_of(text, path)].endswith(json.dumps(inner).splitlines()[-1][-1])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back(number: float) -> None:
    assert float(jsontext.number_text(number + 0.0, 64)) == number
    assert len(jsontext.number_text(number, 64)) <= 25


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_singles_come_back(number: float) -> None:
    assert single(float(jsontext.number_text(number + 0.0, 32))) == number


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "7" * 10001])
def test_whole_numbers_are_of_any_size(digits: str) -> None:
    assert jsontext.encode(jsontext.decode(digits)) == digits


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 50_000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(jsontext.Refused):
        jsontext.decode(text)
