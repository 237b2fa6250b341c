"""Programs beside the SQL that a Spark engineer would write: `python besidesql.py FOLDER [CASE …]`.

    --scale 1       of TPC-H, whose files `tpchgen-cli` makes in FOLDER if they are not there
    --rows N        of the fact table of the star, which Spark writes there
    --runs 3        in turn in one process; the best counts
    --plans         prints Spark's plans of both sides
    --session       ours is a session that takes updates, in place of `Program.run`

The cases are ten queries of TPC-H and `star5`, a star with five dimensions. The answers are compared. The SQL
reads the files as they are; ours reads them with money as cents and dates as days, made by Spark on the way.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark.local import java_process, processor_seconds, session
from tabular import table

PROGRAMS = Path(__file__).parent.parent / "programs"
TPCH = ("region", "nation", "supplier", "part", "customer", "orders", "lineitem")
CENTS = ("acctbal", "retailprice", "totalprice", "quantity", "extendedprice", "discount", "tax")
NET = "l_extendedprice * (1 - l_discount)"
LIMIT = 1.5


def whole(value: str, scale: int = 4) -> str:
    """SQL of a decimal as an integer."""
    return f"CAST({value} * {10**scale} AS BIGINT)"


BY_HAND = {
    "Q1": f"""SELECT l_returnflag, l_linestatus, {whole("sum(l_quantity)", 2)},
        {whole("sum(l_extendedprice)", 2)}, {whole(f"sum({NET})")}, {whole(f"sum({NET} * (1 + l_tax))", 6)},
        CAST(avg(l_quantity) * 100 AS DOUBLE), CAST(avg(l_extendedprice) * 100 AS DOUBLE),
        CAST(avg(l_discount) * 100 AS DOUBLE), count(*)
        FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus""",
    "Q3": f"""SELECT l_orderkey, unix_date(o_orderdate), o_shippriority, {whole(f"sum({NET})")}
        FROM customer, orders, lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey
        AND l_orderkey = o_orderkey AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority""",
    "Q4": """SELECT o_orderpriority, count(*) FROM orders WHERE o_orderdate >= DATE '1993-07-01'
        AND o_orderdate < DATE '1993-10-01' AND EXISTS (SELECT * FROM lineitem
        WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority""",
    "Q5": f"""SELECT n_name, {whole(f"sum({NET})")} FROM customer, orders, lineitem, supplier, nation, region
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
        AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
        AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
        GROUP BY n_name""",
    "Q6": f"""SELECT {whole("sum(l_extendedprice * l_discount)")} FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
        AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24""",
    "Q10": f"""SELECT c_custkey, c_name, {whole("c_acctbal", 2)}, c_phone, n_name, c_address, c_comment,
        {whole(f"sum({NET})")} FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey
        AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01'
        AND l_returnflag = 'R' AND c_nationkey = n_nationkey
        GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment""",
    "Q12": """SELECT l_shipmode,
        sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END),
        sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END)
        FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
        AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
        AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01' GROUP BY l_shipmode""",
    "Q14": f"""SELECT {whole(f"sum(CASE WHEN p_type LIKE 'PROMO%' THEN {NET} ELSE 0 END)")},
        {whole(f"sum({NET})")} FROM lineitem, part WHERE l_partkey = p_partkey
        AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'""",
    "Q18": f"""SELECT c_name, c_custkey, o_orderkey, unix_date(o_orderdate), {whole("o_totalprice", 2)},
        {whole("sum(l_quantity)", 2)} FROM customer, orders, lineitem WHERE o_orderkey IN
        (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
        AND c_custkey = o_custkey AND o_orderkey = l_orderkey
        GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice""",
    "Q19": f"""SELECT {whole(f"sum({NET})")} FROM lineitem, part WHERE p_partkey = l_partkey
        AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON' AND (
        (p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
        OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
        OR (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15))""",
    "star5": """SELECT month, country, kind, segment, count(*), sum(pieces), sum(pieces * price)
        FROM Sale JOIN Day USING (day) JOIN Shop USING (shop) JOIN Item USING (item) JOIN Buyer USING (buyer)
        JOIN Offer USING (offer) WHERE year = 2 AND channel = 'web' GROUP BY month, country, kind, segment""",
}
OUTPUTS = {"star5": "Sold"}
STAR = {
    "Day": (
        2_000,
        "CAST(id AS INT) AS day, CAST(id DIV 30 AS INT) AS month, CAST(id DIV 400 AS INT) AS year",
    ),
    "Shop": (
        1_000,
        "CAST(id AS INT) AS shop, concat('city ', id % 300) AS city, concat('c', id % 20) AS country",
    ),
    "Item": (
        50_000,
        "CAST(id AS INT) AS item, concat('brand ', id % 900) AS brand, concat('k', id % 25) AS kind",
    ),
    "Buyer": (
        500_000,
        "CAST(id AS INT) AS buyer, concat('s', id % 8) AS segment, concat('name ', id) AS name",
    ),
    "Offer": (50, "CAST(id AS INT) AS offer, IF(id % 3 = 0, 'web', 'shop') AS channel"),
}


