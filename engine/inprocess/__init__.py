"""The in-process runtime: columns of int64, NumPy and compiled kernels.

**Batches, not rows.** Every column is int64. Machine integers, booleans and enumerations are stored as
themselves, floats as their bits, and all other values as interned numbers
(`engine/inprocess/storage/interner.py`). Numbers of values that no present row has are given to others
after some commits, and in pauses (`engine/inprocess/storage/sweep.py`): whatever keeps numbers from
epoch to epoch has to mark them there. Narrow rows are packed into one word
(`engine/inprocess/storage/layout.py`), and large hash sets of them have slots of 32 bits where these tell
words apart (`engine/inprocess/kernels/hashing.py`). Large arrays and hash sets move to longer ones piece by
piece (`engine/inprocess/storage/arrays.py`), and freed memory stays with the process until an epoch ends
(`engine/inprocess/storage/allocator.py`). Near the limit of memory they go to disk where they lie
(`engine/spilling.py`). Loops over rows are kernels (`engine/inprocess/kernels/`),
interpreted until compiling them pays. An epoch that changes a few rows goes without batches from operator to
operator (`engine/inprocess/rowwalk.py`).

**Records are columns.** A struct of one constructor, or a tuple, lies in a column for each of its fields,
so a join through the pattern `Id{a, n}` is a join by columns. `ddlog/lowering/records.py` rewrites the
rules, over the layouts of `ddlog/values/layouts.py`, before they are lowered.
`ddlog/sessions/results/records.py` gives sessions records again. A record of more than eight fields stays
one value, and so does a union.

**Any pattern is a key.** What the steps of a join compute of one term's columns is a derived column of the
term (`engine/derivedcolumns.py`): `x` in `E(A{x, _}, n)`. The planner looks the term up by it where its value
is known. A table computes derived columns once a row (`engine/inprocess/storage/derivedcolumns.py`), and an
index has the rows that match the pattern. While a row present faults there, the index cannot be used, as it
would hide the fault. The lowering makes two definitions of one variable of an equation between terms
(`ddlog/lowering/equations.py`). **An epoch can run out of memory.** `engine/memory.py` states the measure of
`--memory-limit` and where it is taken. Any allocation inside an epoch may fail, also where the machine has no
more: whatever changes state notes how to take the change back before it allocates, or drops what is only half
changed and can be built again. `tests/engine/test_memory.py` lets memory end at each allocation.

**Threads read, one thread writes.** The thread that commits cuts a large change into chunks, and several
threads (`-w N`) join some chunks with the state while nothing changes it
(`engine/inprocess/storage/threadpool.py`). Then the thread that commits takes the results, in the order of
the chunks. Chunks do not depend on the number of threads, so rows, their order and faults do not either.
Python functions run only in the thread that commits: a chunk that needs one is run again there. What a
reader builds when it is first asked for, such as an index, it builds under a lock.

**State is an integral, stored once.** A relation that is read has one store, with an index for each set of
columns that a look-up binds (`engine/inprocess/arrangements/store.py`,
`engine/inprocess/arrangements/index.py`). The version of a term that a delta join must see, with or without
the change of this epoch, is a view (`engine/inprocess/arrangements/views.py`) and not a copy. Valuations of
rule bodies are not stored. A join grows its valuations stage by stage (`engine/planner.py`). At a stage,
whatever only removes rows runs first. Then each term that can come next is asked how many rows it would
give these rows (`engine/inprocess/joins/proposals.py`). The cheapest proposes for all rows, or each row is
extended by the term that proposes least for it, and the others validate; where they hold few of the rows,
bits tell of most that they are not there (`engine/inprocess/joins/sieves.py`). Up to 256 rows are looked up
by mean fan-out, unless that gives over 1,024. The first chunk of a run decides which indexes are asked, so
threads do not change the order of rows. Equal valuations are summed up where that pays
(`engine/inprocess/joins/projection.py`).

**Faults.** A step that faults on a row is put off to the end of the body, since the rest may exclude the
row. If it faults there too, the other steps that were put off are tried on these rows: a row that they
exclude is no valuation (`engine/inprocess/joins/exclusion.py`). If a row is left, and rows have gone in the
epoch, the valuation may be one that delta joins derive and take back. Then the join is evaluated with all
that its terms hold after the epoch, which tells whether the fault counts, and with what they held before,
and the change is the difference (`engine/inprocess/joins/transientfaults.py`).

**Fewer distincts.** A collection that is provably a set is not made distinct again
(`engine/passes/distinct.py`). Joins that begin alike are computed once (`engine/passes/prefixes.py`), and
groups that are joined by their key are one group (`engine/passes/groups.py`).
"""
