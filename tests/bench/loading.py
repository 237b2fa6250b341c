"""Files of tables: processor time and memory of reading a column of each type, with and without NULLs.

    python tests/bench/loading.py [--rows 1000000]

A file has a key and a column of many different values. Each figure is of a whole process.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import duckdb
from measure import ddlog_command, run_process
from tabular import table

COLUMNS = {
    "BIGINT": "i * 7",
    "DOUBLE": "(hash(i * 7) % 100000) / 7.0",
    "BOOLEAN": "i % 2 = 0",
    "DECIMAL(10, 2)": "round((hash(i * 7) % 100000) / 100.0, 2)",
    "DATE": "DATE '2020-01-01' + (hash(i * 3) % 1500)::INT",
    "TIMESTAMP": "TIMESTAMP '2020-01-01' + to_seconds((hash(i * 3) % 100000000)::INT)",
    "VARCHAR": "'c' || i",
}


def main() -> None:
    """Prints a row for each type."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    body = []
    for of, value in COLUMNS.items():
        figures = []
        for form in ("csv", "parquet"):
            for null in (" NOT NULL", ""):
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    given = value if null else f"CASE WHEN i % 10 > 0 THEN {value} END"
                    query = f"SELECT i AS id, {given} AS v FROM range({rows}) t(i)"
                    duckdb.execute(f"COPY ({query}) TO '{folder / f't.{form}'}' (FORMAT {form})")
                    program = folder / "p.sql"
                    program.write_text(
                        f"CREATE TABLE t(id BIGINT NOT NULL, v {of}{null});\n"
                        "CREATE VIEW n AS SELECT count(*) AS n FROM t;\n"
                    )
                    place = f"t={folder / f't.{form}'}"
                    done = run_process([*ddlog_command(), "run", str(program), "--input", place, "--sizes"])
                    figures += [f"{done.processors:.2f}", f"{done.mib:.0f}"]
        body.append((of, *figures))
    head = [f"{form} {what}" for form in ("CSV", "Parquet") for what in ("s", "MiB", "NULLs, s", "MiB")]
    print(table(f"{rows:,} rows", ["type", *head], body))


if __name__ == "__main__":
    main()
