"""The notebook on Spark runs on the session of the tests, and shows what it has in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

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


def _text(output: Any) -> str:
    text: str = output["text"] if "text" in output else output.data["text/plain"]
    return text
