"""The tests: a folder for each room, and the tests of incremental correctness.

The definition of *incremental* is the test: after every epoch, the change of each output is the difference
between the circuit evaluated from scratch on the inputs after the epoch and on those before. "From scratch"
means `engine/reference.py`: dictionaries and naive iteration. It is never optimised.

- `tests/circuits/test_laws.py`: the algebra of streams and Z-sets, proposition by proposition.
- `tests/engine/test_incremental.py`: the incremental version has the same changes, on the reference
  evaluation.
- `tests/engine/test_oracle.py`: the runtime against the definition, on random circuits with recursion and
  negation and random streams that delete and insert again; also static runs, epochs that fail, and
  interrupts.
- The random circuits also have recursions with groups and negations inside. Where one does not settle, both
  evaluations end with the same error, and the epoch leaves no trace.
- `tests/circuits/`: random circuits built in Python, with delays, cycles, nested time and negative weights:
  the runtime against the reference evaluation, and Q^Δ against D ∘ Q ∘ I.
- `tests/engine/test_ranks.py`: *distinct* in a recursion against its statements in plain Python.
- `tests/engine/test_paths.py`: values and ranks of recursions over paths against rounds in plain Python.
- `tests/engine/test_time.py`: timelines in columns against the law of product time.
- `tests/programs/test_random_programs.py`: the same from random program texts, so checking, lowering and
  code generation are tested too.
- `tests/programs/test_naive.py`: random programs whose pieces carry their meaning in Python, which shares
  nothing with the interpreter: values of all forms, keys, multisets, streams, delays, loops, groups,
  queries on demand.
- `tests/programs/test_faulty_bodies.py`: random bodies whose steps fault on many rows, which the rest of
  the body may exclude; `tests/spark/test_faulty_bodies.py` the same by Spark's queries.
- `tests/programs/test_taken_back.py`: random programs whose rules may fault, where epochs are taken back
  between others: trials, faults, interrupts, refused writes, ends of memory; what is left is compared with
  the definition. With
  `DDLOG_TEST_TAKEN=N` in the environment, such epochs come before those of every test, and thresholds are
  low.
- `tests/programs/test_programs.py`: the programs of `programs/`; after random changes of their facts against
  sessions that begin with the rows which are left, and the large ones that a command file runs from scratch.
- `tests/programs/test_corpus.py`: small programs in files, on both evaluations, with their changes cut into
  commits in several ways.
- `tests/engine/test_shards.py`, `tests/programs/test_in_shards.py`: one, two, three and seven workers against
  one process, with messages that come in any order, and workers that end at any moment; again with processes
  that are killed: `tests/engine/test_remote.py`, `tests/spark/test_workers.py`.
- `tests/spark/test_parity.py`: sessions on Spark, in the driver and in workers, against the in-process
  runtime, change by change, on every program of `programs/` and on random programs; again on a Connect
  server (`tests/spark/test_connect.py`).
- `tests/spark/test_cluster.py`: a standalone cluster of two workers whose executors are killed in commits.
- `tests/explaining/`: each node of proof trees of random programs is an instance of its rule, by the
  reference evaluation, and each height is the least; of absent rows, what is said to hold or to fail does,
  and sets of facts make the row hold; of changes, what came or went did. The same in the rounds of loops.
  Sessions of other forms, on demand or after a restart, give the answers of a plain one.
- `tests/codegen/test_codegen.py`: expressions, as row functions and as array operations, against a model.
"""
