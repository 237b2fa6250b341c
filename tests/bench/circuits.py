"""Circuits built in Python beside pydbsp, on its own examples.

    python tests/bench/circuits.py                             circuits, and DBSP over dicts
    DDLOG_BENCH_PYDBSP="python3.12" python tests/bench/circuits.py     pydbsp as well, by this interpreter

Each side is given the same rows in the same batches, and both results are compared. "DBSP over dicts" is the
reference evaluation of the same incremental circuit.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger import rdf_facts, transfers

from ddlog.circuits import Circuit, Stream

Row = tuple[Any, ...]
Epochs = list[Mapping[str, list[Row]]]
HERE = Path(__file__).parent


def bank() -> Circuit:
    """credits, debits and balance: the pipeline of pydbsp's README."""
    circuit = Circuit()
    rows = circuit.input("transactions", id=int, source=int, to=int, amount=int)
    credits = rows.group("to", credit="sum(amount)").rename(account="to")
    debits = rows.group("source", debit="sum(amount)").rename(account="source")
    circuit.output("result", credits.join(debits).map(account="account", balance="credit - debit"))
    return circuit


def rdfs() -> Circuit:
    """The six rules of RDFS over triples."""
    circuit = Circuit()
    triple = {"s": "signed<64>", "p": "signed<64>", "o": "signed<64>"}
    abox, tbox = circuit.input("abox", **triple), circuit.input("tbox", **triple)

    def rules(state: Stream) -> Stream:
        sub_class = state.filter("p == 0").project("s", "o")
        sub_property = state.filter("p == 1").project("s", "o")
        types = state.filter("p == 4").project("s", "o")
        facts = state.filter("p > 4")
        domain = state.filter("p == 2").map(p="s", c="o")
        range_ = state.filter("p == 3").map(p="s", c="o")
        return abox.union(
            tbox,
            sub_class.join(sub_class.map(o="s", z="o")).map(s="s", p="64'sd0", o="z"),
            sub_property.join(sub_property.map(o="s", z="o")).map(s="s", p="64'sd1", o="z"),
            facts.join(sub_property.map(p="s", q="o")).map(s="s", p="q", o="o"),
            types.join(sub_class.map(o="s", z="o")).map(s="s", p="64'sd4", o="z"),
            facts.join(domain).map(s="s", p="64'sd4", o="c"),
            facts.join(range_).map(s="o", p="64'sd4", o="c"),
        )

    circuit.output("result", circuit.fixpoint(rules, abox))
    return circuit


def bank_epochs(count: int, accounts: int, batch: int) -> Epochs:
    """Batches of transactions."""
    rows = transfers(count, accounts)
    return [{"transactions": rows[at : at + batch]} for at in range(0, count, batch)]


def rdfs_epochs(count: int, classes: int) -> Epochs:
    """Ten batches of facts, the ontology with the first."""
    schema, rows = rdf_facts(count, classes)
    batch = max(1, count // 10)
    return [{"abox": rows[at : at + batch], "tbox": [] if at else schema} for at in range(0, count, batch)]


@dataclass(frozen=True)
class Example:
    """An example, with the sizes that it runs at, and what is compared of its result."""

    circuit: Callable[[], Circuit]
    epochs: Callable[..., Epochs]
    sizes: tuple[tuple[int, ...], ...]
    summary: Callable[[Iterable[Row]], Any]


EXAMPLES = {
    "bank": Example(
        bank,
        bank_epochs,
        ((2000, 100, 200), (20000, 1000, 2000), (200000, 1000, 20000)),
        lambda rows: sorted(map(list, rows)),
    ),
    "rdfs": Example(
        rdfs, rdfs_epochs, ((200, 5), (1000, 10), (20000, 20)), lambda rows: sum(1 for _ in rows)
    ),
}


def on_session(example: Example, sizes: tuple[int, ...]) -> tuple[float, Any]:
    """Seconds of all steps on the in-process runtime, and the result."""
    epochs = example.epochs(*sizes)
    with example.circuit().incremental().session() as session:
        started = time.process_time()
        for epoch in epochs:
            session.step(epoch)
        seconds = time.process_time() - started
        return seconds, example.summary(session.contents("result"))


def on_dicts(example: Example, sizes: tuple[int, ...]) -> tuple[float, Any]:
    """The same by the reference evaluation."""
    epochs, total = example.epochs(*sizes), dict[Row, int]()
    started = time.process_time()
    for outputs in example.circuit().incremental().outputs(epochs):
        for row, weight in outputs["result"].items():
            total[row] = total.get(row, 0) + weight
    return time.process_time() - started, example.summary(row for row, weight in total.items() if weight)


def on_pydbsp(name: str, sizes: tuple[int, ...]) -> tuple[float, Any] | None:
    """The same by pydbsp, where an interpreter has it."""
    python = os.environ.get("DDLOG_BENCH_PYDBSP")
    if not python:
        return None
    command = [*shlex.split(python), str(HERE / "pydbsp_examples.py"), name, *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return found["seconds"], found["result"]


def main() -> None:
    """Prints a line for each example and size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(EXAMPLES))
    parser.add_argument("--sizes", type=int, default=2, help="how many sizes of each (2)")
    options = parser.parse_args()
    for name in options.names:
        example = EXAMPLES[name]
        on_session(example, example.sizes[0])  # the first run compiles
        for sizes in example.sizes[: options.sizes]:
            ours = on_session(example, sizes)
            others = {"pydbsp": on_pydbsp(name, sizes)}
            if sizes == example.sizes[0]:
                others["dicts"] = on_dicts(example, sizes)
            line = f"{name} {sizes}: {ours[0]:.3f} s, {sizes[0] / ours[0]:,.0f} rows/s"
            for other, found in others.items():
                if found is not None:
                    same = "same result" if found[1] == ours[1] else f"OTHER RESULT {str(found[1])[:80]}"
                    line += f"; {other} {found[0]:.3f} s, {found[0] / ours[0]:.0f} times, {same}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
