"""From how many rows, words or commits something pays, each with its unit.

Where a measurement is named, it supports the number; the others bound memory, or the time between two looks
at an interrupt. No answer depends on any of them: tests run with all so low that a few rows are many. The
costs of maintaining are in `maintaining`, and blocks that a compiled kernel takes at once beside the kernels.
"""

from __future__ import annotations

# ------------------------------------------------------------- of one batch

FEW_ROWS = 32
"""Rows that Python handles sooner than NumPy: 32 rows are consolidated in 3 µs, and by NumPy in 31 µs. Beyond
them only the order of rows gains, up to about 500."""

ROWS_ONE_BY_ONE, MATCHES_ONE_BY_ONE = 12, 128
"""Rows of a change that Python joins and stores one by one, and rows that their look-ups may give: a row
takes 2 to 10 µs, and the calls of NumPy for one operator 100 to 200 µs. A commit of 12 rows through five
joins takes 0.23 ms one by one and 0.32 by NumPy; a join that gives 65 rows for each is sooner by NumPy."""

ROWS_LATER = 4096
"""Rows that came one by one and that an index takes in together, or the stores that only readers ask for:
0.1 µs a row, where one alone takes 5. Until then they take 200 bytes each."""

KEPT_WALKS = 1 << 10
"""Sets of nodes that change together of which it is kept what they may change."""

GENERAL_RUNS = 8
"""Runs of a join from a few rows before its plan is written as a function, which takes as long as ten."""

ROUNDS_AT_ONCE = 1000
"""Rounds of a recursion from few rows that are run before its progress is told."""

FEW_PAIRS = 1024
"""Pairs of a key and a row that are compared sooner than an index of the rows is built: 1,024 take 4 µs."""

REPEATS = 64
"""Rows from which it pays to look for equal arguments of a Python function."""

KEPT_ANSWERS = 1 << 17
"""Arguments of a Python function of which the answers are kept from epoch to epoch: 40 bytes each, about."""

CHUNK = 1 << 20
"""Rows that are unpacked, loaded or run from at once: 8 MB a column."""

GHOSTS = 4096
"""Rows that are gone and not worth a compaction, beside twice as many as are left."""

# ----------------------------------------------------------- interned values

SWEPT_VALUES = 4096
"""New values of a domain that are not worth a sweep."""

SWEPT_CODES = 8
"""Codes that a sweep reads in the time in which a value is interned."""

# ------------------------------------------------------------ tables, indexes

LARGE_ARRAY = 1 << 22
"""Items from which an array moves piece by piece, each of so many: a copy of 32 MB takes 7 ms."""

SHARED_WORDS = 1 << 15
"""Rows that enter indexes which are worth waking threads for."""

LARGE_SLOTS = 1 << 20
"""Slots of a hash set beyond the processor's caches, which is spread where it lies."""

NARROW_ROWS, NARROW_BITS, NARROW_WORD, NARROW_DISTANCE = 1 << 18, 20, 42, 8
"""Rows from which the words of a table are made as short as they can be; bits of a place in a hash set, from
which slots have 32 bits, if words are so short that these tell them apart; bits of a word that are always few
enough; and the least bits of such a slot for the distance of a word from its home, which grows with the
logarithm of the rows: of 11 million it is at most 100 to 200 (with 0.66 of the slots in use)."""

LARGE_TABLE = 1 << 21
"""Rows of a table from which numbering its slots takes long: 0.05 s, and 0.013 s of half as many."""

LOCATED_ROWS, SCANNED_ROWS = 1 << 12, 16
"""Rows that may be looked for in such a table before; and those of them that may be there, which are found by
reading through the table."""

SOUGHT_TABLE, SOUGHT_KEYS, SOUGHT_ROWS = 1 << 20, 256, 1 << 14
"""Rows of a table in which a few keys are looked for by reading all rows before it gets an index of them;
such keys until it is made; and matches, at most. Of ten million rows an index takes 0.9 s, one key 2.4 ms,
and 16 keys at once 18."""

