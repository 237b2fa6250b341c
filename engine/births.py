"""*Distinct* in a recursion: which changes a row makes, at which iterations, in one epoch.

The derivations of a row are a timeline: a weight for each iteration, summed over all epochs so far. The row
is present from its birth on, the first iteration at which the sum of its weights is positive. An epoch
changes the timeline, and must tell the readers of the relation at each iteration i how presence changed, in
both directions of time:

    iteration            0    1    2    3    4
    derivations before   .    .   +1    .   +1          born at 2
    presence before      0    0    1    1    1
    this epoch           .    .   -1   +1    .
    derivations now      .    .    0   +1   +1          born at 3
    presence now         0    0    0    1    1
    change               .    .   -1   +1    .          = (now(i) - now(i-1)) - (before(i) - before(i-1))

The change is `distinct`, incrementalized twice: by epoch and by iteration. It is nonzero only at the two
births, where the sums never fall from one iteration to the next: as rules inside a recursion are monotone,
that holds before the epoch and after it. The epoch's derivations come in order of iteration, each before
its iteration is looked at. So it is enough to look at a row

- at each iteration at which the epoch derives it or takes a derivation back; and then
- at the least later iteration at which the row was born before, or has a derivation, if presence may change
  there.

Three implementations must agree with the functions of `tests/engine/timelines.py`: the kernels of the
in-process runtime (`inprocess/kernels/timelines.py`), the Spark driver's (`spark/driverbirths.py`) and the
cluster's (`spark/history.py`).
"""
