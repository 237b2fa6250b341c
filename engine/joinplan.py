"""Join plans as plain records: what a runtime chose, and what a profile holds of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LookUpRows:
    """A look-up of a plan. `depth` look-ups stand before it; `rows` is the number of valuations that it
    extends, `expected` what it was expected to give, None where that was not asked, and `given` what it gave,
    None where it did not run. `tests` follow at once. `seconds`: of all that, while it was measured."""

    depth: int
    term: str
    keys: tuple[str, ...]
    rows: float
    expected: float | None
    given: float | None
    why: str
    tests: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """How a join goes on from the rows of the term `start`; None where it starts from nothing. `tests` come
    first, in `seconds`. Where rows were split, several look-ups of the same depth follow one another, each
    with those that come after it. `place`: of the rule in its program, empty where nobody asked."""

    rule: str
    start: str | None
    look_ups: tuple[LookUpRows, ...]
    tests: tuple[str, ...] = ()
    seconds: float = 0.0
    place: str = ""

    @property
    def spent(self) -> float:
        """The seconds of all steps, while they were measured."""
        return self.seconds + sum(each.seconds for each in self.look_ups)

    @property
    def moved(self) -> float:
        """The rows that all look-ups read and gave."""
        return sum(each.rows + (each.given or 0) for each in self.look_ups)