INDEX_CHUNK, INDEX_WAVE, INDEX_ROWS_PER_KEY = 1 << 19, 8, 4
"""Of a bulk index: rows whose keys are looked up at once; chunks whose keys are found before new keys are
inserted; and rows a key from which threads find keys."""

PACKED_IDS = 1 << 20
"""Ids in a slab of an index that is lengthened sooner than packed: 4 MB."""

IDS_LOOKED_AT = 1024
"""Ids of a key among which one is found sooner by looking at all than by a note of its place, of 8 bytes for
each id: 1,024 take 0.3 µs."""

# --------------------------------------------------------------------- joins

JOIN_CHUNK, JOIN_ASKING, JOIN_LEAST, JOIN_WHOLE = 1 << 15, 1 << 17, 1 << 10, 1 << 23
"""Rows that one pass of a plan starts from: at most, at most where other workers are asked, at least, and of
a projection, whose columns need not be copied."""

JOIN_WAVE, JOIN_ROOM, JOIN_UNSHARED = 8, 1 << 19, 3
"""Of a join that threads share: chunks that run before the results of the first are taken; rows, about, of a
chunk's results that wait; and times that a step may leave its thread until the join is not shared."""

JOIN_MOST = 1 << 21
"""Rows that one look-up may give before its left side is halved."""

ROWS_BY_MEANS, PROPOSED_BY_MEANS = 256, 1024
"""Rows that are looked up by mean fan-out, unless that proposes more than so many."""

GROUPS_ONE_BY_ONE = 3
"""Groups with sums that a change of a few rows changes one by one: a group takes 24 µs, and NumPy takes 75 µs
for six. Groups that only count take less."""

FOLLOWED_ROWS, FOLLOWED_MATCHES, FOLLOWED_WORK = 1 << 14, 16, 1 << 16
"""Rows of an iteration that a kernel follows through look-ups, at most; matches of each that it may give; and
rows looked up or found between two looks at an interrupt."""

FOLLOWED_ROUNDS = 64
"""Rounds after which one kernel follows several: it is loaded in the time of 200 in the general way."""

PROPOSED_SAMPLE, PROPOSED_PEEK, PROPOSED_AMISS = 2048, 1 << 16, 2
"""Rows of a join that are asked first; rows of a term that tell the counts of a missing index, about; and how
many times the rows that these let expect may come before all are asked."""

FUSED_MATCHES, FUSED_WORK = 1 << 10, 1 << 24
"""Matches from which a fused look-up pays, and those between two looks at an interrupt."""

SIEVED_SLOTS, SIEVED_LOSS = 1 << 19, 8
"""Slots of a hash set from which a sieve before it pays, and words sought of which at most one is there: 10
million words that a set of a million does not hold take 58 ns each without a sieve, and 34 with it."""

ORDERED_MATCHES, ORDERED_TABLE = 2, 1 << 18
"""Matches of a left row of a fused look-up, and rows of the table, from which it pays to sort left rows by
their places there: 10 million matches in a table of a million rows then take 22 ns each, and 56 without."""

FUSED_ROOM, FUSED_ROOM_NEW = 1 << 16, 1 << 15
"""Rows that one call of a fused look-up gives; fewer where they are new, so that their slots are still in a
cache when they are inserted."""

MERGED_ROWS, MERGED_SAMPLE, MERGING_GAIN, MERGING_FANOUT = 1 << 17, 1 << 13, 2.0, 2.0
"""Rows that may be worth summing up; those that are looked at first; the rows for each that is left, and the
fan-out of the next look-up, from which it pays."""

MERGED_AT_MOST, MERGED_LEFT, MERGED_PIECE = 1 << 28, 1 << 23, 1 << 20
"""Rows that are summed up together, that may be left of them, and that are made at once."""

MERGED_TIMED = 1 << 8
"""Rows with times that are summed up without a look at a sample."""

COPIED_ROWS, COPIED_CHANGE = 1 << 18, 64
"""Rows of a relation of all workers that each of them may copy for its look-ups; and of how many rows of a
copy another worker may change one in an epoch, so that the copy is kept."""

