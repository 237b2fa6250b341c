"""Explanations: why a row holds, and why it does not, in terms of the rules as they are written.

Explanations (`ddlog/explaining/`) ask the same way. The body of a rule, with rows of its head as one more
term, is a query over the relations of the session (`stages.py`), and gives the derivations of these rows.
`heights.py` searches a proof of least height, level by level, or takes births where a recursion knows them,
as it does until an insertion may have made some of them too late. Rows that only rounds explain have proofs
by `byrounds.py`: `oneround.py` makes a round a program of its own, whose epochs are the rounds
(`ddlog/sessions/asking/replay.py`), and which can be taken back to any of them. `absence.py` satisfies the
body of a rule clause by clause, and `repairs.py` tries changes of facts by epochs that are rolled back
(`Runtime.attempt`); both go from place to place (`places.py`): the session, and the rounds of its loops.
`sqlterms.py` tells explanations of views in SQL: the places of the rules that a module of SQL becomes are in
its text, and say what each clause is there (`ddlog/errors/origins.py`). `changes.py` compares proofs in the
states after and before the last commit, which is undone on trial (`Runtime.before`), and in rounds of loops.
Only the last changes of inputs are kept for it (`inprocess/latest.py`, `spark/latest.py`). docs/explain.md is
the guide.
"""
