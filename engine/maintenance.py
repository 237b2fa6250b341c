"""Maintain or recompute: what an epoch does with a recursion, and what either of them costs.

To *maintain* a recursion is to derive what follows from the changes of its imports. To *recompute* it is to
evaluate it from empty relations, and to compare the new contents with the old ones. Both give the same
changes. Few changes are better maintained, many better recomputed, and how many are many depends on the rules
and on the data. The estimates are:

    recompute   =  rate × (rows of the relations + rows of the imports)  +  comparing
    maintain    =  rate × rows touched × factor

`rate` is what an evaluation took, a row. A row that came at iteration r rests on about r + 1 rules, so if a
part p of the imports goes, then of the rows of iteration r about 1 - (1 - p)^(r + 1) are *touched*. The
`factor` says how much dearer a touched row is than one evaluated; epochs that were maintained tell it, for
growth and shrinkage apart.

    work    0 ────────── spent ────────────────────────── spent / reached            (maintain, to the end)
                           └── given up here if what is left is more than ──► recompute

An estimate may be wrong, so an epoch that is being maintained is watched. `reached` is the part of the rows
that came at the iterations done so far, so spent / reached is about what maintaining comes to. If what is
left of that is more than evaluating anew, maintaining is given up. This happens early if at all: the rate at
which work grows shows from the first iterations on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, TypeAlias

from .clock import work

Mode: TypeAlias = Literal["always", "never", "auto"]
"""Whether recursions are maintained: always, never where that can be avoided, or where it is cheaper."""

Way: TypeAlias = Literal["maintained", "recomputed", "given up"]
"""The way that a recursion went; one that was given up was recomputed in the end."""

Coin: TypeAlias = "Callable[[], int | None]"
"""Decides for a test: None to recompute, else the number of looks of a `Watch` at which to give up."""


RATE = 4e-7
"""Seconds that a row takes to be evaluated, where nothing was measured."""

_COMPARING = 6e-8  # seconds to compare a row
_GOING, _COMING = 3.0, 1.5  # factors where nothing was measured
_PREPARING = 0.5  # of an evaluation that it takes to prepare maintaining, where nothing was measured
ENOUGH = 0.3
"""Of the seconds of recomputing, the part after which the iterations so far tell what is left."""

_PATIENCE = 0.08  # of the seconds of recomputing that maintaining may take before it is watched
_AT_ONCE = 0.002  # seconds that maintaining may take in any case before it is watched
_SEEDING = 0.5  # of the same, that it may take to derive what follows from the changes at once
_FOLLOWING = 10  # times the seconds of a row that one that waits takes, with all that comes of it
_WRONG = 3.0  # times the seconds of recomputing at which maintaining is given up, whatever is left
_DOUBT = 2.0  # times dearer that maintaining must look to be not even tried, if that was never measured
_MOST = 0.4  # of the rows before and after, which are not tried to be maintained in doubt
_LEAST = 5e-4  # seconds of an epoch that tell something
_FEW = 1000  # rows of an evaluation that tell something
_NOTHING = 1e-9  # instead of 0
_GROWTH = 10  # times the rows that an epoch is expected to give at most
_SMALL = 0.1  # chance up to which that of one or the other is the sum
_BUCKETS = 64
_KEPT = 1000  # decisions

Depths: TypeAlias = Sequence[tuple[int, int]]
"""Iterations with the number of rows that came at each, in order."""


class GivenUp(Exception):
    """An epoch is better recomputed. Maintaining has to be rolled back first."""


@dataclass(slots=True)
class ImportSize:
    """The size of an import after its change, and the rows of the change. Nobody changes it, nor a Situation,
    an Estimate, a Choice or a Decision: frozen classes would take several times as long to make, and a small
    epoch makes one of each."""

    rows: int
    come: int = 0
    gone: int = 0

    @property
    def before(self) -> int:
        """The rows before the change."""
        return max(0, self.rows - self.come + self.gone)


@dataclass(slots=True)
class Situation:
    """A recursion when an epoch reaches it: the rows of its relations, its imports, and whether what
    maintaining looks up is there."""

    rows: int
    imports: Sequence[ImportSize]
    ready: bool = True

    @property
    def changed(self) -> int:
        """The rows of the changes."""
        return sum(each.come + each.gone for each in self.imports)

    @property
    def imported(self) -> int:
        """The rows of the imports."""
        return sum(each.rows for each in self.imports)

    @property
    def before(self) -> int:
        """The rows of the imports before their changes."""
        return sum(each.before for each in self.imports)


@dataclass(slots=True)
class Estimate:
    """Seconds of work that the two ways are expected to take. `known`: epochs like this one were measured, or
    touch most of the rows, so that little could be won."""

    maintain: float
    recompute: float
    known: bool

    @property
    def cheaper(self) -> bool:
        """Whether it is worth to maintain, or to try it."""
        return self.maintain <= self.recompute * (1.0 if self.known else _DOUBT)


@dataclass(slots=True)
class Decision:
    """The way that a recursion went in one epoch, why, in which situation, and the seconds of work that it
    took."""

    epoch: int
    relations: tuple[str, ...]
    way: Way
    why: str
    situation: Situation
    estimate: Estimate | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of the imports that change: of all rows together, and of the import that changes most."""

    all: float
    most: float


