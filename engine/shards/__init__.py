"""One engine in several workers: each runs the circuit of changes on a shard of every relation.

    worker 0    Δinputs ─► … ─► ⇄ ─► distinctΔ ─► ⋈ ─► ⇄ ─► groupΔ ─► …
                                ⇅                  ↕ look-ups
    worker 1    Δinputs ─► … ─► ⇄ ─► distinctΔ ─► ⋈ ─► ⇄ ─► groupΔ ─► …

**All workers walk the same nodes.** An epoch is begun on all of them with the same list of nodes, and ends on
all or on none. A node that needs rows together (a *distinct*, a group) reads an Exchange: there each worker
sends the rows to their owners, and waits for those of the others (`placing` puts Exchanges in, `team` sends).
Linear operators take their rows where they are.

**Joins ask.** A join starts from the rows of its own shard, and looks up in all: a view of a relation in
shards (`views`) sends the keys to the workers that own them, which answer from their arrangements. So plans,
steps and faults are those of a join in one worker (`engine/inprocess/joins/`). A worker owns the rows of a
relation by the values of some columns, those that most look-ups bind; a look-up that does not bind them asks
all workers.

**States and times.** A store changes only where all workers have come to the same node, and nobody looks it
up in between: each worker counts the nodes that it has done, a request says how many its worker has done, and
waits until the other has done as many. Iterations of a recursion are such moments, too: what an iteration
derives is sent to its owners, and a vote says whether there is another one.

**Ranks are global.** A rank is the number of an iteration, and all workers count iterations alike. So a row
has the rank that it would have in one worker, whatever shard it lies on, and the search for a derivation
(`engine/ranks.py`) compares ranks of rows of several shards.

**Some recursions iterate apart.** Where all rules carry a column on, as those of a closure do, what
follows from the rows of a worker is its own (`carried`). Once something may shrink, each worker then runs the
iterations by itself, as one worker would.

**Product time is divided by rows.** In a recursion with groups or negations inside, or in a loop, the
timeline of a row is on the worker that owns the row, and the body has Exchanges of its own. All workers visit
the least time at which one of them has work (`loop`), so rows come and go in the rounds of one worker.

**Best values come without rounds.** In a recursion over paths, each worker settles the keys that it owns in
the order of their values, and tells others the values that their steps begin with (`paths`).

**Values.** Each worker has numbers of its own for texts and other wide values. Rows travel with the values,
each once a message (`wire`).

**Ends.** When a worker ends, all are started again, with the rows that the inputs had at the last commit
(`runtime`, `spool`). Other processes take rows of a relation from the workers one by one (`giving`).

**Inputs.** The first worker divides the rows of a commit that it has. Rows that other processes have come to
the workers past it, and the first worker knows who can send them again (`arriving`).

**Windows are by rows.** A window is on the workers that own its rows, and rows that leave do so there. All
workers know the value of a clock: each finds the greatest of its own, and they agree. A row that no window
has any more is forgotten by its owner in the input, who asks the owners in the windows. What the inputs do
not say of windows (`engine.windowmemory`) is spooled with them, commit by commit, and workers that are
started again begin with it. So no earlier epoch is run again, and a worker has nothing to save.

**Faults.** When a step faults on a row, or a recursion comes to its limit, the workers give the epoch up, and
run it once more to see whether that is so of rows that stay (`Team.looks_into`): at each join they say
whether it faults, and evaluate it for all rows of before and after if it does, and recursions anew.

Brackets run on the first worker, which gets all rows that they read."""
