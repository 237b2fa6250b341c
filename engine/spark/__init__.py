"""The Spark runtime: the operators of a circuit as SQL over typed DataFrames.

The Spark runtime walks the same circuit by the same schedule. Each operator is SQL text over temp views, so
one call analyses a whole operator, on a classic session and through Connect alike.

**Placement.** The circuit has two states, one of the in-process runtime on the driver and one of tables,
and each operator runs on one side (`engine/spark/placedepoch.py`). `engine/spark/placement.py` says where,
by the sizes that `engine/spark/sides.py` measures. A change crosses over when the first operator on the
other side reads it (`engine/spark/moving.py`), and an integral may be on both sides. Between epochs the
state of an operator moves, and comes from the integrals where nobody kept it
(`engine/spark/relocating.py`). What follows is about the cluster.

**Without updates.** A session that takes no changes has the runtime of `engine/spark/batch/`. `keys.py`
finds columns that tell the rows of a node apart, `needs.py` which columns of a node are read and whether a
row has to come as often as it is there, and `queries.py` writes one `WITH` for a relation, with `body.py`
for a rule and `groups.py` for a group. Rows stand as often as their weight says, so no query carries
weights. Recursions are those of other sessions (`recursions.py`). A fault is raised by a filter that is not
deterministic, since Spark moves other filters below joins.

**Changes.** A change (`engine/spark/change.py`) is a query until it is needed twice, or counted. Then one
job turns it into a table and counts it: on the driver as Arrow if it is small, and otherwise a local
checkpoint on the executors' disks, cached in their memory as columns. A checkpoint alone would hold rows in
memory, ten times the space, and Spark would not know its size. A cache alone would keep its history.

**State.** State is a spine of such tables (`engine/spark/spine.py`). Large tables are partitioned by the
row, so unions of them are partitioned too, and a change finds its rows without moving them. A join by a
derived column is one by its SQL; an expression that only Python computes is no key. In a join the small
side is sent to every task. Otherwise both sides are partitioned by the key, and copies of large tables by
that key are kept. Tables are merged in `prepare`, before the commit: after it, nothing can fail.
`engine/spark/merging.py` has the rule: sizes fall geometrically, and a commit makes one large merge.

**Small changes.** The driver makes a small change of an input, a distinct or a group
(`engine/spark/lookups.py`, `engine/spark/drivergroups.py`, `engine/spark/membergroups.py`), of the rows that
a `Fetch` brings: a query without a shuffle. Nodes are visited in waves, and all fetches of a wave are one job
(`engine/spark/batched_fetch.py`). Inputs are guessed, so that what reads them need not wait for the next wave
(`engine/spark/guesses.py`). Large tables lie sorted, and conditions on their leading columns leave out parts
of them (`engine/spark/pruning.py`). For joins by other columns, a spine keeps copies of its large tables in
the order of these.

**Windows.** A window is a spine of its rows with their times. The driver knows the clock and, of each
table, the least and the greatest time. The rows that leave are looked for in the tables that have older
ones, and a table whose times are all too old is dropped as a whole (`engine/spark/windows.py`).

**Recursions.** A recursion begins on the driver, on the in-process runtime
(`engine/spark/driverrecursion.py`), because an iteration there costs no job. Recursions by rounds, loops
and brackets stay there. A recursion that has, or reaches, more than `driver_rows` rows is taken over by the
cluster (`engine/spark/recursion.py`), from all that its imports hold. On the cluster it is semi-naive at
first. The first later epoch that is maintained counts derivations from the births, and such epochs are
incremental from then on. An epoch is evaluated anew where that is expected to be cheaper by the seconds
that earlier epochs took: the state is then made once more, from all that the imports hold, and compared
with the old. Rules inside a recursion are monotone, so at every iteration the weight of a row is at least
0. Hence an epoch changes a row only at its old birth and at its new one: two aggregations over its history,
without a loop over iterations. While an epoch derives few rows, the driver follows their births: the job
that derives rows also brings their history, and an iteration costs one job.

**Groups.** Counts, sums and means have accumulators, and the least and greatest value of a key are those of
its row of before, unless they go (`engine/spark/accumulating.py`). A group of few keys is then one of the
in-process engine, which asks the cluster for the extremes that it does not know. If the members of another
group are a distinct, the group reads from the counts of their derivations which members are present. If
only such groups read a distinct, it passes the counts on, so an epoch looks through the state once for
both.

**Faults.** A fault travels beside the row, in the column `e`. A row that reaches the end of its body with a
fault and a weight raises it. So a row that the rest of the body excludes faults on neither runtime,
whatever Spark's order of evaluation is. The value by which a term is looked up is computed before the term
is seen. An epoch takes its fault for one that counts, which costs nothing. If the epoch comes to such a
fault, it is taken back and repeated, and then the rows on which the value faults have queries of their own,
by the rest of the body (`engine/spark/failing.py`). Without updates, there is no epoch to repeat, and they
always have.

**Inspects.** The executors compute the valuations of a body with an `Inspect`, and the driver evaluates it
(`engine/spark/inspecting.py`).
"""
