"""Values of OVSDB."""

from __future__ import annotations

import pytest

from ddlog.types import Bit, Constructor, String
from ddlog.values import Struct, struct_class

from .calls import given, given_of_group, untried

PRELUDE = """
import ovsdb
function id(): uuid_or_string_t { Left{128'h00112233445566778899aabbccddeeff} }
function name(): uuid_or_string_t { Right{"row1"} }
function refs(): Vec<uuid_or_string_t> { [Left{7}, Right{"x"}, Right{"y"}] }
"""

CALLS = {
    "(extract_uuid(Left{7}), extract_uuid(name()))": "(7, 0)",
    "uuid2str(extract_uuid(id()))": '"00112233-4455-6677-8899-aabbccddeeff"',
    "uuid2name(extract_uuid(id()))": '"row00112233_4455_6677_8899_aabbccddeeff"',
    "set_map_uuid2str(to_set([1: uuid, 0]))":
        '["00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"]',
    "set_map_uuid2name(to_set([1: uuid]))": '["row00000000_0000_0000_0000_000000000001"]',
    "set_extract_uuids(to_set(refs()))": "[0, 7]",
    'map_extract_val_uuids(["a" -> id(), "b" -> name()]) == ["a" -> extract_uuid(id()), "b" -> 0]': "true",
    "(option_extract_uuid(Some{Left{7}}), option_extract_uuid(Some{name()}), option_extract_uuid(None))":
        "(ddlog_std::Some{7}, ddlog_std::Some{0}, ddlog_std::None{})",
    'map_with_sentinel(["a" -> 3], "")': '[("", 0), ("a", 3)]',
    "(5: integer) + 18446744073709551615": "4",
}  # fmt: skip

GROUPED = {  # over the references 7, "" and "row"
    "group2vec_remove_sentinel(g)": '[ddlog_std::Left{7}, ddlog_std::Right{"row"}]',
    "group2set_remove_sentinel(g)": '[ddlog_std::Left{7}, ddlog_std::Right{"row"}]',
}
GROUPED_PAIRS = {  # over the pairs of 1 and 7, 1 and "row", 2 and ""
    "group2map_remove_sentinel(g)": '{1: ddlog_std::Right{"row"}}',
}


LEFT = Constructor("ddlog_std::Left", 0, (("l", Bit(128)),))
RIGHT = Constructor("ddlog_std::Right", 1, (("r", String()),))


def left(number: int) -> Struct:
    """`Left{number}`"""
    return struct_class("ddlog_std::Either", LEFT, True)(number)


def right(text: str) -> Struct:
    """`Right{text}`"""
    return struct_class("ddlog_std::Either", RIGHT, True)(text)


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """What every expression of the tables gives."""
    references = [left(7), right(""), right("row")]
    pairs = [(1, left(7)), (1, right("row")), (2, right(""))]
    return (
        given(PRELUDE, CALLS)
        | given_of_group(PRELUDE, "uuid_or_string_t", references, GROUPED)
        | given_of_group(PRELUDE, "(u8, uuid_or_string_t)", pairs, GROUPED_PAIRS)
    )


@pytest.mark.parametrize("call", CALLS | GROUPED | GROUPED_PAIRS)
def test_call(shown: dict[str, str], call: str) -> None:
    assert shown[call] == (CALLS | GROUPED | GROUPED_PAIRS)[call]


def test_every_function_is_tried() -> None:
    assert untried("ovsdb", PRELUDE, CALLS, GROUPED, GROUPED_PAIRS) == []


def test_integers_are_those_of_the_module_that_declares_them() -> None:
    assert given("", ["(-5: integer)"]) == {"(-5: integer)": "-5"}
    assert given("import ovsdb", ["(0: integer) - 1"]) == {"(0: integer) - 1": "18446744073709551615"}