# -------------------------------------------------------------------- groups

SMALL_GROUP, FIRST_SPARE, GROUPS_READ_AGAIN, SORTED_COLUMNS = 64, 64, 4096, 1024
"""Rows of a group that is read anew each time; rows kept beyond the first ones of an order, and groups read
at once from which only those of so many times more rows are kept; rows of a change from which all groups are
read again; and rows from which columns of numbers are sorted, and not they."""

ROWS_MOVED, ORDER_BLOCK, ORDER_FIRST = 8, 512, 32
"""Rows of an order for each that changes, from which the order is kept up and not made anew; rows of a block
of it; and rows that are computed before it is seen whether those behind them stay."""

KEPT_SUMS = 20_000
"""Exact sums of doubles that are derived sooner than read from a file."""

# ---------------------------------------------------------------- recursions

DENSE_ROWS, DENSE_PAIRS, DENSE_WORK = 1 << 16, 32, 1 << 28
"""Of recursions that may be evaluated over bits: the rows from which that is considered; the pairs of values
for each row up to which it is done (they take a bit, and a byte for a birth, and a row of a table 30 bytes);
and words that are ored between two looks at an interrupt."""

DENSE_SAMPLE = 1 << 13
"""Rows that tell how many values a column has, about."""

LARGE_RANK, ALIKE = 1 << 29, 2
"""A rank that is large, as ranks have 32 bits; and times the rows by which old and new contents may differ
for the old table to stay."""

GATE_BATCHES = 8
"""Batches of one time of a gate that are not made one."""

LOOP_EVENTS = 32
"""Events of a loop's epoch after which it is asked whether maintaining still pays."""

LOOP_DEARER = 4.0
"""Times that a row of a loop is dearer to maintain than to evaluate, where nothing was measured."""

LOOP_ROW = 3e-7
"""Seconds that a row of a recording takes to become one of timelines."""

FRESH_SHARE, FRESH_ROWS = 0.75, 5000
"""Of the changes that a round of a loop reads, the part that whole relations may be to begin from nothing;
and the rows that this must save, whose time new tables take."""

RECORDED_ROWS = 1 << 26
"""Rows of a recording of a loop, at most: 512 MB a column."""

PATH_STEPS, PATH_STEPS_PER_ROW = 1 << 20, 4
"""Steps of a recursion over paths that are not too many, and those for each row of its imports beside."""

PATHS_TOLD, PATHS_TOLD_AT_ONCE = 64, 4096
"""The part of the waiting best values that a worker tells others in a round, one in so many, the least ones;
and the number of waiting values up to which it tells all. A better value seldom replaces one of the least."""

UNVOTED = 0.01
"""The share of the rows of its imports that may change while workers maintain a monotone recursion
without a vote."""

# -------------------------------------------------------------------- epochs

TIMED_CHANGES = 1000
"""Changes of inputs of an epoch beside which a clock takes nothing."""

UNDONE_ROWS = 1_000_000
"""Changes of inputs that are kept so that the last epoch can be undone on trial."""

READ_AHEAD = 200_000
"""Rows of a kept state that are worth reading ahead in a pause."""

# -------------------------------------------------------------------- memory

GIVEN_BACK_ROWS = 1 << 18
"""New rows of a round of a recursion, after which freed memory goes back to the system, in 3 ms. The system
clears what the next rounds take again: in galen that is 0.7 s of 22, for 70 MiB less."""

SPILLED_PIECE = 1 << 22
"""Bytes of an array that go to disk together, and of the smallest array that does: a process has at most
65,530 mapped pieces, 256 GB. A load took as long with pieces of 1 and of 16 MiB."""

RELIEVED = 0.75
"""The part of a limit of memory from which arrays go to disk. A load of 6 million rows within 0.45 GB writes
3.4 GB from 0.5 on, 3.0 GB from 0.75 on and 2.6 GB from 0.9 on; above it is room for what cannot go."""
