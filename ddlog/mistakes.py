"""What to say about a token that does not fit: what was expected there, and what was probably meant."""

from __future__ import annotations

from .diagnostics import Diagnostic
from .errors import syntax as errors
from .lexer import RESERVED, Places, Token
from .nearest import nearest
from .tables import Tables

# Phrases by the terminals that can begin them: the first whose terminals are all possible is named,
# and its terminals are not listed.
_PHRASES = (
    ("a declaration or a rule", ("typedef", "function", "UPPER")),
    ("an expression", ("LOWER", "INTEGER", "UPPER", "STRING")),
    ("a type", ("bit", "LOWER", "TYPEVAR")),
)

_NAMES = {
    "LOWER": "a name that begins with a small letter",
    "UPPER": "a name that begins with a capital letter",
    "TYPEVAR": "a type variable such as `'A`",
    "MEMBER": "`.name`",
    "ITEM": "`.0`",
    "INTEGER": "an integer",
    "_PERIOD": "`.`",
    "$END": "the end",
}

_CONTINUATIONS = frozenset(
    ["%", "*", "/", "+", "-", "<<", "++", "==", "!=", "<", "<=", ">=", "&", "^", "|", "and", "or", "=>", "?", "as", "MEMBER", "ITEM", "[", "(", "@", ":", "{", "'", "STRING", "_OPEN_STRING"]
)
_PREFERRED = (")", "]", "}", ">", ",", ";", "=", ":-", "->", "_PERIOD")


def diagnose(tables: Tables, states: list[int], tokens: list[Token], at: int, places: Places) -> Diagnostic:
    """The error of a token in the states of the automaton that cannot take it."""
    token = tokens[at]
    texts = {terminal: text for text, terminal in tables.words.items()}
    fitting = {texts.get(kind, kind) for kind in tables.moves[states[-1]] if _fits(tables, states, kind)}
    span = places.span(token.start, token.end)
    before = tokens[at - 1] if at else None
    reserved = token.value in RESERVED and token.kind not in ("STRING", "TEXT")
    if "LOWER" in fitting and reserved and _is_name_place(tokens, at):
        return errors.ReservedWord(token.value, span=span)
    if (
        before is not None
        and "_PERIOD" in fitting
        and "," in fitting
        and _begins_declaration(tokens, at, places)
    ):
        return errors.MissingPeriod(span=places.span(before.end, before.end))
    if token.value == "=" and ":-" in fitting:
        return errors.EqualsInHead(span=span)
    found = (
        "the end of the text" if token.kind == "$END" else f"`{places.source.text[token.start : token.end]}`"
    )
    return errors.Unexpected(found, _wanted(fitting), span=span, help=_help(token, fitting))


def _fits(tables: Tables, states: list[int], kind: str) -> bool:
    """Whether the automaton would take a token of the kind, after the reductions that it asks for."""
    states = list(states)
    while True:
        move = tables.moves[states[-1]].get(kind)
        if move is None:
            return kind == "$END" and states[-1] in tables.ends.values()
        if move >= 0:
            return True
        production = tables.productions[~move]
        if production.length:
            del states[-production.length :]
        states.append(tables.moves[states[-1]][production.origin])


def _is_name_place(tokens: list[Token], at: int) -> bool:
    """Whether the reserved word is used as a name: a sign and not an operand follows it."""
    after = tokens[at + 1].value if at + 1 < len(tokens) else ""
    return after in (":", "=", ",", ")", "(", "]", "}", ";", "in", "@", ".")


def _begins_declaration(tokens: list[Token], at: int, places: Places) -> bool:
    between = places.source.text[tokens[at - 1].end : tokens[at].start]
    return tokens[at].kind == "$END" or (
        "\n" in between and tokens[at].value != ")" and tokens[at].value[:1].isalpha()
    )


def _wanted(fitting: set[str]) -> str:
    for phrase, terminals in _PHRASES:
        if fitting.issuperset(terminals):
            return phrase
    known = [text for text in _PREFERRED if text in fitting]
    if len(fitting & _CONTINUATIONS) < 4:
        known += sorted(fitting - set(known) - {"$END"})
    shown = [_NAMES.get(text, f"`{text}`") for text in known][:6]
    return " or ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else "".join(shown)


def _help(token: Token, fitting: set[str]) -> str:
    words = {text for text in fitting if text.isalpha() and text.islower()}
    if token.kind in ("LOWER", "UPPER") and (word := nearest(token.value, words)):
        return f"did you mean `{word}`?"
    if token.kind == "LOWER" and "UPPER" in fitting and "LOWER" not in fitting:
        return "names of relations, constructors and indexes begin with a capital letter"
    if token.kind == "UPPER" and "LOWER" in fitting and "UPPER" not in fitting:
        return "names of variables, functions and fields begin with a small letter"
    return ""
