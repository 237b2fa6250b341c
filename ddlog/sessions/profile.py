"""`profile`: the rows that a session holds, the time of its commits, and the changes that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..demand.adornment import DEMAND
from ..engine.runtime import Held
from .measuring.plans import decision_lines, plans_text
from .results.views import Changes
from .session import Session

if TYPE_CHECKING:
    from .measuring.recorder import Recorder

_LEAST = 1_000  # rows that the plans of a rule move to be shown
_FEWEST = 100  # the same, of one of its plans
_RULES = 20  # rules whose plans are shown
_WHAT = {"relation": "{}", "groups": "groups of {}", "recursion": "recursion of {}", "values": "values of {}"}


class SessionProfile:
    """Measurements of the commits of a session: of time while `cpu` is set, of changes while `change` is
    set."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._recorder: Recorder | None = None
        self._changes: dict[str, list[int]] = {}
        self.cpu = False
        self.change = False

    def commit(self) -> Changes:
        """Commits the transaction, measures it, and returns the changes. Raises DDlogError."""
        changes = self._timed() if self.cpu else self._session.commit()
        if self.change:
            for name in changes:
                weights = [weight for _, weight in changes.stored(name)]
                counts = self._changes.setdefault(name, [0, 0])
                counts[0] += sum(weight for weight in weights if weight > 0)
                counts[1] += sum(weight for weight in weights if weight < 0)
        return changes

    def _timed(self) -> Changes:
        from .measuring.recorder import Recorder

        state = self._session.state
        before = state.recorder
        self._recorder = state.recorder = before or self._recorder or Recorder()
        try:
            return self._session.commit()
        finally:
            state.recorder = before

    def _named(self) -> Iterator[tuple[str, str]]:
        """The relations that the session keeps, and the indexes with rows of their own, each with the name
        that users know."""
        program = self._session.program
        shown = {each.name: each.name for each in program.relations.values() if not each.hidden}
        shown |= {f"{each.name} (index)": each.source for each in program.indexes.values() if each.start}
        return ((name, relation) for name, relation in shown.items() if self._session.keeps(relation))

    def _bytes(self) -> Iterator[str]:
        held = self._session.state.host.runtime.footprint()
        if held is None:
            yield "Bytes: unknown on Spark, whose UI shows the tables that it caches on its page Storage"
            return
        yield "Bytes of what is stored, in all and for each row, group or value:"
        known = {relation: name for name, relation in self._named()}
        for each in sorted(held, key=lambda each: (-each.bytes, each.name)):
            share = f"{each.bytes / each.rows:,.1f}" if each.rows else ""
            yield f"{each.bytes:>14,}  {share:>10}  {_title(each, known)}{_parts(each)}"
        yield f"{sum(each.bytes for each in held):>14,}  {'':>10}  together"

    def _plans(self) -> Iterator[str]:
        """The plans of the rules whose joins moved the most rows."""
        ran = self._session.state.host.runtime.plans()
        if ran is None:
            yield "Plans of joins: unknown on Spark, whose UI shows its queries on its page SQL"
            return
        moved: dict[str, float] = {}
        for plan in ran:
            moved[plan.rule] = moved.get(plan.rule, 0) + plan.moved
        large = sorted((rule for rule in moved if moved[rule] >= _LEAST), key=lambda each: -moved[each])
        if not large:
            return
        yield "Plans of joins, with the rows of all commits:"
        rules = dict.fromkeys(large[:_RULES])
        known = [plan for rule in rules for plan in ran if plan.rule == rule]
        yield from plans_text(self._session.program, (plan for plan in known if plan.moved >= _FEWEST))
        if len(moved) > len(rules):
            yield f"and {len(moved) - len(rules)} rules whose joins moved fewer rows"

    def _on_demand(self) -> Iterator[str]:
        """The questions to relations that are computed in part, by outputs on demand and by queries."""
        state = self._session.state
        held = [
            each for host in (state.host, *state.questions.hosts()) for each in host.runtime.footprint() or ()
        ]
        asked = [each for each in held if each.kind == "relation" and each.name.endswith(DEMAND)]
        if asked:
            yield "Relations on demand: the values that are asked for, and the rows computed:"
        for each in sorted(asked, key=lambda each: (-each.rows, each.name)):
            name = each.name.removesuffix(DEMAND)
            made = sum(other.rows for other in held if other.name == name and other.kind == "relation")
            yield f"{each.rows:>12,}  {made:>12,}  {name}"

    def lines(self) -> Iterator[str]:
        """The profile as text."""
        yield "Rows of each relation:"
        for name, relation in sorted(self._named()):
            yield f"{self._session.size(relation):>12,}  {name}"
        yield from self._on_demand()
        yield from self._bytes()
        yield from self._plans()
        yield from decision_lines(self._session.state.host.runtime.decisions())
        recorder = self._session.state.recorder or self._recorder
        if recorder is not None:
            from ..profiling.summary import summary
            from .measuring.recorder import profile_of

            state = self._session.state
            yield from summary(profile_of(state.program, state.host, state.kept, recorder))
        if self._changes:
            yield "Changes of output relations, rows added and removed:"
            for name, (added, removed) in sorted(self._changes.items()):
                yield f"{added:>+12,}  {removed:>+12,}  {name}"


def _title(held: Held, known: Mapping[str, str]) -> str:
    """The name of a part of the state; a relation that the compiler made has a name that no user wrote."""
    name = known.get(held.name) or held.name.partition("$")[0] or "(internal)"
    return _WHAT[held.kind].format(name)


def _parts(held: Held) -> str:
    if len(held.parts) < 2:
        return ""
    return ": " + ", ".join(f"{name} {size:,}" for name, size in held.parts.items())
