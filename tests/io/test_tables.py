"""Tables in and out of sessions: Arrow, pandas, polars, mappings of columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.io.arrow import checked_column
from ddlog.io.columns import values_of
from ddlog.io.faults import CellFault
from ddlog.io.plainform import from_plain

from ..trying import trying

PROGRAM = ddlog.compile("""
typedef Kind = Server | Client{owner: string}
typedef Spot = Spot{x: signed<16>, y: double}
input relation Plain(i: signed<32>, b: bigint, s: string, f: double, t: bool, u: bit<64>)
input relation Nested(
    k: Kind, sp: Spot, v: Vec<Kind>, m: Map<string, bigint>, mm: Map<bit<8>, (string, bool)>, s: Set<bit<8>>,
    o: Option<string>, oi: Option<bigint>, os: Option<Spot>, ov: Option<Vec<string>>, w: bit<100>, g: float)
input relation Kinds[Kind]
input relation Host(id: bigint, on: bool) primary key (x) x.id
input multiset Bag(f: double)
output relation Ids(i: bigint)
Ids(i as bigint) :- Plain(.i = i).
""")
PLAIN: dict[str, Any] = {
    "i": [1, 2, 3],
    "b": [1, 10**30, -5],
    "s": ["a", "é", "x,y"],
    "f": [1.5, float("nan"), -0.0],
    "t": [True, False, True],
    "u": [2**64 - 1, 0, 5],
}


def full_session() -> ddlog.Session:
    session = PROGRAM.session()
    session.insert_table("Plain", PLAIN)
    client = session.query('var k = Client{"me"}').rows[0][0]
    lists: tuple[Any, ...] = (["Server", client], {"a": 1, "b": 2**70}, {1: ("one", True)}, {1, 2})
    session.insert("Nested", (client, (1, 2.5), *lists, None, 5, None, ["a"], 2**99, 1.5))
    session.insert("Nested", ("Server", (1, -2.5), [], {}, {}, [], "Some", None, (3, 4.0), None, 0, 0.25))
    session.insert("Kinds", client, "Server")
    session.commit()
    return session


def by_column(view: ddlog.RelationView) -> dict[str, list[Any]]:
    return dict(zip(view.columns, map(list, zip(*view.tuples(), strict=True)), strict=True))


FORMS: dict[str, Callable[[ddlog.RelationView], Any]] = {
    "arrow": lambda view: view.to_arrow(),
    "record batch": lambda view: view.to_arrow().to_batches()[0],
    "pandas": lambda view: view.to_pandas(),
    "pandas with an index": lambda view: view.to_pandas().set_index(pd.Index(range(5, 5 + len(view)))),
    "polars": lambda view: view.to_polars(),
    "lists": by_column,
    "series of pandas": lambda view: dict(view.to_pandas().items()),
    "series of polars": lambda view: {column.name: column for column in view.to_polars()},
    "another order": lambda view: view.to_pandas().iloc[:, ::-1],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("relation", ["Plain", "Nested", "Kinds"])
def test_what_a_relation_gives_out_goes_in_again(relation: str, form: str) -> None:
    view = full_session()[relation]
    table = FORMS[form](view)
    with PROGRAM.session() as session:
        session.insert_table(relation, table)
        session.commit()
        assert list(session[relation].tuples()) == list(view.tuples())
        session.delete_table(relation, table)
        session.commit()
        assert len(session[relation]) == 0


def test_tables_join_a_transaction() -> None:
    with PROGRAM.session() as session:
        session.insert_table("Plain", PLAIN)
        session.delete_table("Plain", {name: column[:1] for name, column in PLAIN.items()})
        assert [tuple(row) for row, _ in session.commit()["Ids"]] == [(2,), (3,)]
        session.insert_table("Plain", pd.DataFrame(PLAIN))
        session.rollback()
        assert not session.commit()
        session.insert_table("Plain", pd.DataFrame({name: [] for name in PLAIN}))
        assert not session.commit()


def test_tables_of_keyed_relations_and_multisets() -> None:
    with PROGRAM.session() as session:
        session.insert_table("Host", {"id": [1, 2], "on": np.array([True, False])})
        session.commit()
        session.upsert_table("Host", pl.DataFrame({"id": [2, 3], "on": [True, True]}))
        session.delete_table("Host", pa.table({"on": [True], "id": [1]}))
        session.commit()
        assert list(session["Host"].tuples()) == [(2, True), (3, True)]
        with pytest.raises(ddlog.DDlogError, match="already has a row with the key 3"):
            session.insert_table("Host", {"id": [7, 3], "on": [True, True]})
        assert not session.in_transaction
        session.insert_table("Bag", {"f": np.array([np.nan, 0.0, -0.0, np.nan])})
        session.delete_table("Bag", {"f": [float("nan")]})
        session.commit()
        assert session["Bag"].stored.weights == [2, 1]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([(1, 2)], "expected an Arrow table, .* found list"),
        ({}, "there is no column `i`; the columns of Plain are i, b, s, f, t, u"),
        ({**PLAIN, "z": []}, "`z` is no column"),
        ({**PLAIN, "i": [1]}, "differ in length: i 1, b 3"),
        ({**PLAIN, "i": [1, 2, 2**40]}, "Plain, row 3: column `i`: 1099511627776 is out of the range"),
        ({**PLAIN, "i": np.array([1, 2, 2**40])}, "Plain, row 3: column `i`: 1099511627776 is out of"),
        ({**PLAIN, "i": np.zeros((3, 2))}, "column `i`: the array has 2 dimensions"),
        ({**PLAIN, "i": [1, True, 3]}, "row 2: column `i`: expected signed<32>, found True"),
        ({**PLAIN, "s": ["a", "b", None]}, "row 3: column `s`: expected string, found None"),
        ({**PLAIN, "s": ["a", "\ud800", "b"]}, "row 2: column `s`: .*surrogate"),
        ({**PLAIN, "s": "abc"}, "column `s`: expected an array or a list"),
        (pd.DataFrame({**PLAIN, "i": [1, None, 3]}), "row 2: column `i`: expected signed<32>, found null"),
        (pd.DataFrame({**PLAIN, "s": pd.to_datetime(["2020-01-01"] * 3)}), "row 1: column `s`: expected str"),
        (pl.DataFrame({**PLAIN, "b": [1, 2, 3], "t": [True, None, True]}), "row 2: column `t`: .*null"),
        (pd.concat([pd.DataFrame(PLAIN)] * 2, axis=1), "the column `i` is there twice"),
    ],
)
def test_bad_tables_are_refused_and_nothing_is_applied(table: Any, message: str) -> None:
    with PROGRAM.session() as session:
        with pytest.raises(ddlog.DDlogError, match=message):
            session.insert_table("Plain", table)
        assert not session.in_transaction


def test_arrow_types_that_nearly_fit_are_refused() -> None:
    """A timestamp is a date at midnight alone, and a number is no Option<string>."""
    program = ddlog.compile("import time\ninput relation R(day: time::Date, s: Option<string>)")
    days = pa.array([datetime(2021, 3, 4), datetime(2021, 3, 4, 5)], pa.timestamp("ns"))
    with program.session() as session:
        with pytest.raises(ddlog.DDlogError, match="R, row 2: column `day`: expected time::Date"):
            session.insert_table("R", pa.table({"day": days, "s": ["a", "b"]}))
        with pytest.raises(ddlog.DDlogError, match="R, row 1: column `s`: expected string, found 7"):
            session.insert_table("R", pa.table({"day": days[:1], "s": [7]}))
        session.insert_table("R", pa.table({"day": days[:1], "s": ["a"]}))
        session.commit()
        assert list(session["R"].tuples()) == [(date(2021, 3, 4), "a")]


def test_what_polars_has_no_type_for_goes_as_text() -> None:
    with PROGRAM.session() as session:
        rest = ({}, {}, [], None, None, None, None)
        for number in (2**99, 1):
            session.insert("Nested", ("Server", (1, 0.5), [], *rest, number, 0.5))
        session.commit()
        frame = session["Nested"].to_polars()
        assert sorted(map(int, frame["w"].to_list())) == [1, 2**99]


def test_facts_without_columns_are_loaded(tmp_path: Path) -> None:
    program = ddlog.compile("input relation Flag()\noutput relation On(x: bit<8>)\nOn(1) :- Flag().")
    (tmp_path / "Flag.jsonl").write_text("{}\n")
    with program.session() as session:
        session.load(tmp_path)
        assert len(session["On"]) == len(session["Flag"]) == 1


OPTIONAL = ddlog.compile("""
import time
input relation R(a: Option<s16>, b: Option<u64>, c: Option<bigint>, d: Option<double>, e: Option<float>,
    f: Option<bool>, g: Option<Date>, h: Option<DateTime>, i: Option<Time>, j: Option<Option<s16>>,
    k: Option<string>)
