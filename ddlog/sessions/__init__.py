"""Sessions: a program, a runtime and its state, with transactions and queries.

A session adds transactions to a runtime. Its pending changes let only legal changes reach the circuit. The
command line, update files and the REPL give a session the same commands. A query is a rule without a head;
it becomes a circuit in the same way, over stored relations; over relations that are not stored it is a
program of its own beside the session (`ddlog/sessions/asking/questions.py`). The functions and types that
only the query needs go with it (`CheckedQuery`); a checked program is never changed. `ddlog/check/cache.py`
keeps checked programs in the user's cache directory. An index is a look-up in a stored relation: the
relation of its declaration, or a hidden relation that a rule fills with the rows that the pattern of the
index matches.

Streams and delayed relations (docs/time.md) need few parts of their own. A stream is a multiset. The
runtime empties its `Input` when an epoch begins, so the change is the new elements minus the old ones, and
its `Output` gives the contents. A delayed relation `R-n` has no rules, so it has no place in a cycle. It is
an `Input`, and `ddlog/sessions/transactions/delays.py` feeds it the changes of the `Output` of R of n
commits ago.
"""
