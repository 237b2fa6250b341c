"""Updates from files: many transactions of one row, and one transaction of many rows, as whole processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import Failed, Measured, ddlog_command, median, run_process

PROGRAM = Path(__file__).parent / "programs" / "orders.dl"
CITIES = 50
CUSTOMERS = 1000
Row = tuple[str, str]


def orders(count: int) -> list[Row]:
    """Rows of Order."""
    return [(f"order {k}", f"customer {k * 7919 % CUSTOMERS}") for k in range(count)]


def customers() -> list[Row]:
    """Rows of Customer."""
    return [(f"customer {k}", f"city {k % CITIES}") for k in range(CUSTOMERS)]


def insertion(relation: str, row: Row) -> str:
    """An insertion of a command file."""
    return f'insert {relation}("{row[0]}", "{row[1]}")'


def single_commands(count: int) -> Iterator[str]:
    """Transactions of one row, as commands."""
    yield "start;\n" + ",\n".join(insertion("Customer", row) for row in customers()) + ";\ncommit;\n"
    for row in orders(count):
        yield f"start;\n{insertion('Order', row)};\ncommit;\n"


def single_lines(count: int) -> Iterator[str]:
    """The same as JSON lines."""
    for row in customers():
        yield json.dumps({"insert": {"Customer": row}}) + "\n"
    yield '{"commit": true}\n'
    for order, customer in orders(count):
        yield json.dumps({"insert": {"Order": {"id": order, "customer": customer}}}) + "\n"
        yield '{"commit": true}\n'


def one_transaction(count: int) -> Iterator[str]:
    """One transaction of many rows."""
    yield "start;\n"
    yield ",\n".join(insertion("Customer", row) for row in customers()) + ";\n"
    for row in orders(count):
        yield f"{insertion('Order', row)};\n"
    yield "commit;\n"


@dataclass(frozen=True)
class Updates:
    """An update file, the rows that change in each of its transactions, and how long it may take."""

    name: str
    file: str
    text: Callable[[int], Iterator[str]]
    full: int
    tiny: int
    limit: float


UPDATES = (
    Updates("20,000 commits, commands", "single.dat", single_commands, 20_000, 30, 5.0),
    Updates("20,000 commits, JSON lines", "single.jsonl", single_lines, 20_000, 30, 5.0),
    Updates("200,000 rows, one commit", "bulk.dat", one_transaction, 200_000, 300, 1.5),
)


@dataclass(frozen=True)
class Applied:
    """The figures of one update file."""

    name: str
    rows: int
    seconds: float
    mib: float
    limit: float


def applied(updates: Updates, cache: Path, scale: str, runs: int) -> Applied:
    """Times `ddlog run --updates` for an update file. Raises Failed unless every order is printed."""
    rows = updates.full if scale == "full" else updates.tiny
    path = cache / f"updates_{scale}_{updates.file}"
    path.write_text("".join(updates.text(rows)), encoding="utf-8")
    command = [*ddlog_command(), "run", str(PROGRAM), "--updates", str(path)]
    measured = median([run_process(command) for _ in range(runs)])
    check(updates, rows, measured)
    return Applied(updates.name, rows, measured.seconds, measured.mib, updates.limit)


def check(updates: Updates, rows: int, measured: Measured) -> None:
    """Raises Failed unless every order was delivered, and the last loads count them all."""
    loads: dict[str, int] = {}
    delivered = 0
    for line in measured.output.splitlines():
        if line.startswith("Delivery{"):
            delivered += 1
        elif line.startswith("Load{") and line.endswith("+1"):
            city, _, number = line.removesuffix("}: +1").partition(", .orders = ")
            loads[city] = int(number)
    if delivered != rows or sum(loads.values()) != rows:
        raise Failed(f"{updates.name}: {delivered} deliveries, loads of {sum(loads.values())}, not {rows}")


def updates_from_files(cache: Path, scale: str, runs: int) -> Sequence[Applied]:
    """The figures of all update files."""
    return [applied(each, cache, scale, runs) for each in UPDATES]
