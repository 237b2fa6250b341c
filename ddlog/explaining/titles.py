"""The words that all forms of an explanation have for a node: its title, in a style, and notes beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core import Rule
from ..errors.source import Span
from .node import Reason
from .words import Words


@dataclass(frozen=True)
class Titles:
    """Writes the titles and the notes of nodes."""

    words: Words

    def title(self, node: Reason) -> str:
        """The title of a node: its row, or the text of its clause or remark."""
        match node.kind:
            case "near":
                return f"nearest {self._row(node)}"
            case "absent" | "excluded" | "found":
                said = self._negated(node)
                return said + in_round(node.rounds) if node.kind == "found" else said
            case "no row":
                return self._no_row(node)
            case "attempt" if node.rule is not None:
                return one_line(rule_text(node.rule, node.place))
            case "value":
                return f"{one_line(node.text)} is {self._value(node)}"
            case "wanted":
                return f"needed is {self._value(node)}"
            case "member":
                return self._value(node)
            case "set" | "by":
                return self._facts(node)
        return self._row(node) if node.relation else one_line(node.text)

    def notes(self, node: Reason) -> Iterator[str]:
        """The notes beside the title of a node."""
        match node.kind:
            case "fact" | "rule" | "cut" | "above" if node.came is not None:
                yield from self._change(node)
            case "fact":
                yield "fact" + ("" if node.place is None else f" of the program, {node.place}")
            case "rule" | "group" | "cut":
                yield from ["…"] if node.kind == "cut" else []
                yield from heights(node)
            case "same":
                yield "as before" + in_round(node.looked)
            case "holds":
                yield "holds" + in_round(node.rounds)
            case "no fact":
                yield "does not hold: it is not a fact"
            case "missing" | "unknown":
                yield "does not hold" + in_round(node.rounds)
                yield from ["…"] if node.kind == "unknown" else []
            case "attempt":
                yield f"at {node.place}"
            case "absent":
                found = "true" if self.words.is_described(node.relation) else "absent"
                yield found + in_round(node.rounds)
            case "condition":
                yield self._value(node)
            case "found":
                yield "but there is"
            case "false" if not any(each.kind == "wanted" for each in node.children):
                yield "is false"
            case "members" | "regrouped":
                yield f"1 {node.noun}" if node.count == 1 else f"{node.count} {node.noun}s"
                yield from [] if node.before is None else [f"before {node.before}"]
            case "member":
                yield from ["decides"] if node.decides else []
                yield from [] if node.came is None else [did(node)]
                yield from [f"{node.times} times"] if node.times > 1 else []

    def style(self, node: Reason) -> str:
        """The style of a title: "good", "bad", "strong", "plain" or "faint"."""
        match node.kind:
            case "fact" | "rule" | "cut" | "above" if node.came is not None:
                return "good" if node.came else "bad"
            case "fact":
                return "good"
            case "rule" | "group" | "cut" | "missing" | "unknown" | "no fact":
                return "strong"
            case "no row" | "found" | "false":
                return "bad"
            case "others":
                return "faint"
        return "plain"

    def rule(self, node: Reason) -> tuple[str, str, str] | None:
        """The rule of a row, its place, and the values of its variables; None if the row is by no rule."""
        if node.rule is None or not node.shows_rule:
            return None
        said = self.words.variables(node.variables, node.rule.variables)
        return rule_text(node.rule, node.place), f"at {node.place}", said

    def _change(self, node: Reason) -> Iterator[str]:
        said = did(node) + in_round(node.rounds)
        given = self.words.program.relations[node.relation].role == "input"
        if node.kind == "fact" and node.rule is None and given:
            yield "inserted" if node.came else "deleted"
            return
        yield said
        if node.kind == "fact" and node.rule is not None:
            yield f"a fact of the program, {node.place}"
        yield from {"above": ["see above"], "cut": ["…"]}.get(node.kind, [])

    def _negated(self, node: Reason) -> str:
        if self.words.is_described(node.relation) or (node.kind != "found" and "$" in node.relation):
            return one_line(node.text)
        return f"not {self._row(node)}"

    def _no_row(self, node: Reason) -> str:
        if not node.exact:
            return f"no {one_line(node.text)}"
        lack = "nothing in" if self.words.is_described(node.relation) else "no"
        return f"{lack} {self._row(node)}{in_round(node.rounds)}"

    def _facts(self, node: Reason) -> str:
        """A set of facts: those that came or went, or those to insert and to delete."""
        if node.kind == "by":
            signed = (f"{'+' if came else '-'}{self.words.row(*fact)}" for fact, came in node.facts)
            return f"by {', '.join(signed)}"
        delete = ", ".join(self.words.row(*fact) for fact, inserted in node.facts if not inserted)
        insert = ", ".join(self.words.row(*fact) for fact, inserted in node.facts if inserted)
        if node.text:
            return f"{node.text}: {insert}"
        return f"{delete}; with insert {insert}" if delete and insert else delete or f"insert {insert}"

    def _row(self, node: Reason) -> str:
        return self.words.row(node.relation, node.row)

    def _value(self, node: Reason) -> str:
        assert node.type is not None
        return self.words.value(node.value, node.type)


def heights(node: Reason) -> Iterator[str]:
    """The height of a row, and the rounds since which it is there."""
    if node.height is not None:
        yield f"height {node.height}"
    if node.rounds:
        number = ".".join(map(str, node.rounds))
        yield f"in round {number}, not to the end" if node.ended else f"since round {number}"


def in_round(rounds: tuple[int, ...]) -> str:
    """A round, the number of the outermost loop first, to be said after something; nothing without one."""
    if rounds and rounds[-1] < 0:
        return " before round 0"
    return f" in round {'.'.join(map(str, rounds))}" if rounds else ""


def rule_text(rule: Rule, place: Span | None) -> str:
    """The text of a rule, as the user wrote it."""
    return rule.text if place is None or place == rule.span else place.text()


def one_line(text: str) -> str:
    """A text with its lines joined."""
    return " ".join(text.split())


def did(node: Reason) -> str:
    """Whether a row came or went, as a word."""
    return "came" if node.came else "went"
