"""Recursions in process: growing sets, ranks, loops, paths.

A recursion runs in two directions of time: epochs t, one for each commit, and iterations i within an epoch.
A row of a recursive relation has a weight of derivations at each iteration. Its *birth* is the first
iteration at which these weights sum up to more than 0. From its birth on, the row is present. An epoch that
takes derivations away or adds some moves births:

    t = 0: insert Edge(a,b), Edge(b,c), Edge(a,c), Edge(c,d)
      i = 0   born: Path(a,b), Path(b,c), Path(c,d), Path(a,c)
      i = 1   born: Path(b,d), Path(a,d); derived again: Path(a,c)
      i = 2   nothing pending: fixpoint
    t = 1: delete Edge(a,c)
      i = 0   Path(a,c): -1
      i = 1   Path(a,c): +1, born here now, by Path(a,b);  Path(a,d): -1
      i = 2   Path(a,d): +1, born here now, by Path(a,c)
      i = 3   nothing pending: in sum, Path has not changed

The program of the picture is `Path(x, y) :- Edge(x, y).` and `Path(x, z) :- Path(x, y), Edge(y, z).` After
the deletion both rows are still derived, one iteration later. Each change at an iteration moves forward to
the next one only if presence changed there, so an epoch looks only at the rows that it can affect, and only
at the iterations at which they may change.

- **While nothing can shrink, only rows are kept.** The relation is a growing set, and an epoch is
  semi-naive evaluation. Each operator says which changes of its inputs can make a relation shrink
  (`Node.shrinking`). An epoch of a few rows goes row by row, and does not begin a recursion in which it
  derives nothing (`growthbyrows.py`). Rounds from a few rows go row by row, too (`rowrounds.py`), or in one
  kernel where the only rule looks an import up (`followedrounds.py`). An epoch that finds no rows in a
  recursion, and brings most of its imports, evaluates it as the first epoch does.
- **Dense relations of two columns are bits while they are evaluated.** Where every recursive rule is a
  product of relations, as in a closure or in same generation, and the rows come to be a thirty-second of all
  pairs of values, an epoch that began without rows goes on over bit matrices (`products.py`,
  `densesets.py`). `denseset.py` states the law: the same rows, with the same iterations. The table is made
  of them when somebody reads rows, or when a later epoch changes them.
- **Before the first epoch with such a change, rows get ranks.** A rank is the iteration at which the row
  came, one number a row. No derivations are counted or kept: when a derivation of a row goes, a search
  looks for another one that rests on rows of lesser ranks. `engine/ranks.py` states the law, and
  `engine/inprocess/recursion/search.py` joins each rule from the rows of its heads. A row moves to a
  greater rank only when it must, and no row moves to a lesser one, so an insertion costs what it adds. Rows
  that left stay in the arrangements as ghosts until they are many. While the slots of a large table are not
  numbered, a few rows are found by reading all, and so are the rows of a few keys while there is no index
  (`engine/inprocess/storage/rowscan.py`).
- **A rule that looks one import up can be followed by a kernel**, from the changed rows to those that they
  derive, and back from rows to those that derive them, where rows are packed and the import has the
  arrangement (`following.py`). An iteration after a deletion has some hundred rows at most, so a join of them
  costs little but its calls. Where a recursion is one relation and all of its rules are such, one kernel runs
  iteration after iteration (`linear.py`).
- **Readers see a row of earlier epochs once**, at its rank. That is the integral of *distinct* over nested
  time. The engine looks at a row again only at its rank, at a derivation, or at a change of this epoch. It
  skips iterations at which nothing is pending. A row is in one place at a time, and the engine keeps the
  former ranks of the rows that an epoch moves, to roll back after an error, an interrupt or the iteration
  limit.
- **A recursion whose derivations cannot be searched is a loop**: one with a rule that has an effect, or with
  a rule some term of which shares no column with the head or another term. Loops count derivations.

Recursions that are not monotone:

A `Fixpoint` with a group inside, or with a negation of its own relations, is a loop: its body stays as it
is, and a variable is its relation one round before. Ranks do not suffice for it: a row may come and go in
several rounds. Negations stand in it by parity: `ddlog/lowering/stratify.py` sees that every cycle of
relations has an even number. `engine/time.py` states the law, and docs/loops.md tells how loops are kept up
to date.

**No relation of such a recursion has births alone.** All its relations depend on each other, so a relation
whose own rules are monotone still rests on rows that a group or a negation takes back. With `R(x, y) :-
E(x, y).`, `R(x, z) :- R(x, y), E(y, z).`, `N(x, n) :- R(x, y), var n = y.group_by(x).count().`, `R(0, x) :-
N(x, 1).`, E(1, 2) and E(2, 3), the row R(0, 1) comes with N(1, 1) and goes with N(1, 2): a birth would say
that it stays, and give R(0, 2) a derivation that does not last. Rules that no group and no negation of the
recursion reaches are a stratum of their own, and have ranks. So it is a matter of rows: one that only comes
has one entry, which is its birth.

An epoch is evaluated from empty relations after all if that is cheaper (see below), if it comes to far more
rounds, and if a fault or the limit of rounds may end it: then the evaluation from empty relations tells.
The same holds where an `Inspect` looks at the rounds.

While a loop is evaluated from empty relations, a round in which most rows of what it reads were replaced
begins from nothing, too, but for what is the same in all rounds (`freshrounds.py`).

**A recursion over paths needs no rounds**: a group takes the best value of each key, and each rule carries
one value to another key by a sum or a bound. `engine/paths.py` states the law, and reads the steps from key
to key off the rules: they are joins of imports, a circuit of their own. The state is the steps as arrays,
and a value and a rank for each key (`engine/inprocess/recursion/paths.py`). Kernels settle the keys in the
order of their values, and after a deletion only those that lose theirs. A limit of rounds, and values for
which the law does not hold, lead back to rounds.

**A bracket of a circuit in Python is no loop**, and keeps nothing but its results. A loop has relations,
read as they are in its last round. A bracket has streams of Z-sets, whose weights may be negative, its groups
count bags, and it gives the sum over all rounds of what a node of its body holds. Its end is a rest of every
delay, not of its relations. As parts of a loop, δ₀ would be a change taken back in round 1, ∫ a sum of
changes times their rounds, and each of its operators would need timelines of the whole body, also where
nothing is asked for twice. Loops keep sets, and know their end by them (`loopdivergence.py`): the identity of
a row of weight -1 has no end there. Its body is a circuit of streams as it stands: so one evaluation is a
run of ordinary epochs on a state of its own (`engine/inprocess/runningbracket.py`), which goes when it is
done. Recursions written as brackets are recognised before, and become fixpoints
(`ddlog/circuits/recognition.py`).

Maintain or recompute:

For each epoch and recursion, `engine/maintenance.py` compares what maintaining it is expected to cost with
an evaluation from empty relations, by the part of the imports that changes, the iterations at which rows
came, and what earlier epochs took in processor time. An epoch that is maintained is watched, and given up
early if it comes to more than evaluating anew: it is rolled back, and the recursion is evaluated beside the
old contents. The difference is the change. Ranked relations keep their table and arrangements, and take the
new ranks; growing sets are replaced. `engine/account.py` says how an epoch of any kind of
recursion takes part in this. While a recursion has only grown, and only grows, it is maintained without a
choice: each derivation that such an epoch makes is one that an evaluation anew makes, too, and once.
`tests/bench/sweep.py` measures how often the choice is right. A fault in an epoch that is maintained in
nested time is looked into by an evaluation anew, too.

What does not settle:

`engine/divergence.py` states when an evaluation is given up: at the limit of rounds, or when the state is one
that it was before.
"""
