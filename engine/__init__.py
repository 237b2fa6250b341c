"""Circuits over Z-sets, their incremental versions, and runtimes. Nothing here knows the language.

Where to look:

- Z-sets, row expressions, nodes of circuits: zset.py, schema.py, circuit.py, operators/ (a family of
  operators a file)
- the definition of every operator, as naive code: reference.py
- a circuit becomes a circuit of changes: incremental.py
- circuits become smaller: passes/
- the stages of a join, and its order by means; derived columns as keys: planner.py; derivedcolumns.py
- the choice among the terms of a join by the counts of its rows: inprocess/joins/proposals.py
- join plans to be shown: by guesses, and those that ran: plans.py; inprocess/joinplans.py
- one epoch: begin, commit, roll back: epoch.py; its walk, and that of a few rows in process: schedule.py,
  inprocess/rowwalk.py
- the version of each term that a delta join sees: versions.py
- semi-naive iteration, iteration in nested time: fixpoint.py
- maintain or recompute: the costs, the choice, and giving up; in process: maintenance.py, account.py,
  clock.py; inprocess/recursion/monotoneepoch.py, inprocess/recursion/account.py, inprocess/maintenance.py
- what does not settle: divergence.py
- what a *distinct* or a group emits at a time: time.py; in columns inprocess/arrangements/timeline.py,
  inprocess/recursion/missing.py
- recursions that carry the best value of each key along paths: paths.py; inprocess/recursion/paths.py,
  inprocess/pathsteps.py
- *distinct* in a recursion, in nested time: ranks.py; outside of one operators/distinct.py
- z⁻¹, D, I, and cycles through a delay: operators/linear.py, operators/feedback.py;
  inprocess/clockoperators.py
- brackets in nested time, δ₀ to ∫: operators/bracket.py, inprocess/runningbracket.py
- Z-sets with negative weights as state: inprocess/arrangements/signedstore.py, and signed_nodes in
  integrals.py
- windows, their clocks and late rows; relations that forget what no window holds: operators/window.py,
  inprocess/arrangements/windows.py, inprocess/arrangements/timeindex.py; windowonly.py
- what windows hold that does not follow from the inputs, for those that keep it: windowmemory.py,
  inprocess/durablecontents.py
- `group_by`: operators/group.py, inprocess/groups/group.py, inprocess/groups/accumulators.py,
  inprocess/groups/extremes.py
- functions of whole groups, or of their first rows in an order: inprocess/groups/wholegroups.py
- loops, and recursions with groups or negations: product time and its law; a loop as one list of operators;
  its meaning: time.py, loopparts.py, naiveloop.py, operators/loop.py
- loops in process: the events of an epoch; rounds that begin from nothing; the choice; what does not settle:
  inprocess/recursion/loopepoch.py, inprocess/recursion/freshrounds.py, inprocess/runningloop.py,
  inprocess/recursion/loopdivergence.py
- what loops remember: product time; contents and a recording while they are evaluated:
  inprocess/recursion/looptimelines.py, inprocess/recursion/loopsums.py,
  inprocess/recursion/loopgates.py; inprocess/recursion/loopcontents.py,
  inprocess/recursion/looprecording.py
- recursion in a runtime, and in shards: inprocess/recursion/recursion.py, shards/recursion.py; by a few rows:
  inprocess/recursion/growthbyrows.py
- recursions whose rules are products of relations, over bits: inprocess/recursion/products.py,
  inprocess/recursion/densesets.py, inprocess/recursion/denseset.py, inprocess/storage/bits.py
- faults of valuations that come and go in one epoch: inprocess/joins/transientfaults.py; faults in queries of
  Spark: spark/failingrows.py and spark/joins.py
- rows to their owners: operators/linear.py, shards/placement.py; look-ups in shards: shards/views.py
- workers that end, and rows that others take from workers: shards/spool.py, shards/transfers.py
- the runtimes: memory, batches, look-ups in one process; the same in several workers; DataFrames and
  queries: inprocess/, shards/, spark/
"""
