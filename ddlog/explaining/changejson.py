"""Why a row came or went, as JSON."""

from __future__ import annotations

from typing import Any

from .changes import Change, Changed, Ended, Excluded, OtherMember, Part, Regrouped, Same
from .jsontree import item_json, rule_json, variables_json
from .tree import Tree
from .words import Words


def change_json(change: Change, words: Words) -> dict[str, Any]:
    """The object of the change of a row."""
    return {
        "row": _row(change.relation, change.row, words),
        "change": _did(change.came),
        "proofs": [_changed(each, words) for each in change.proofs],
        "count": change.count,
        "facts": [{**_row(*fact, words), "change": _did(came)} for fact, came in change.facts],
    }


def _did(came: bool) -> str:
    return "came" if came else "went"


def _row(relation: str, row: tuple[Any, ...], words: Words) -> dict[str, Any]:
    return {"relation": words.relation(relation), "values": words.row_json(relation, row)}


def _changed(changed: Changed, words: Words) -> dict[str, Any]:
    made: dict[str, Any] = {
        "row": _row(changed.relation, changed.row, words),
        "kind": changed.kind,
        "change": _did(changed.came),
    }
    if changed.rounds:
        made["rounds"] = list(changed.rounds)
    if changed.rule is not None and changed.place is not None:
        made["rule"] = rule_json(changed.rule, changed.place)
        made["variables"] = variables_json(changed.variables, changed.rule.variables, words)
        made["body"] = [_part(each, words) for each in changed.body]
    return made


def _part(part: Part, words: Words) -> dict[str, Any]:
    match part:
        case Changed():
            return {**_changed(part, words), "kind": "row", "of": part.kind}
        case Same(Tree(relation, row)):
            return {"kind": "row", "row": _row(relation, row, words), "change": None}
        case Ended(last, before):
            return {"kind": "ended", "round": last, "before": before}
        case Same(item):
            return item_json(item, words)
        case Excluded(term, rows, more):
            return {**item_json(term, words), "rows": [_changed(each, words) for each in rows], "more": more}
        case Regrouped():
            members = [_member(each, part, words) for each in part.members]
            counts = {"before": part.before, "now": part.now, "more": part.more}
            return {"kind": "group", "text": part.text, **counts, "members": members}


def _member(member: OtherMember, group: Regrouped, words: Words) -> dict[str, Any]:
    return {
        "value": words.value_json(member.value, group.type),
        "change": _did(member.came),
        "body": [_part(each, words) for each in member.body],
    }
