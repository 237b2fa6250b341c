"""The precedence of binary operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import syntax as ast
from ..errors import syntax as errors
from ..errors.diagnostics import Diagnostic

LEVELS = (
    ("=>",), ("or",), ("and",), ("|",), ("^",), ("&",), ("==", "!=", "<", "<=", ">", ">="),
    ("++",), (">>", "<<"), ("+", "-"), ("%", "*", "/"),
)  # fmt: skip

PRECEDENCE = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}

ORDERINGS = frozenset(("<", "<=", ">", ">="))


def climb(parts: Sequence[Any], found: list[Diagnostic]) -> ast.Expr:
    """The tree of operands and operator tokens that alternate. Operators associate to the left,
    except the orderings, which cannot be chained."""
    operands: list[ast.Expr] = [parts[0]]
    pending: list[str] = []

    def reduce() -> None:
        right, left, operator = operands.pop(), operands.pop(), pending.pop()
        operands.append(ast.Binary(operator, left, right, left.span.to(right.span)))

    for token, operand in zip(parts[1::2], parts[2::2], strict=True):
        level = PRECEDENCE[token.value]
        while pending and level <= PRECEDENCE[pending[-1]]:
            if token.value in ORDERINGS and pending[-1] in ORDERINGS:
                found.append(errors.NotAssociative(span=operand.span))
            reduce()
        pending.append(token.value)
        operands.append(operand)
    while pending:
        reduce()
    found += [
        errors.OperatorAfterElse(token.value, span=operand.span)
        for operand, token in zip(parts[::2], parts[1::2], strict=False)
        if _ends_in_else(operand)
    ]
    return operands[0]


def _ends_in_else(expr: ast.Expr) -> bool:
    """Whether an operand is an `if` without parentheses whose last branch looks as if it went on."""
    if not isinstance(expr, ast.If) or expr.otherwise is None or expr.span.text().startswith("("):
        return False
    return not isinstance(expr.otherwise, ast.If | ast.Block) or _ends_in_else(expr.otherwise)
