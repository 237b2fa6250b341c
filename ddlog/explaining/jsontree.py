"""Proof trees as JSON.

    {"row": {"relation": "Reach", "values": ["a", "c"]}, "kind": "rule", "height": 2,
     "rule": {"text": "...", "file": "reach.dl", "line": 6, "column": 1}, "variables": {"x": "a", ...},
     "body": [{"kind": "row", ...}, {"kind": "absent", ...}, {"kind": "condition", ...}]}

An item of a body that is a row is the object of its tree, with its kind as `of` and "row" as `kind`. The body
of a group has the items of all its members, each with the `member` that it is of; `members` has their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core import Rule
from ..errors.source import Span
from ..types import Type
from .tree import Absent, Condition, Group, Item, Tree
from .words import Words


def tree_json(tree: Tree, words: Words) -> dict[str, Any]:
    """The object of a tree."""
    made: dict[str, Any] = {
        "row": {
            "relation": words.relation(tree.relation),
            "values": words.row_json(tree.relation, tree.row),
        },
        "kind": tree.kind,
        "height": tree.height,
    }
    if tree.rounds:
        made |= {"rounds": list(tree.rounds), "ended": tree.ended}
    if tree.rule is None:
        return made
    made["rule"] = rule_json(tree.rule, tree.place or tree.rule.span)
    if tree.kind in ("rule", "group"):
        types = tree.rule.variables
        made["variables"] = variables_json(tree.variables, types, words)
        made["body"] = list(_items(tree.body, types, words, ()))
        groups = [item for item in tree.body if isinstance(item, Group)]
        if groups:
            made["members"] = _members(groups[0], types, words)
    return made


def rule_json(rule: Rule, place: Span) -> dict[str, Any]:
    """The object of a rule: its text and place."""
    text = rule.text if place == rule.span else place.text()
    return {"text": text, "file": place.source.name, "line": place.line, "column": place.column}


def variables_json(found: Mapping[str, Any], types: Mapping[str, Type], words: Words) -> dict[str, Any]:
    """The object of the values of variables."""
    return {name: words.value_json(value, types[name]) for name, value in found.items()}


def _items(
    items: tuple[Item, ...], types: Mapping[str, Type], words: Words, member: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    for item in items:
        if isinstance(item, Group):
            for number, each in enumerate(item.members):
                yield from _items(each.body, types, words, (*member, number))
        else:
            made = item_json(item, words)
            yield {**made, "member": list(member)} if member else made


def item_json(item: Item, words: Words) -> dict[str, Any]:
    """The object of an item of a body."""
    match item:
        case Tree():
            return {**tree_json(item, words), "kind": "row", "of": item.kind}
        case Absent(relation, pattern, text, rounds):
            shown = words.row_json(relation, pattern)
            made = {"kind": "absent", "relation": words.relation(relation), "pattern": shown, "text": text}
            return {**made, "rounds": list(rounds)} if rounds else made
        case Condition(text, value, of):
            return {"kind": "condition", "text": text, "value": words.value_json(value, of)}
        case Group():
            raise TypeError("a group is written by its members")


def _members(group: Group, types: Mapping[str, Type], words: Words) -> dict[str, Any]:
    return {
        "text": group.text,
        "keys": variables_json(group.keys, types, words),
        "count": group.count,
        "shown": [
            {
                "value": words.value_json(each.value, group.type),
                "decides": each.decides,
                "variables": variables_json(each.variables, types, words),
                **({"times": each.times} if each.times > 1 else {}),
            }
            for each in group.members
        ],
    }
