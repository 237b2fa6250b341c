"""Strings with code in them: nested literals mean the same with and without the escapes of their quotes."""

from __future__ import annotations

import random

import pytest

from ddlog import syntax

from .test_parser import expression, nodes

Node = str | tuple["Node", ...]  # a text, or the parts of a literal: texts and literals in `${f(...)}`

TEXTS = ("", "a", "b c", "}", "{", '"', "\\", "\\n", '\\"', "$", "é", "|", "'", ")", "//", "/*", "\n", "\t")


def literal(random: random.Random, depth: int) -> Node:
    parts: list[Node] = []
    for _ in range(random.randint(1, 3)):
        if depth and random.random() < 0.6:
            parts.append(literal(random, depth - 1))
        else:
            parts.append(random.choice(TEXTS))
    return tuple(parts)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def whole(node: Node) -> str:
    """The literal, unescaped as a whole before its code is read."""
    inner = "".join(part if isinstance(part, str) else f"${{f({whole(part)})}}" for part in node)
    return f'"{escaped(inner)}"'


def loose(node: Node) -> str:
    """The literal with quotes in its code as they are outside of strings."""
    inner = "".join(escaped(part) if isinstance(part, str) else f"${{f({loose(part)})}}" for part in node)
    return f'"{inner}"'


def mixed(node: Node, random: random.Random) -> str:
    """The literal, some levels of it whole, others loose."""
    if random.random() < 0.5:
        inner = "".join(part if isinstance(part, str) else f"${{f({mixed(part, random)})}}" for part in node)
        return f'"{escaped(inner)}"'
    return '"' + "".join(
        escaped(part) if isinstance(part, str) else f"${{f({mixed(part, random)})}}" for part in node
    ) + '"'  # fmt: skip


def meaning(node: Node) -> syntax.Expr:
    span = expression("f").span
    parts: list[syntax.Expr] = []
    for part in node:
        if not isinstance(part, str):
            parts.append(syntax.Call(syntax.Name("f", span), (meaning(part),), span))
        elif part and parts and isinstance(before := parts[-1], syntax.StringLit):
            parts[-1] = syntax.StringLit(before.value + part, span)
        elif part:
            parts.append(syntax.StringLit(part, span))
    if any(not isinstance(part, syntax.StringLit) for part in parts):
        return syntax.Interpolated(tuple(parts), span)
    return syntax.StringLit("".join(part.value for part in parts if isinstance(part, syntax.StringLit)), span)


@pytest.mark.parametrize("seed", range(80))
def test_nested_literals(seed: int) -> None:
    rand = random.Random(seed)
    node = literal(rand, 4)
    wanted = meaning(node)
    assert expression(whole(node)) == wanted
    assert expression(loose(node)) == wanted
    assert expression(mixed(node, rand)) == wanted


def test_every_piece_of_a_nested_literal_is_at_its_place() -> None:
    text = r'"${f(\"${g(\\\"a\\\") + h}\")} ${k}"'
    places = {"f": 4, "g": 10, "h": 25, "k": 34}

    def names(node: object) -> dict[str, int]:
        return {each.name: each.span.column for each in nodes(node) if isinstance(each, syntax.Name)}

    assert names(expression(text)) == places
