"""Spark sessions: DataFrames in and out, and queries for what is evaluated once.

**With updates.** The state is in the in-process engine (`engine/spark/runtime.py`): in this process, or in
workers that run on the executors (`engine/shards/`, opened by `engine/spark/workers.py`). Rows cross over as
Arrow tables (`engine/spark/batches.py`, `engine/spark/arrowrows.py`); those of large DataFrames go from
executors to workers (`engine/spark/senders.py`). What the user should know of that is in
`engine/spark/advice.py`.

**Without updates.** A session that takes no changes has the runtime of `engine/spark/batch/`. `keys.py`
finds columns that tell the rows of a node apart, `needs.py` which columns of a node are read and whether a
row has to come as often as it is there, and `queries.py` writes one `WITH` for a relation, with `body.py`
for a rule and `groups.py` for a group. Rows stand as often as their weight says, so no query carries
weights. A recursion has a runtime of its own, that of sessions with updates (`recursions.py`).

**Expressions** are SQL where SQL means the same, and else Arrow UDFs around the function that the in-process
engine calls (`engine/spark/expressions.py`, `engine/spark/evaluation.py`).

**Faults.** A fault travels beside the row, in the column `e`. A row that reaches the end of its body with a
fault raises it, by a filter that is not deterministic, since Spark moves other filters below joins. So a row
that the rest of the body excludes does not fault, whatever Spark's order of evaluation is. The rows on which
a value faults by which a term is looked up have queries of their own (`engine/spark/failingrows.py`).
"""