def star_tables(spark: Any, folder: Path, rows: int) -> dict[str, Any]:
    """The tables of the star, written if they are not there."""
    keys = ", ".join(
        f"CAST(pmod(hash(id, {k}), {size}) AS INT) AS {name.lower()}"
        for k, (name, (size, _)) in enumerate(STAR.items())
    )
    made = {
        "Sale": (rows, f"id, {keys}, 1 + id % 9 AS pieces, 100 + pmod(id * 48271, 9000) AS price"),
        **STAR,
    }
    tables = {}
    for name, (count, columns) in made.items():
        place = folder / f"{name}_{count}"
        if not (place / "_SUCCESS").exists():
            spark.range(count).selectExpr(*_split(columns)).write.mode("overwrite").parquet(str(place))
        tables[name] = spark.read.parquet(str(place))
    return tables


def _split(columns: str) -> list[str]:
    """The items of a SELECT: those commas divide that stand in no brackets."""
    items, depth = [""], 0
    for letter in columns:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            items.append("")
        else:
            items[-1] += letter
    return items


def tpch_tables(spark: Any, folder: Path, scale: str) -> dict[str, Any]:
    """The tables of TPC-H, made if they are not there."""
    place = folder / f"tpch_{scale}"
    if not (place / "lineitem.parquet").exists():
        command = str(Path(sys.executable).parent / "tpchgen-cli")
        subprocess.run([command, "parquet", "-s", scale, f"--output-dir={place}"], check=True)
    return {name: spark.read.parquet(str(place / f"{name}.parquet")) for name in TPCH}


def in_numbers(frame: Any) -> Any:
    """A table of TPC-H with money as cents and dates as days."""
    columns = []
    for field in frame.schema.fields:
        kind, name = field.dataType.simpleString(), field.name
        if kind.startswith("decimal"):
            columns.append(f"CAST({name} * 100 AS BIGINT) AS {name}")
        elif kind == "date":
            columns.append(f"unix_date({name}) AS {name}")
        else:
            columns.append(name)
    return frame.selectExpr(*columns)


def measured(processes: tuple[int, ...], run: Callable[[], Any]) -> tuple[list[Any], float, float]:
    """The sorted rows of an answer, its seconds, and its processor seconds."""
    used, started = sum(map(processor_seconds, processes)), time.perf_counter()
    rows = run()
    seconds = time.perf_counter() - started
    spent = sum(map(processor_seconds, processes)) - used
    return sorted(map(tuple, rows)), seconds, spent


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether two answers are the same, means as far as decimals have digits."""
    return len(ours) == len(theirs) and all(
        a == b or (isinstance(a, float) and abs(a - b) <= 1e-4)
        for one, other in zip(ours, theirs, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def ours_of(
    spark: Any, program: Any, frames: dict[str, Any], output: str, as_session: bool
) -> Callable[[], Any]:
    """Answers a case by the program."""

    def run() -> Any:
        return program.run(spark, frames, outputs=[output])[output].collect()

    def first() -> Any:
        with closing(program.session(spark=spark, relations=[output])) as opened:
            opened.load_frames(frames)
            return opened[output].to_spark().collect()

    return first if as_session else run


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--scale", default="1")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--session", action="store_true")
    arguments = parser.parse_args()
    import ddlog

    cases = arguments.cases or list(BY_HAND)
    spark = session("4g", **{"spark.sql.shuffle.partitions": "8"})
    processes = (os.getpid(), java_process())
    body, wrong = [], list[str]()
    for kind, program in (("Q", "tpch"), ("star5", "star5")):
        chosen = [case for case in cases if case.startswith(kind)]
        if not chosen:
            continue
        if kind == "Q":
            tables = tpch_tables(spark, arguments.folder, arguments.scale)
            frames = {name.capitalize(): in_numbers(frame) for name, frame in tables.items()}
        else:
            tables = frames = star_tables(spark, arguments.folder, arguments.rows)
        for name, frame in tables.items():
            frame.createOrReplaceTempView(name)
        compiled = ddlog.compile(PROGRAMS / f"{program}.dl")
        for case in chosen:
            read = {
                name: frame
                for name, frame in frames.items()
                if re.search(rf"\b{name}\b", BY_HAND[case], re.I)
            }
            given = read if arguments.session else frames  # a session checks all that it is given
            ours = ours_of(spark, compiled, given, OUTPUTS.get(case, case), arguments.session)
            best: dict[str, tuple[float, float]] = {}
            answers: dict[str, list[Any]] = {}
            for _ in range(arguments.runs):
                for side, run in (("sql", spark.sql(BY_HAND[case]).collect), ("ours", ours)):
                    answers[side], *times = measured(processes, run)
                    seconds, spent = times
                    best[side] = min(best.get(side, (seconds, spent)), (seconds, spent))
            if arguments.plans:
                spark.sql(BY_HAND[case]).explain()
                compiled.run(spark, frames, outputs=[OUTPUTS.get(case, case)])[
                    OUTPUTS.get(case, case)
                ].explain()
            if not same(answers["ours"], answers["sql"]):
                wrong.append(f"{case}: ours {answers['ours'][:3]}, SQL {answers['sql'][:3]}")
            times = [f"{value:.2f}" for pair in zip(best["sql"], best["ours"], strict=True) for value in pair]
            ratio, work = (best["ours"][k] / best["sql"][k] for k in (0, 1))
            verdict = "" if ratio <= LIMIT else "slower"
            body.append((case, f"{len(answers['ours']):,}", *times, f"{ratio:.2f}", f"{work:.2f}", verdict))
            print(*body[-1], file=sys.stderr, flush=True)
    head = (
        "case",
        "rows",
        "SQL s",
        "ours s",
        "SQL processor s",
        "ours processor s",
        "ratio",
        "of processor",
        "",
    )
    print(table("Rules beside SQL", head, body))
    spark.stop()
    if wrong:
        sys.exit("the answers differ:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
