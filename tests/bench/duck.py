"""The closure in DuckDB's recursive SQL, for comparison: `python duck.py FACTS_DIR` prints its size."""

from __future__ import annotations

import sys


def closure_size(facts: str) -> int:
    """The number of pairs in the transitive closure of Edge.facts, by two threads."""
    import duckdb  # type: ignore[import-not-found, unused-ignore]

    connection = duckdb.connect(config={"threads": 2})
    connection.execute(
        "CREATE TABLE edge AS SELECT * FROM read_csv(?, delim='\t', header=false, names=['x', 'y'])",
        [f"{facts}/Edge.facts"],
    )
    query = """
        WITH RECURSIVE tc(x, y) AS (
            SELECT x, y FROM edge UNION SELECT tc.x, edge.y FROM tc JOIN edge ON tc.y = edge.x
        ) SELECT count(*) FROM tc
    """
    (size,) = connection.execute(query).fetchone()
    return int(size)


if __name__ == "__main__":
    print(closure_size(sys.argv[1]))
