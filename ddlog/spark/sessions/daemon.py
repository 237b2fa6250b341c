"""The process from which Spark forks its Python workers where the executors are on this machine: a module
for `spark.python.daemon.module`.

Spark puts archives of PySpark before the installed package of which they are copies. What a process imports
from an archive it compiles each time, and each task reads the lists of contents of all archives again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def without_copies(places: Sequence[str]) -> list[str]:
    """The places of modules without the files that belong to a package PySpark in another one of them."""
    folders = [os.path.join(place, "pyspark", "") for place in places if place]
    packages = tuple(folder for folder in folders if os.path.isfile(f"{folder}__init__.py"))
    return [place for place in places if not (place.startswith(packages) and os.path.isfile(place))]


if __name__ == "__main__":
    sys.path[:] = without_copies(sys.path)
    sys.path_importer_cache.clear()  # which would read the archives again, too
    from pyspark.daemon import manager

    manager()
