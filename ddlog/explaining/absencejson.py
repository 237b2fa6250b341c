"""Why a row does not hold, as JSON.

    {"row": {"relation": "Reach", "values": ["d", "a"]}, "kind": "missing",
     "rules": [{"rule": {...}, "variables": {...}, "holds": [items as in proofs],
                "fails": {"kind": "row", "relation": "Edge", "pattern": ["d", "a"], "nearest": [[...]],
                          "below": {...}}}],
     "insert": [[{"relation": "Edge", "values": ["d", "a"]}]]}

A failure is a "row" that is missing, an "absent" row that was found, or a "condition" with the values of its
parts. A value that may be any is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .absence import Attempt, Fails, Failure, Found, Missing, NoRow
from .held import Fact
from .jsontree import item_json, rule_json, variables_json
from .words import Words


def missing_json(missing: Missing, words: Words) -> dict[str, Any]:
    """The object of a row that does not hold."""
    made: dict[str, Any] = {
        "row": {
            "relation": words.relation(missing.relation),
            "values": words.row_json(missing.relation, missing.pattern),
        },
        "kind": "cut" if missing.cut else "no fact" if missing.given else "missing",
        **_rounds(missing.rounds),
    }
    if not missing.given and not missing.cut:
        made["rules"] = [_attempt(each, words) for each in missing.attempts]
    return made


def _rounds(rounds: tuple[int, ...]) -> dict[str, list[int]]:
    return {"rounds": list(rounds)} if rounds else {}


def sets_json(sets: Sequence[Sequence[Fact]], words: Words) -> list[list[dict[str, Any]]]:
    """Sets of facts."""
    return [
        [{"relation": words.relation(name), "values": words.row_json(name, row)} for name, row in each]
        for each in sets
    ]


def _attempt(attempt: Attempt, words: Words) -> dict[str, Any]:
    return {
        "rule": rule_json(attempt.rule, attempt.place),
        "variables": variables_json(attempt.variables, attempt.rule.variables, words),
        "holds": [item_json(each, words) for each in attempt.holds],
        "fails": _failure(attempt.fails, words),
    }


def _failure(fails: Failure, words: Words) -> dict[str, Any]:
    match fails:
        case NoRow(relation, pattern, text, exact, nearest, below, rounds):
            made = {
                "kind": "row",
                "relation": words.relation(relation),
                "pattern": words.row_json(relation, pattern),
                "text": text,
                "exact": exact,
                "nearest": [words.row_json(relation, row) for row in nearest],
                **_rounds(rounds),
            }
            return made if below is None else {**made, "below": missing_json(below, words)}
        case Found(relation, pattern, text, rows, rounds):
            return {
                "kind": "absent",
                "relation": words.relation(relation),
                "pattern": words.row_json(relation, pattern),
                "text": text,
                "found": [words.row_json(relation, row) for row in rows],
                **_rounds(rounds),
            }
        case Fails(text, values, wanted):
            parts = [{"text": part, "value": words.value_json(v, of)} for part, v, of in values]
            shown = {"kind": "condition", "text": text, "value": False, "parts": parts}
            return shown if wanted is None else {**shown, "wanted": words.value_json(*wanted)}
