"""Relations as temp views of a Spark session, for those who write SQL beside a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...core import Relation, relation_named
from ...errors.diagnostics import DDlogError
from ...errors.spark import SameView

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def register_views(
    frames: Mapping[str, DataFrame], relations: Mapping[str, Relation], prefix: str
) -> list[str]:
    """Makes a temp view of each DataFrame, in place of one with its name. The name is the prefix and the
    relation's name, for a program of SQL that of its view there. Returns the names. Raises DDlogError if
    Spark would take two of them for one; then nothing is registered."""
    declared = {each: relation_named(each, relations) for each in frames}
    names = {each: prefix + ((found and found.original) or each) for each, found in declared.items()}
    if names:
        spark = next(iter(frames.values())).sparkSession
        sensitive = str(spark.conf.get("spark.sql.caseSensitive")).lower() == "true"
        taken: dict[str, str] = {}
        for name in names.values():
            other = taken.setdefault(name if sensitive else name.lower(), name)
            if other != name:
                raise DDlogError([SameView(other, name)])
    for each, frame in frames.items():
        frame.createOrReplaceTempView("`" + names[each].replace("`", "``") + "`")
    return list(names.values())
