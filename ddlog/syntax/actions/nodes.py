"""The nodes of phrases whose parts are the fields of the node, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, partial
from itertools import takewhile, zip_longest
from typing import Any

from ... import syntax as ast
from ..lexer import Token

_NODES: Mapping[str, Callable[..., Any]] = {
    # literals, expressions and patterns
    "true": partial(ast.BoolLit, True),
    "false": partial(ast.BoolLit, False),
    "interned": ast.Interned,
    "vector": ast.VectorLit,
    "map": ast.MapLit,
    "assign": ast.Assign,
    "complement": partial(ast.Unary, "~"),
    "inverse": partial(ast.Unary, "not"),
    "reference": partial(ast.Unary, "&"),
    "try_": ast.Try,
    "slice": ast.Slice,
    "get_field": ast.GetField,
    "typed": ast.TypedExpr,
    "cast": ast.Cast,
    "name": ast.Name,
    "wildcard": ast.Wildcard,
    "bare_struct": ast.Struct,
    "if_": ast.If,
    "match": ast.Match,
    "arm": ast.Arm,
    "for_": ast.For,
    "break_": ast.Break,
    "continue_": ast.Continue,
    "return_": ast.Return,
    "closure": ast.Closure,
    "flat_map": ast.FlatMap,
    "aggregate": ast.Aggregate,
    # types
    "builtin_type": ast.NamedType,
    "named_type": ast.NamedType,
    "relation_type": ast.RelationType,
    # declarations and rules
    "attribute": ast.Attribute,
    "import_": ast.ImportDecl,
    "key": ast.PrimaryKey,
    "rule": ast.RuleDecl,
    "filter": ast.Condition,
    "inspect": ast.Inspect,
    "positional": partial(ast.Argument, None),
    "named": ast.Argument,
    # rules that are written with `for`
    "for_rule": ast.ForDecl,
    "for_statement": ast.ForStatement,
    "if_statement": ast.IfStatement,
    "match_statement": ast.MatchStatement,
    "insert_statement": ast.InsertStatement,
    "block_statement": ast.BlockStatement,
    "skip_statement": ast.BlockStatement,
}


def node_action(name: str) -> Callable[..., Any] | None:
    """The function that builds the node of a phrase from its place and parts: a token is its text or number,
    and a list that is absent is empty. None for a phrase that takes more."""
    node = _NODES.get(name)
    if node is None:
        return None
    reads = _reads(name)
    if not any(reads):
        return lambda span, *parts: node(*parts, span)
    if len(reads) == 1 and (read := reads[0]) is not None:
        return lambda span, part=None: node(read(part), span)
    return lambda span, *parts: node(
        *[part if read is None else read(part) for read, part in zip_longest(reads, parts)], span
    )


@cache
def _reads(name: str) -> tuple[Callable[[Any], Any] | None, ...]:
    """The functions that make the fields of a node from the parts of its phrase; None: a part as it is."""
    node: Any = _NODES[name]
    made: Any = node.func if isinstance(node, partial) else node
    given = len(node.args) if isinstance(node, partial) else 0
    types = [str(each.type) for each in takewhile(lambda each: each.name != "span", fields(made))]
    return tuple(
        _list if of.startswith("tuple[") and "None" not in of else _READS.get(of) for of in types[given:]
    )


def _list(part: Any) -> Any:
    return part or ()


def _text(part: Any) -> Any:
    return part.value if isinstance(part, Token) else part


_READS: Mapping[str, Callable[[Any], Any]] = {
    "str": _text,
    "str | None": _text,
    "int": lambda part: int(part.value),
}