""")
ARRAYS = st.one_of(
    st.tuples(st.sampled_from([pa.int8(), pa.int64(), pa.uint64(), pa.float64()]), st.integers(0, 100)),
    st.tuples(st.sampled_from([pa.int32(), pa.int64()]), st.sampled_from([-40000, -1, 40000])),
    st.tuples(
        st.sampled_from([pa.float32(), pa.float64()]), st.sampled_from([0.5, -0.0, float("nan"), 1e300])
    ),
    st.tuples(st.just(pa.bool_()), st.booleans()),
    st.tuples(st.sampled_from([pa.date32(), pa.date64()]), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    st.tuples(st.sampled_from([pa.timestamp("s"), pa.timestamp("us")]), st.datetimes(datetime(1900, 1, 1))),
    st.tuples(st.just(pa.decimal128(5, 1)), st.decimals(-99, 99, places=1)),
    st.tuples(st.just(pa.string()), st.sampled_from(["", "7", "NULL", "None", 'Some{"x"}', "2024-02-28"])),
)


@trying(100)
@given(st.sampled_from(OPTIONAL.checked.relations["R"].columns), st.data())
def test_columns_of_options_are_taken_as_their_values(column: Any, data: st.DataObject) -> None:
    (of, first), more = data.draw(ARRAYS), data.draw(st.lists(st.booleans(), max_size=3))
    array = pa.chunked_array([pa.array([first, *(None if each else first for each in more)], of)])
    typedefs, faults = OPTIONAL.checked.typedefs, list[CellFault]()
    found = checked_column(array, column, typedefs, faults.append)
    try:
        expected = [from_plain(item, column.type, typedefs) for item in array.to_pylist()]
    except (ValueError, OverflowError):
        assert faults
    else:
        assert repr([*values_of(found, column.type)]) == repr(expected)
