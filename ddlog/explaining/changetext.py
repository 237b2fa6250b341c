"""Why a row came or went, as indented text with box lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .changes import Change, Changed, Ended, Excluded, OtherMember, Part, Regrouped, Same
from .text import boxed, in_round, item_line, rule_line, tinted
from .tree import Absent, Condition, Tree
from .words import Words


@dataclass(frozen=True)
class ChangeLines:
    """Writes trees of changes; in `color` for a terminal."""

    words: Words
    color: bool = False

    def change(self, change: Change) -> Iterator[str]:
        """The lines of the change of a row."""
        for number, proof in enumerate(change.proofs, 1):
            if not change.came and change.count > 1:
                yield f"derivation {number} of {change.count} that it had"
            yield from self._changed(proof)
        if change.count > len(change.proofs) and not change.came:
            yield f"… and {change.count - len(change.proofs)} more"
        if change.facts:
            signed = (f"{'+' if came else '-'}{self.words.row(*fact)}" for fact, came in change.facts)
            yield f"by {', '.join(signed)}"

    def _changed(self, changed: Changed) -> Iterator[str]:
        row = self.words.row(changed.relation, changed.row)
        shown = tinted("green" if changed.came else "red", row, self.color)
        yield f"{shown}  {self._dim(self._done(changed))}"
        if changed.kind != "rule" or changed.rule is None or changed.place is None:
            return
        yield "│ " + rule_line(changed.rule, changed.place, self.color)
        if changed.variables:
            yield "│ " + self._dim(self.words.variables(changed.variables, changed.rule.variables))
        yield from self._parts(changed.body)

    def _done(self, changed: Changed) -> str:
        did = ("came" if changed.came else "went") + in_round(changed.rounds)
        given = self.words.program.relations[changed.relation].role == "input"
        match changed.kind:
            case "above":
                return f"{did}, see above"
            case "cut":
                return f"{did}, …"
            case "fact" if changed.rule is not None:
                return f"{did}, a fact of the program, {changed.place}"
            case "fact" if given:
                return "inserted" if changed.came else "deleted"
        return did

    def _parts(self, parts: tuple[Part, ...]) -> Iterator[str]:
        yield from boxed([list(self._part(each)) for each in parts])

    def _part(self, part: Part) -> Iterator[str]:
        match part:
            case Changed():
                yield from self._changed(part)
            case Same(Tree(relation, row, looked=looked)):
                yield f"{self.words.row(relation, row)}  {self._dim('as before' + in_round(looked))}"
            case Ended(last, before):
                yield f"the loop {f'ended in round {last} before' if before else f'ends in round {last} now'}"
            case Same(Absent() | Condition() as item):
                yield item_line(item, self.words)
            case Excluded(term, rows, more):
                lines = [list(self._changed(each)) for each in rows]
                yield item_line(term, self.words).removesuffix("  absent").removesuffix("  true")
                yield from boxed([*lines, ["… and more"]] if more else lines)
            case Regrouped():
                yield from self._group(part)

    def _group(self, group: Regrouped) -> Iterator[str]:
        members = "member" if group.now == 1 else "members"
        yield f"{' '.join(group.text.split())}  {group.now} {members}, before {group.before}"
        parts = [list(self._member(each, group)) for each in group.members]
        if group.more:
            parts.append([f"… and {group.more} more that came or went"])
        yield from boxed(parts)

    def _member(self, member: OtherMember, group: Regrouped) -> Iterator[str]:
        often = f", {member.times} times" if member.times > 1 else ""
        did = ("came" if member.came else "went") + often
        yield f"{self.words.value(member.value, group.type)}  {self._dim(did)}"
        yield from self._parts(member.body)

    def _dim(self, text: str) -> str:
        return tinted("dim", text, self.color)
