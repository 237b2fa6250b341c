"""*Distinct* in a recursion without counts: ranks, and the search for derivations.

A derivation is of iteration i + 1 if i is the greatest rank among the rows of the recursion that it reads,
and of iteration 0 if it reads none. Each row that is present has a rank, at which readers see it. The law is:

    Each row that is present has a derivation of its rank or an earlier iteration.        (well-foundedness)

So every row has a proof from rows of lesser ranks, and no rows can support each other alone. Births
are the least such ranks. Ranks need not be the least: an insertion moves no rank, and a
deletion moves only the ranks of rows that must move, upwards.

    iteration            0    1    2    3    4
    derivations before   .    .   +1    .   +1          rank 2
    this epoch           .    .   -1   +1    .          a derivation that the rank may rest on is gone
    derivations now      .    .    0   +1   +1          searched at 2: none of 2 or before, the next is of 3
    change               .    .   -1   +1    .          leaves at 2, comes back at 3

Derivations are not kept. An epoch finds those that come and go, as (row, iteration, weight), from the changes
of the rows that they read, in order of iteration. At an iteration, a row

- that is present, and of whose derivations of this iteration or before one went: is searched for at its
  rank. If a derivation of its rank or before is left, it stays as it is. Else it leaves, and is searched for
  again at the iteration of its first remaining derivation;
- that is absent: comes if the weights at this iteration sum to more than 0, since they are the number of
  derivations now minus the number before. If it left in this epoch, it may have derivations that it had
  before: it is searched for, and comes if there is one.

A search sees the rows that are present at the time: those of lesser ranks as they will be, and those of
greater ranks perhaps as they were. So a row that a search finds of a later iteration is searched for again
when that iteration comes. This is backward search as in B/F (Motik, Nenov, Piro, Horrocks: "Incremental
Update of Datalog Materialisation: the Backward/Forward Algorithm", AAAI 2015), in the order of ranks, so it
needs only one step backwards.
"""
