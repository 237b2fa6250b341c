"""Spellings of other languages: hints for texts that do not parse."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_SPELLINGS = {
    "||": "`||` is written `or`",
    "<>": "`<>` is written `!=`",
    "===": "`===` is written `==`",
    "!==": "`!==` is written `!=`",
    ":=": "a variable is defined by `var x = ...`",
    "+=": "`x += 1` is written `x = x + 1`",
    "-=": "`x -= 1` is written `x = x - 1`",
    "[]": "an empty vector is `vec_empty()`, an empty map `map_empty()`",
    "let": "a variable is defined by `var x = ...`",
    "while": "there is no `while`: a loop is `for (x in collection) ...`, and functions may call themselves",
    "loop": (
        "`loop Name { ... }` is a declaration, and `output` stands before a relation in it; "
        "in a function, a loop is `for (x in collection) ...`"
    ),
    "fn": "a function is `function f(x: T): R { ... }`",
    "struct": "a type is `typedef T = T{field: type, ...}`",
    "'": "a string stands in double quotes",
    "%": "a comment begins with `//`",
    "#": "a comment begins with `//`",
    ".decl": "a relation is `relation R(x: T)`, with `input` or `output` before it",
}
_FOR_OPERANDS = ("<>", "===", "!==", "+=", "-=", "[]", "'")  # only where an expression should stand
_HEADINGS = ("if", "match", "for")


def hint(texts: Iterable[str], before: str, token: str, fitting: Collection[str]) -> str:
    """A help for a construct of another language; empty for none.

    `texts` are the text at the error: the token alone and with its neighbours. `before` is the previous
    token, `fitting` are the tokens that the grammar allows.
    """
    if before in _HEADINGS and token == "{":
        return f"`{before}` needs a condition: `{before} (...)`"
    if before == "then" and token not in ".,;":
        return "there is no `then`: write `if (c) a else b`"
    if before in _HEADINGS and "(" in fitting:
        return f"`{before}` needs parentheses: `{before} (...)`"
    if before == "in" and "UPPER" in fitting and "INTEGER" not in fitting:
        return (
            "`in` is followed by a relation; the elements of a collection are `var x = FlatMap(collection)`"
        )
    if set(fitting) == {"in"}:
        return "a rule goes `for (x in R) ...` or `for (R(x)) ...`, a loop `for (x in collection) ...`"
    if token == "," and set(fitting) == {")", "if"}:
        return "each relation has a `for` of its own: `for (R(x)) for (S(x)) ...`"
    if before == "#" and "[" in fitting:
        return _SPELLINGS["#"]
    if token == "->" and {":", "{"} <= set(fitting):
        return "the type of the result is written `: R`"
    if token == ";" and {".", ","} <= set(fitting):
        return "the clauses of a rule are separated by commas"
    if token == "=" and ({".", ","} <= set(fitting) or {"==", "{"} <= set(fitting)):
        return "to compare, write `==`"
    operand = "QUOTED" in fitting
    known = [text for text in texts if text in _SPELLINGS and (operand or text not in _FOR_OPERANDS)]
    return _SPELLINGS[known[0]] if known else ""