def shares(imports: Iterable[ImportSize], gone: bool) -> Shares:
    """The parts that went, of the rows before; or that came, of the rows after."""
    sizes = [(each.before, each.gone) if gone else (each.rows, each.come) for each in imports]
    some = sum(changed for _, changed in sizes)
    total = max(1, sum(rows for rows, _ in sizes))
    most = max((changed / max(rows, 1) for rows, changed in sizes), default=0.0)
    return Shares(min(1.0, some / total), min(1.0, most))


class IterationRows:
    """The rows of an evaluation by iteration."""

    def __init__(self, depths: Depths = ()) -> None:
        self._times = [time for time, _ in depths]
        self.rows = sum(count for _, count in depths)
        self._reached = [count / max(self.rows, 1) for count in accumulate(count for _, count in depths)]
        self._mean = sum((time + 1) * count for time, count in depths) / max(self.rows, 1)
        step = -(-len(depths) // _BUCKETS) or 1
        parts = [depths[at : at + step] for at in range(0, len(depths), step)]
        self._buckets = [(part[len(part) // 2][0], sum(count for _, count in part)) for part in parts]

    def kept(self) -> list[Any]:
        """All of it, as numbers and lists."""
        return [self._times, self.rows, self._reached, self._mean, self._buckets]

    @staticmethod
    def restored(kept: Sequence[Any]) -> IterationRows:
        """The profile of which `kept` gave this. Raises ValueError and TypeError if it cannot be one."""
        found = IterationRows()
        times, rows, reached, mean, buckets = kept
        found._times, found._reached = [*map(number, times)], [*map(number, reached)]
        found.rows, found._mean = number(rows), number(mean)
        found._buckets = [(number(time), number(count)) for time, count in buckets]
        if len(found._times) != len(found._reached):
            raise ValueError("there are other iterations")
        return found

    def reached(self, iteration: int) -> float:
        """The part of the rows that came at the iterations up to this one."""
        at = bisect_right(self._times, iteration)
        return self._reached[at - 1] if at else 0.0

    def touched(self, changed: Shares) -> float:
        """The part of the rows that is expected to rest on changed rows."""
        deepest = self._times[-1] if self._times else 0
        if not self.rows:  # nothing is known of iterations
            return 1 - (1 - changed.all) * (1 - changed.most)
        if changed.all * (deepest + 1) < _SMALL:
            return min(1.0, changed.all * self._mean + changed.most)
        kept = sum(count * (1 - changed.all) ** (time + 1) for time, count in self._buckets)
        kept /= max(self.rows, 1)
        return 1 - kept * (1 - changed.most)


def number(kept: Any) -> Any:
    """A number of seconds or rows that was kept. Raises ValueError if it cannot be one."""
    if not isinstance(kept, int | float) or not 0 <= kept < 1 << 53:
        raise ValueError(f"{kept!r} is no number of seconds or rows")
    return kept


@dataclass(slots=True)
class Costs:
    """The costs of a recursion, as far as they were measured."""

    rate: float = RATE
    comparing: float = _COMPARING
    going: float = _GOING
    coming: float = _COMING
    preparing: float = _PREPARING
    profile: IterationRows = field(default_factory=IterationRows)
    is_measured: bool = False
    _known: set[bool] = field(default_factory=set)  # True: an epoch that shrank was maintained; False: grew

    @property
    def known(self) -> frozenset[bool]:
        """Of which epochs it is known what they take: True, those that shrink; False, those that grow."""
        return frozenset(self._known)

    def resume(self, measured: bool, known: Sequence[bool], profile: IterationRows) -> None:
        """Takes up what another session had found out."""
        self.is_measured, self._known, self.profile = measured, {*known}, profile

    def estimate(self, situation: Situation) -> Estimate:
        """The seconds that the two ways are expected to take."""
        rows, before, imported = situation.rows, situation.before, situation.imported
        after = rows * min(_GROWTH, imported / max(before, 1))
        recompute = self.rate * (after + imported) + self.comparing * (rows + after)
        gone, come = self._touched(situation, after)
        maintain = self.rate * (gone * self.going + come * self.coming)
        if not situation.ready:
            maintain += self.preparing * self.rate * (rows + before)
        known = (gone >= come) in self._known or gone + come > _MOST * (rows + before + after + imported)
        return Estimate(maintain, recompute, known)

    def _touched(self, situation: Situation, after: float) -> tuple[float, float]:
        """The rows that are expected to be touched, by what goes and by what comes."""
        gone = self.profile.touched(shares(situation.imports, True)) * (situation.rows + situation.before)
        come = self.profile.touched(shares(situation.imports, False)) * (after + situation.imported)
        return gone, come

    def evaluated(self, rows: int, imported: int, seconds: float, depths: Depths) -> None:
        """An evaluation from empty relations took so long."""
        self.profile = IterationRows(depths)
        if rows + imported >= _FEW or (rows and not self.is_measured):
            self.rate = max(seconds, _NOTHING) / max(rows + imported, 1)
            self.is_measured = True

    def compared(self, rows: int, seconds: float) -> None:
        """A comparison of so many rows, old and new, took so long."""
        if rows >= _FEW:
            self.comparing = seconds / rows

    def prepared(self, rows: int, seconds: float) -> None:
        """Notes the seconds in which so many rows were prepared for maintaining."""
        if rows >= _FEW:
            self.preparing = seconds / (rows * self.rate)

    def preparing_takes(self, situation: Situation, seconds: float) -> None:
        """Sets the seconds that preparing for maintaining is expected to take."""
        rows = situation.rows + situation.before
        self.preparing = max(0.0, seconds) / max(rows * self.rate, _NOTHING)

    def takes_at_least(self, situation: Situation, seconds: float) -> None:
        """An epoch takes so long to maintain, or would have, or longer, whatever the number of its rows lets
        expect. A factor that says more is halved, not kept: that of one epoch which spread to all rows would
        have all later ones evaluated, and none of these could tell that it is cheap to maintain."""
        gone, come = self._touched(situation, situation.rows)
        factor = seconds / max(self.rate * max(gone, come), _NOTHING)
        if factor > min(self.going, self.coming):
            self._known |= {True, False}
        self.going, self.coming = max(factor, self.going / 2), max(factor, self.coming / 2)

    def maintained(self, situation: Situation, seconds: float) -> None:
        """An epoch that was maintained took so long, or would have."""
        if seconds < _LEAST:
            return
        gone, come = self._touched(situation, situation.rows)
        shrank = gone >= come
        held = self.going if shrank else self.coming
        found = seconds / max(self.rate * max(gone, come), _NOTHING)
        # Epochs differ, so that one moves the factor half of the way, and by no more than two.
        moved = held * min(4.0, max(0.25, found / held)) ** 0.5
        if shrank:
            self.going = moved
        else:
            self.coming = moved
        self._known.add(shrank)


class Watch:
    """Looks at an epoch while it is maintained, and gives it up if evaluating anew is better."""

    def __init__(
        self,
        recompute: float | None = None,
        rate: float = RATE,
        fits: Callable[[], bool] = lambda: True,
        looks: int | None = None,
        start: float | None = None,
    ) -> None:
        """`recompute` are the seconds of recomputing; None: it is out of the question. `rate` are those of a
        row of it. `fits` says whether there is memory for it. `looks`: the number of looks after which the
        epoch is given up in any case. `start`: when maintaining began, if not now."""
        self._recompute, self._rate, self._fits, self._looks = recompute, rate, fits, looks
        self.start = work() if start is None else start
        self._seeded: float | None = None  # the seconds until then
        self.reached = 0.0  # the part of the rows of the iterations done, and of the one that runs
        self.waiting: Callable[[], int] = int  # gives the rows that later iterations have to look at

    def look(self) -> None:
        """Raises GivenUp where it is better to evaluate anew."""
        if self.gives_up():
            raise GivenUp

    def gives_up(self) -> bool:
        """Whether it is better to evaluate anew."""
        if self._looks is not None:
            self._looks -= 1
            if self._looks < 0:
                return True
        recompute = self._recompute
        if recompute is None or (spent := self.spent) <= max(_AT_ONCE, _PATIENCE * recompute):
            return False
        if not self._is_too_long(spent, recompute):
            return False
        if self._fits():
            return True
        self._recompute = None
        return False

    def _is_too_long(self, spent: float, recompute: float) -> bool:
        if self._seeded is None or spent > _WRONG * recompute:
            return spent > recompute * (_SEEDING if self._seeded is None else _WRONG)
        since = spent - self._seeded
        if since / max(self.reached, _NOTHING) - since <= recompute:
            return False
        return since > ENOUGH * recompute or self.waiting() * self._rate * _FOLLOWING > recompute

    @property
    def spent(self) -> float:
        """The seconds so far."""
        return work() - self.start

    def restart(self) -> None:
        """Begins to count from now on."""
        self.start = work()

    def seeded(self) -> None:
        """Notes that the direct consequences of the changes are derived; the iterations come."""
        if self._recompute is not None or self._looks is not None:  # a clock takes long beside a small epoch
            self._seeded = self.spent

    @property
    def expected(self) -> float:
        """The seconds that maintaining takes to the end, by what it has taken so far."""
        spent = self.spent
        seeded = spent if self._seeded is None else self._seeded
        return seeded + (spent - seeded) / min(1.0, max(self.reached, _PATIENCE))


@dataclass(slots=True)
class Choice:
    """The way that a recursion is to go in an epoch, why, and the estimate behind it."""

    maintain: bool
    why: str
    watch: Watch
    estimate: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """The way that a recursion would go whose imports have so many rows: it is maintained if at most `gone`
    of them go, or `come` more come. `why`: it is always maintained, for this reason."""

    relations: tuple[str, ...]
    imported: int
    gone: int
    come: int
    why: str = ""


def expectation(relations: Iterable[str], costs: Costs, situation: Situation, why: str = "") -> Expectation:
    """The way that the recursion would go, as far as it is known."""

    def most(changing: Callable[[ImportSize, float], ImportSize]) -> int:
        """The most changed rows at which maintaining is cheaper: the imports change by the same part."""
        low, high = 0, max(1, situation.imported)
        while low < high:
            middle = (low + high + 1) // 2
            part = middle / max(1, situation.imported)
            found = costs.estimate(
                Situation(situation.rows, [changing(each, part) for each in situation.imports])
            )
            low, high = (middle, high) if found.maintain <= found.recompute else (low, middle - 1)
        return low

    gone = most(lambda each, part: ImportSize(round(each.rows * (1 - part)), gone=round(each.rows * part)))
    come = most(lambda each, part: ImportSize(round(each.rows * (1 + part)), come=round(each.rows * part)))
    return Expectation(tuple(relations), situation.imported, gone, come, why)


class Maintaining:
    """Decides for all recursions of one runtime, and keeps the last decisions."""

    def __init__(self, mode: Mode | Coin = "auto") -> None:
        self.mode = mode
        self.decisions: deque[Decision] = deque(maxlen=_KEPT)
        self.decided = 0  # in all

    def choose(self, costs: Costs, situation: Situation, fits: Callable[[], bool]) -> Choice:
        """The way to go. `fits` says whether there is memory to evaluate anew beside what is held."""
        if self.mode == "always":
            return Choice(True, "always", Watch())
        if self.mode == "never":
            return Choice(False, "never maintained", Watch())
        if self.mode != "auto":
            looks = self.mode()
            return Choice(looks is not None, "by a coin", Watch(looks=looks))
        estimate = costs.estimate(situation)
        watch = Watch(estimate.recompute, costs.rate, fits)
        if estimate.cheaper:
            sure = estimate.maintain <= estimate.recompute
            why = "expected to be cheaper" if sure else "tried, as nothing like it was measured"
            return Choice(True, why, watch, estimate)
        if fits():
            return Choice(False, "expected to be cheaper", watch, estimate)
        return Choice(True, "there is no memory for both contents", Watch(), estimate)

    def note(self, decision: Decision) -> None:
        """Keeps a decision."""
        self.decisions.append(decision)
        self.decided += 1
