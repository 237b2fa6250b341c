"""The examples of pydbsp, timed by an interpreter that has it: prints a JSON object of seconds and results.

    python3.12 tests/bench/pydbsp_examples.py bank 2000 100 20       transactions, accounts, a batch
    python3.12 tests/bench/pydbsp_examples.py rdfs 200 10            facts, classes

The pipeline of the README (credits, debits, balance, total) and the materialization of RDFS are put
together as pydbsp does it, of its fastest operators."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from ledger import rdf_facts, transfers
from pydbsp.circuit import Circuit
from pydbsp.compute import ComputeCtx
from pydbsp.core import Antichain, dbsp_time
from pydbsp.evaluate import Evaluator
from pydbsp.indexed_relational_operators import (
    DeltaLiftedDeltaLiftedGroupBy,
    IndexedDeltaLiftedDeltaLiftedJoin,
    LiftIndex,
    LiftLiftIndex,
)
from pydbsp.indexed_zset import IndexedZSetAddition
from pydbsp.operator import Input, Integrate, LiftStreamIntroduction
from pydbsp.rdfs import IndexedIncrementalRDFSBody
from pydbsp.storage import DictStorage
from pydbsp.zset import ZSet, ZSetAddition


def evaluator(group: Any) -> Any:
    """An evaluator over epochs and iterations."""
    return Evaluator(
        circuit=Circuit(), storage=DictStorage(), ctx=ComputeCtx(lattice=dbsp_time(2)), group=group
    )


def bank(count: int, accounts: int, batch: int) -> dict[str, Any]:
    """Balances by account, a batch of transactions at a time."""
    g_txn, g_kv = ZSetAddition(), ZSetAddition()
    g_idx = IndexedZSetAddition(g_kv, lambda kv: kv[0])
    e = evaluator(g_txn)
    source = Input(frontier=Antichain(dbsp_time(1))).connect(e.circuit, ())
    lifted = LiftStreamIntroduction(group=g_txn).connect(e.circuit, (source,))

    def summed(column: int) -> Any:
        by = IndexedZSetAddition(g_txn, lambda row: row[column])
        indexed = LiftLiftIndex(indexer=lambda row: row[column]).connect(e.circuit, (lifted,))
        group = DeltaLiftedDeltaLiftedGroupBy(
            aggregate=lambda items: sum(row[3] * weight for row, weight in items), group=by, out_group=g_kv
        )
        keyed = group.connect(e.circuit, (indexed,))
        return LiftIndex(indexer=lambda kv: kv[0]).connect(e.circuit, (keyed,))

    join = IndexedDeltaLiftedDeltaLiftedJoin(
        proj=lambda k, c, d: (k, c[1] - d[1]), group_a=g_idx, group_b=g_idx, out_group=g_kv
    )
    balance = Integrate(group=g_kv).connect(e.circuit, (join.connect(e.circuit, (summed(2), summed(1))),))
    rows = transfers(count, accounts)
    started, latest = time.process_time(), None
    for tick, at in enumerate(range(0, count, batch)):
        e.push(source, ZSet(dict.fromkeys(rows[at : at + batch], 1)))
        latest = e.read(balance, (tick, 0))
    seconds = time.process_time() - started
    return {"seconds": seconds, "result": sorted(map(list, latest.inner)) if latest is not None else []}


def rdfs(facts: int, classes: int) -> dict[str, Any]:
    """The materialization of an ontology, and then of facts in ten batches."""
    group = ZSetAddition()
    e = evaluator(group)
    abox = Input(frontier=Antichain(dbsp_time(1))).connect(e.circuit, ())
    tbox = Input(frontier=Antichain(dbsp_time(1))).connect(e.circuit, ())
    state = Input(frontier=Antichain(dbsp_time(2))).connect(e.circuit, ())
    body = IndexedIncrementalRDFSBody(tuple_group=group).connect(e.circuit, (abox, tbox, state))
    schema, rows = rdf_facts(facts, classes)
    started, total, depth = time.process_time(), 0, -1
    batch = max(1, facts // 10)
    for tick, at in enumerate(range(0, facts, batch)):
        e.push(abox, ZSet(dict.fromkeys(rows[at : at + batch], 1)))
        e.push(tbox, ZSet({} if tick else dict.fromkeys(schema, 1)))
        found = depth
        for k, diff in e.saturate_inner(body, tick, lambda d: not d.inner, min_inner=depth):
            e.push(state, diff, t=(tick, k))
            total += sum(diff.inner.values())
            found = max(found, k)
        depth = found
    return {"seconds": time.process_time() - started, "result": total}


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    print(json.dumps({"bank": bank, "rdfs": rdfs}[name](*map(int, numbers))))
