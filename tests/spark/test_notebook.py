"""The notebook on Spark runs on the session of the tests, and shows what it has in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

import ddlog
from ddlog.engine.spark.tables import Tables
from ddlog.sessions.results import display

from ..notebook.examples import EXAMPLES, ON_SPARK
from ..notebook.shell import Notebook

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_notebook_on_spark(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    notebook = Notebook()
    for cell in nbformat.read(ON_SPARK, as_version=4).cells:
        if cell.cell_type == "code":
            wanted = "\n".join(_text(each) for each in cell.outputs)
            assert notebook.texts(cell.source).split() == wanted.split(), cell.source
    InteractiveShell.clear_instance()


def test_of_a_large_relation_only_the_rows_that_are_shown_are_fetched(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = list[int]()

    def collected(tables: Tables, *given: Any) -> Any:
        found = before(tables, *given)
        fetched.append(found.num_rows)
        return found

    before = Tables.collected
    monkeypatch.setattr(Tables, "collected", collected)
    monkeypatch.setattr(display, "_ORDERED", 100)
    program = ddlog.compile("input relation R(x: bigint)\noutput relation S(x: bigint)\nS(x + 1) :- R(x).")
    with program.session(spark=spark, updates=False) as session:
        changes = session.load_frames({"R": spark.range(1000).toDF("x")})
        for value in (changes, session["S"]):
            text: str = value._repr_mimebundle_()["text/plain"]
            assert "some 50 of 1,000 " in text and len(text.splitlines()) == 54
        assert max(fetched) == 50


def _text(output: Any) -> str:
    text: str = output["text"] if "text" in output else output.data["text/plain"]
    return text
