"""Types as text."""

from __future__ import annotations

from ... import syntax as ast


def type_text(of: ast.Type) -> str:
    """A type as it is written."""
    match of:
        case ast.NamedType(name, args):
            return f"{name}<{', '.join(map(type_text, args))}>" if args else name
        case ast.IntType(width, signed):
            return f"{'signed' if signed else 'bit'}<{width}>"
        case ast.TupleType(items):
            return f"({', '.join(map(type_text, items))})"
        case ast.VarType(name):
            return f"'{name}"
        case ast.RelationType(kind, element):
            return f"{kind}[{type_text(element)}]"
        case ast.FunctionType(parameters, mutable, result):
            shown = (f"{'mut ' * mut}{type_text(p)}" for p, mut in zip(parameters, mutable, strict=True))
            return f"function({', '.join(shown)}){result_text(result)}"


def result_text(result: ast.Type | None) -> str:
    """The type of a result after the parameters."""
    return "" if result is None else f": {type_text(result)}"
