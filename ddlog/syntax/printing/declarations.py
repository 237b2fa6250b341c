"""Declarations, rules and modules as text, a line each. `ddlog/formatting/` lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ... import syntax as ast
from .expressions import POSTFIX, PREFIX, VALUE, arguments_text, braced, expression_text
from .types import result_text, type_text


def module_text(module: ast.Module) -> str:
    """The declarations of a module; kinds of declarations, and rules with other heads, are paragraphs."""
    text, before = "", ""
    for each in module.declarations:
        kind = _paragraph(each)
        text += "" if not text else "\n" if kind and kind == before else "\n\n"
        text, before = text + declaration_text(each), kind
    return f"{text}\n"


def _paragraph(declaration: ast.Declaration) -> str:
    """Neighbours with the same are one paragraph; empty: the declaration is a paragraph of its own."""
    match declaration:
        case ast.RuleDecl(heads):
            return f"rules {', '.join(each.relation for each in heads)}"
        case ast.FunctionDecl(body=body) if body is not None:
            return ""
        case ast.AliasDecl() | ast.TypeDecl():
            return "types"
    return type(declaration).__name__


def declaration_text(declaration: ast.Declaration) -> str:
    """A declaration with its attributes."""
    attributes = "" if isinstance(declaration, ast.ImportDecl) else _attributes(declaration.attributes)
    return f"{attributes}{' ' if attributes else ''}{_text(declaration)}"


def _attributes(attributes: Iterable[ast.Attribute]) -> str:
    shown = ", ".join(
        each.name if each.value is None else f"{each.name} = {expression_text(each.value)}"
        for each in attributes
    )
    return f"#[{shown}]" if shown else ""


def _text(declaration: ast.Declaration) -> str:
    match declaration:
        case ast.ImportDecl(module, alias):
            return f"import {module}{f' as {alias}' if alias else ''}"
        case ast.AliasDecl(name, parameters, of):
            return f"typedef {name}{_parameters(parameters)} = {type_text(of)}"
        case ast.TypeDecl(name, parameters, constructors):
            return _typedef(f"typedef {name}{_parameters(parameters)} =", constructors)
        case ast.ExternTypeDecl(name, parameters):
            return f"extern type {name}{_parameters(parameters)}"
        case ast.FunctionDecl():
            return _function(declaration)
        case ast.TransformerDecl(name, inputs, outputs):
            return f"extern transformer {name}({_fields(inputs)}) -> ({_fields(outputs)})"
        case ast.ApplyDecl(name, inputs, outputs):
            given = ", ".join(each if isinstance(each, str) else expression_text(each) for each in inputs)
            return f"apply {name}({given}) -> ({', '.join(outputs)})"
        case ast.RelationDecl():
            return _relation(declaration)
        case ast.IndexDecl(name, fields, atom):
            return f"index {name}({_fields(fields)}) on {atom_text(atom)}"
        case ast.RuleDecl():
            return f"{'initial ' * declaration.initial}{_rule(declaration.heads, declaration.body)}"
        case ast.ForDecl(statement):
            return _statement(statement)
        case ast.LoopDecl():
            return _loop(declaration)


def _parameters(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{each}" for each in names)
    return f"<{shown}>" if names else ""


def _fields(fields: Iterable[ast.Field]) -> str:
    return ", ".join(map(_field, fields))


def _field(field: ast.Field) -> str:
    if field.name.isdigit():
        return type_text(field.type)
    attributes = _attributes(field.attributes)
    return f"{attributes}{' ' if attributes else ''}{field.name}: {type_text(field.type)}"


def _typedef(heading: str, constructors: Sequence[ast.ConstructorDecl]) -> str:
    shown = [_constructor(each, len(constructors) == 1) for each in constructors]
    return f"{heading} {' | '.join(shown)}"


def _constructor(each: ast.ConstructorDecl, alone: bool) -> str:
    attributes = _attributes(each.attributes)
    braces = f"{{{_fields(each.fields)}}}" if each.fields or alone else ""
    return f"{attributes}{' ' if attributes else ''}{each.name}{braces}"


def _function(function: ast.FunctionDecl) -> str:
    given = ", ".join(map(_parameter, function.parameters))
    heading = f"function {function.name}({given}){result_text(function.result)}"
    match function.body:
        case None:
            return f"extern {heading}"
        case ast.Block() as body:
            return f"{heading} {expression_text(body)}"
    return f"{heading} = {expression_text(function.body)}"


def _parameter(parameter: ast.Parameter) -> str:
    attributes = _attributes(parameter.attributes)
    shown = f"{parameter.name}: {'mut ' * parameter.mutable}{type_text(parameter.type)}"
    return f"{attributes}{' ' if attributes else ''}{shown}"


def _relation(relation: ast.RelationDecl) -> str:
    role = "" if relation.role == "internal" else f"{relation.role} "
    of = f"[{type_text(relation.element)}]" if relation.element else f"({_fields(relation.fields or ())})"
    key = ""
    if relation.key is not None:
        key = f" primary key ({relation.key.variable}) {expression_text(relation.key.value)}"
    return f"{role}{relation.kind} {'&' * relation.by_ref}{relation.name}{of}{key}"


def _loop(loop: ast.LoopDecl) -> str:
    ends = [] if loop.rounds is None else [f"rounds {loop.rounds}"]
    if loop.empty is not None:
        ends.append(f"until empty({loop.empty})")
    elif loop.rounds is None and loop.empty_span is not None:
        ends.append("until unchanged")
    ends += [] if loop.most is None else [f"limit {loop.most}"]
    return f"{' '.join(['loop', loop.name, *ends])} {braced(map(declaration_text, loop.declarations), '')}"


def _rule(heads: Iterable[ast.Atom], body: Iterable[ast.Clause]) -> str:
    head, clauses = ", ".join(map(atom_text, heads)), [*map(_clause, body)]
    return f"{head} :- {', '.join(clauses)}." if clauses else f"{head}."


def _clause(clause: ast.Clause) -> str:
    match clause:
        case ast.Atom():
            return atom_text(clause)
        case ast.Condition(expr):
            return expression_text(expr)
        case ast.Inspect(expr):
            return f"Inspect {expression_text(expr)}"


def atom_text(atom: ast.Atom) -> str:
    """A term of a rule, or a head."""
    args = "" if atom.args is None else f"({arguments_text(atom.args)})"
    element = "" if atom.element is None else f"[{expression_text(atom.element)}]"
    delay = "" if atom.delay is None else f"-{atom.delay}"
    name = f"{'&' * atom.by_ref}{atom.relation}{chr(39) * atom.differentiated}{delay}"
    before = f"{'not ' * atom.negated}{f'{atom.binder} in ' if atom.binder else ''}"
    location = "" if atom.location is None else f" @ {expression_text(atom.location)}"
    return f"{before}{name}{args}{element}{location}"


def _statement(statement: ast.Statement) -> str:
    match statement:
        case ast.ForStatement(pattern, atom, condition, body):
            before = "" if pattern is None else f"{expression_text(pattern, VALUE)} in "
            test = "" if condition is None else f" if {expression_text(condition)}"
            return f"for ({before}{atom_text(atom)}{test}) {_statement(body)}"
        case ast.IfStatement(condition, then, otherwise):
            heading = f"if ({expression_text(condition)})"
            if otherwise is None:
                return f"{heading} {_statement(then)}"
            return f"{heading} {_enclosed(then)} else {_statement(otherwise)}"
        case ast.MatchStatement(arg, arms):
            given = [f"{expression_text(p, VALUE)} -> {_statement(s)}" for p, s in arms]
            return f"match ({expression_text(arg)}) {braced(given, ',')}"
        case ast.LetStatement(pattern, value, body):
            target = pattern
            shown = expression_text(target, POSTFIX)
            if isinstance(target, ast.TypedExpr):
                shown = f"{expression_text(target.arg, PREFIX)}: {type_text(target.type)}"
            return f"{shown} = {expression_text(value)} in {_statement(body)}"
        case ast.InsertStatement(atom):
            return atom_text(atom)
        case ast.BlockStatement(()):
            return "skip"
        case ast.BlockStatement(items):
            return braced(map(_statement, items), ";")


def _enclosed(statement: ast.Statement) -> str:
    """A statement before `else`; in braces if it would take the `else` for its own."""
    block = ast.BlockStatement((statement,), statement.span)
    return _statement(block if _is_open(statement) else statement)


def _is_open(statement: ast.Statement) -> bool:
    match statement:
        case ast.IfStatement(_, _, otherwise):
            return otherwise is None or _is_open(otherwise)
        case ast.ForStatement(body=body) | ast.LetStatement(body=body):
            return _is_open(body)
    return False
