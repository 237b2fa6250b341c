"""Spark's Python workers import the installed PySpark, not its archive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from ddlog.spark.sessions.daemon import without_copies
from ddlog.spark.sessions.settings import DAEMON, driver_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_archives_of_an_installed_package_are_left_out(tmp_path: Path) -> None:
    """Those of another place may be all that there is."""
    here, there, home = tmp_path / "site", tmp_path / "spark", tmp_path / "home"
    copies = [here / "pyspark/python/lib/pyspark.zip", here / "pyspark/jars/core.jar"]
    others = [
        there / "pyspark/python/lib/pyspark.zip",
        home / "pyspark/python/lib/pyspark.zip",  # a folder of that name that is no package
        here / "other.zip",
        here / "pyspark" / "folder" / "a.py",
    ]
    for file in (*copies, *others, here / "pyspark/__init__.py"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    kept = [*others[:3], here / "pyspark" / "folder", here, home]
    assert without_copies([*map(str, copies), *map(str, kept), "", "missing"]) == [
        *map(str, kept),
        "",
        "missing",
    ]
    assert without_copies(list(map(str, copies))) == list(map(str, copies))


def test_workers_import_what_is_installed(spark: SparkSession) -> None:
    if "DDLOG_TEST_REMOTE" in os.environ or "DDLOG_TEST_CLUSTER" in os.environ:
        pytest.skip("the session has Spark's own daemon")

    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        import pyspark

        for _ in batches:
            places = [*sys.path, *sys.path_importer_cache]
            archives = [each for each in places if each.endswith((".zip", ".jar")) and Path(each).exists()]
            yield pa.RecordBatch.from_pydict({"place": [[pyspark.__file__, *archives]]})

    (row,) = spark.range(1).mapInArrow(found, "place array<string>").collect()
    (place,) = row["place"]
    assert Path(place).is_file()


def test_the_command_line_has_them_on_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "python")
    key = "spark.python.daemon.module"
    assert driver_settings({}, "local[2]")[key] == DAEMON
    assert driver_settings({key: "theirs"}, "local[2]")[key] == "theirs"
    assert key not in driver_settings({}, "spark://host:7077")
