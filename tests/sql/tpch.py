"""TPC-H: its 22 queries are kept up under its refresh streams, and compared with DuckDB after each refresh.

`python -m tests.sql.tpch SCALE [ROUNDS]` runs them at a scale, prints times, and says which view differs.
"""

from __future__ import annotations

import argparse
import datetime
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

from .duck import bag, contents, program_of, relation

SUPPLIES = ", PRIMARY KEY (ps_partkey, ps_suppkey)"
MODULE = Path(__file__).with_name("tpch.sql")
TABLES = ("region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem")
TODAY, FIRST, LAST = datetime.date(1995, 6, 17), datetime.date(1992, 1, 1), datetime.date(1998, 8, 2)
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")


def statements() -> tuple[str, dict[str, str]]:
    """The tables as text, and the queries by name."""
    tables, *views = MODULE.read_text().split("CREATE VIEW ")
    named = (view.split(" AS\n", 1) for view in views)
    return tables, {name: query.strip().rstrip(";") for name, query in named}


def without_keys(tables: str) -> str:
    """The tables as bags."""
    return re.sub(r",\s+PRIMARY KEY \(.*?\)", "", tables).replace(" PRIMARY KEY,", " NOT NULL,")


def generate(scale: float, folder: Path) -> Path:
    """The data of a scale as Parquet files, made once, by `tpchgen-cli`."""
    home = folder / f"tpch-{scale}"
    if not (home / "lineitem.parquet").exists():
        home.mkdir(parents=True, exist_ok=True)
        tool = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
        command = [str(tool), "parquet", "-s", str(scale), "--output-dir", str(home)]
        subprocess.run(command, check=True, capture_output=True)
    return home


def table(home: Path, name: str) -> pa.Table:
    """A table's data."""
    found = parquet.read_table(home / f"{name}.parquet")
    fields = [
        pa.field(f.name, pa.string() if pa.types.is_string_view(f.type) else f.type) for f in found.schema
    ]
    return found.cast(pa.schema(fields))


@dataclass
class Refresh:
    """The refresh functions: RF1 inserts orders with unused keys, RF2 deletes orders, a thousandth of them
    each. Values are drawn as in clause 4.2.3 of the specification."""

    home: Path
    seed: int = 0
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.kept = {name: table(self.home, name) for name in ("orders", "lineitem")}
        self.count = max(1, self.kept["orders"].num_rows // 1000)
        part, supply = table(self.home, "part"), table(self.home, "partsupp")
        prices = part.column("p_retailprice").to_pylist()
        self.prices = dict(zip(part.column("p_partkey").to_pylist(), prices, strict=True))
        self.supplies = list(
            zip(supply.column("ps_partkey").to_pylist(), supply.column("ps_suppkey").to_pylist(), strict=True)
        )
        self.customers = [k for k in table(self.home, "customer").column("c_custkey").to_pylist() if k % 3]
        self.free = 8  # of each 32 keys the first 8 are used
        self.present = self.kept["orders"].column("o_orderkey").to_pylist()

    def inserted(self) -> dict[str, pa.Table]:
        """RF1: new orders and their lines."""
        orders, lines = [], []
        for _ in range(self.count):
            key = self.free // 24 * 32 + 8 + self.free % 24
            self.free += 1
            order, its = self._order(key)
            orders.append(order)
            lines += its
        return {"orders": self._table("orders", orders), "lineitem": self._table("lineitem", lines)}

    def deleted(self) -> dict[str, pa.Table]:
        """RF2: orders that go, and their lines."""
        import pyarrow.compute as pc

        gone = self.random.sample(self.present, self.count)
        chosen = set(gone)
        self.present = [key for key in self.present if key not in chosen]
        keys = pa.array(gone, pa.int64())
        columns = {"orders": "o_orderkey", "lineitem": "l_orderkey"}
        return {
            name: held.filter(pc.is_in(held.column(columns[name]).cast(pa.int64()), keys))
            for name, held in self.kept.items()
        }

    def _table(self, name: str, rows: Sequence[dict[str, Any]]) -> pa.Table:
        return pa.Table.from_pylist(list(rows), schema=self.kept[name].schema)

    def _order(self, key: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        r = self.random
        date = FIRST + datetime.timedelta(days=r.randint(0, (LAST - FIRST).days))
        lines = [self._line(key, number, date) for number in range(1, r.randint(1, 7) + 1)]
        states = {line["l_linestatus"] for line in lines}
        total = sum(
            (x["l_extendedprice"] * (1 + x["l_tax"]) * (1 - x["l_discount"]) for x in lines), Decimal(0)
        )
        order = {
            "o_orderkey": key,
            "o_custkey": r.choice(self.customers),
            "o_orderstatus": "P" if len(states) > 1 else states.pop(),
            "o_totalprice": total.quantize(Decimal("0.01")),
            "o_orderdate": date,
            "o_orderpriority": r.choice(PRIORITIES),
            "o_clerk": f"Clerk#{r.randint(1, 1000):09}",
            "o_shippriority": 0,
            "o_comment": r.choice(("carefully final deposits", "special handled requests", "quick ideas")),
        }
        return order, lines

    def _line(self, key: int, number: int, ordered: datetime.date) -> dict[str, Any]:
        r = self.random
        part, supplier = r.choice(self.supplies)
        quantity = r.randint(1, 50)
        ship = ordered + datetime.timedelta(days=r.randint(1, 121))
        receipt = ship + datetime.timedelta(days=r.randint(1, 30))
        return {
            "l_orderkey": key,
            "l_partkey": part,
            "l_suppkey": supplier,
            "l_linenumber": number,
            "l_quantity": Decimal(quantity),
            "l_extendedprice": quantity * self.prices[part],
            "l_discount": Decimal(r.randint(0, 10)).scaleb(-2),
            "l_tax": Decimal(r.randint(0, 8)).scaleb(-2),
            "l_returnflag": r.choice("RA") if receipt <= TODAY else "N",
            "l_linestatus": "O" if ship > TODAY else "F",
            "l_shipdate": ship,
            "l_commitdate": ordered + datetime.timedelta(days=r.randint(30, 90)),
            "l_receiptdate": receipt,
            "l_shipinstruct": r.choice(INSTRUCTIONS),
            "l_shipmode": r.choice(MODES),
            "l_comment": "quick ideas",
        }


@dataclass(frozen=True)
class Spent:
    """Time that passed, and that of processors, in seconds."""

    wall: float
    processor: float

    @staticmethod
    def now() -> Spent:
        """The time by both clocks."""
        return Spent(time.perf_counter(), time.process_time())

    def since(self) -> Spent:
        """What was spent since."""
        now = Spent.now()
        return Spent(now.wall - self.wall, now.processor - self.processor)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.processor + other.processor)

    def __str__(self) -> str:
        return f"{self.wall:.3f} s ({self.processor:.3f} s of processors)"


@dataclass
class Step:
    """One refresh: the seconds that it took here, and those of all queries in DuckDB, in wall time and of
    processors; the views that differ."""

    name: str
    here: Spent
    there: Spent
    differ: list[str]


class Maintained:
    """The queries, in a session and in DuckDB."""

    def __init__(self, home: Path, names: Sequence[str] = (), threads: int = 2, **options: Any) -> None:
        tables, queries = statements()
        pairs = table(home, "partsupp").select(["ps_partkey", "ps_suppkey"])
        if pairs.num_rows != pairs.group_by(pairs.column_names).aggregate([]).num_rows:
            tables = tables.replace(SUPPLIES, "")  # below a scale of 0.01 some pairs are there twice
        self.queries = {name: query for name, query in queries.items() if not names or name in names}
        self.duck = duckdb.connect()
        self.duck.execute(f"SET threads = {threads}")
        self.duck.execute(without_keys(tables))
        views = (f"CREATE VIEW {name} AS {query};" for name, query in self.queries.items())
        self.session = program_of("\n".join([tables, *views])).session(relations="outputs", **options)
        for name in TABLES:
            self.duck.execute(f"INSERT INTO {name} SELECT * FROM read_parquet('{home / name}.parquet')")
        start = Spent.now()
        for name in TABLES:
            self.session.insert_table(relation(name), table(home, name))
        self.session.commit()
        self.loading = start.since()

    def compared(self) -> tuple[Spent, list[str]]:
        """The time that all queries take in DuckDB, and the views that differ."""
        spent, differ = Spent(0, 0), []
        for name, query in self.queries.items():
            start = Spent.now()
            rows = self.duck.execute(query).fetchall()
            spent += start.since()
            if bag(rows) != contents(self.session, relation(name)):
                differ.append(name)
        return spent, differ

    def refresh(self, changes: dict[str, pa.Table], *, inserted: bool) -> Step:
        """One refresh, in both."""
        start = Spent.now()
        for name, rows in changes.items():
            change = self.session.insert_table if inserted else self.session.delete_table
            change(relation(name), rows)
        self.session.commit()
        here = start.since()
        for name, rows in changes.items():
            self.duck.register("refreshed", rows)
            if inserted:
                self.duck.execute(f"INSERT INTO {name} SELECT * FROM refreshed")
            else:
                key = rows.column_names[0]
                self.duck.execute(f"DELETE FROM {name} WHERE {key} IN (SELECT {key} FROM refreshed)")
            self.duck.unregister("refreshed")
        there, differ = self.compared()
        return Step("RF1" if inserted else "RF2", here, there, differ)

    def rounds(self, refresh: Refresh, count: int) -> Iterator[Step]:
        """Pairs of refreshes."""
        for _ in range(count):
            yield self.refresh(refresh.inserted(), inserted=True)
            yield self.refresh(refresh.deleted(), inserted=False)


def main() -> int:
    """Runs the queries at a scale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scale", type=float)
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    parser.add_argument("--only", default="", help="names of queries, separated by commas")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "ddlog-bench")
    arguments = parser.parse_args()
    home = generate(arguments.scale, arguments.cache)
    names = [name for name in arguments.only.split(",") if name]
    maintained = Maintained(home, names)
    there, differ = maintained.compared()
    print(f"load: {maintained.loading} here; all queries {there} in DuckDB; differ: {differ}", flush=True)
    failed = bool(differ)
    for step in maintained.rounds(Refresh(home), arguments.rounds):
        here, there = step.here, step.there
        times = f"{there.wall / here.wall:.1f} ({there.processor / here.processor:.1f}) times"
        print(f"{step.name}: {here} here, {there} in DuckDB, {times}; {step.differ}", flush=True)
        failed |= bool(step.differ)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
