"""The error for a token that does not fit: the expected tokens, and a guess at the intended text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..errors import syntax as errors
from ..errors.diagnostics import Diagnostic, Note
from ..errors.nearest import meant, nearest
from .brackets import BRACKETS, CLOSING, PlacedBracket, open_bracket
from .foreign import hint
from .lexer import RESERVED, Places, Token
from .tables import ParseTables

# A phrase, and tokens that begin it: if all of them are possible, the error names the phrase instead.
_PHRASES = (
    ("a declaration or a rule", {"typedef", "function", "UPPER"}),
    ("a statement", {"skip", "for", "match"}),
    ("a clause", {"Inspect", "LOWER", "INTEGER"}),
    ("an expression", {"LOWER", "INTEGER", "UPPER", "QUOTED"}),
    ("a type", {"bit", "LOWER", "TYPEVAR"}),
    ("a name", {"LOWER", "UPPER"}),
)

_NAMES = {
    "LOWER": "a name that begins with a small letter",
    "UPPER": "a name that begins with a capital letter",
    "TYPEVAR": "a type variable such as `'A`",
    "MEMBER": "`.name`",
    "ITEM": "`.0`",
    "INTEGER": "an integer",
}

_AFTER_OPERAND = {
    "%",
    "*",
    "/",
    "+",
    "<<",
    "++",
    "==",
    "!=",
    "<",
    ">",
    "=",
    "and",
    "or",
    "=>",
    "?",
    "as",
    "MEMBER",
}

_CLOSING = (")", "]", "}", ">", ",", ";", "=", ":-", "->", ".", "else")

_RULE_SIGNS = ("=", ":", "<", "<=", "->", "=>")

_CONDITIONAL = ("if", "match")

_AFTER_NAME = (":", "=", ",", ")", "(", "]", "}", ";", "in", "@", ".")


def diagnose(
    tables: ParseTables, states: list[int], tokens: list[Token], first: int, at: int, places: Places
) -> Diagnostic:
    """The error of the token `at` in the states of an automaton that cannot take it, and that began with the
    token `first`."""
    token = tokens[at]
    unclosed = open_bracket(_brackets(tokens[first:at], places))
    if token.kind == "$END" and unclosed is not None:
        return unclosed.error()
    span = places.span(token.start, token.end)
    texts = {terminal: text.removesuffix(" name") for text, terminal in tables.words.items()}
    fitting = {texts.get(kind, kind) for kind in tables.fitting(states)}
    after = tokens[at + 1].value if at + 1 < len(tokens) else ""
    meant = (
        _condition(tokens, at)
        or _loop(tokens, at)
        or _folder(tokens, at)
        or hint(_texts(tokens, at, places), tokens[at - 1].value if at else "", token.value, fitting)
    )
    if (
        not (meant and "INTEGER" in fitting and (after in "({" or token.value in _AFTER_OPERAND))
        and "LOWER" in fitting
        and token.kind not in ("QUOTED", "TEXT")
        and token.value in RESERVED
        and after in _AFTER_NAME
    ):
        return errors.ReservedWord(token.value, span=span)
    is_misplaced = token.value in _NOT_IN_LOOPS and meant
    if (
        at
        and "." in fitting
        and "$END" not in fitting
        and _begins_anew(tokens, at, places)
        and not is_misplaced
    ):
        end = tokens[at - 1].end
        return errors.MissingPeriod(span=places.span(end, end))
    if token.value in _RULE_SIGNS and ":-" in fitting:
        return errors.EqualsInHead(token.value, span=span)
    found = "end of the text" if token.kind == "$END" else f"`{places.source.text[token.start : token.end]}`"
    help_ = meant or _help(tokens, at, after, fitting)
    notes: tuple[Note, ...] = ()
    if (
        unclosed is not None
        and CLOSING[unclosed.opened.mark] in fitting
        and _ends_brackets(tokens, at, places)
    ):
        notes = unclosed.places()
    return errors.Unexpected(found, _wanted(fitting), span=span, help=help_, notes=notes)


def _brackets(tokens: list[Token], places: Places) -> Iterator[PlacedBracket]:
    """The brackets among tokens; `${` of a text is one, too."""
    for token in tokens:
        if token.kind == "_OPEN_SPLICE" or (token.value in BRACKETS and token.kind not in ("QUOTED", "TEXT")):
            mark = "{" if token.kind == "_OPEN_SPLICE" else token.value
            yield PlacedBracket(mark, places.span(token.start, token.end))


def _ends_brackets(tokens: list[Token], at: int, places: Places) -> bool:
    """Whether a token is one with which all that stands in brackets is over."""
    token = tokens[at]
    ends = token.value in (*CLOSING.values(), ":-", ".", "else", ";")
    return token.kind not in ("QUOTED", "TEXT") and (ends or _begins_anew(tokens, at, places))


def _condition(tokens: list[Token], at: int) -> str:
    """The help for a condition that needs parentheses around it: it begins with one, or holds `C{...}`."""
    operator = tokens[at].value in _AFTER_OPERAND or tokens[at].kind in _AFTER_OPERAND
    if operator and at and tokens[at - 1].value == ")":
        word = tokens[_opening(tokens, at - 1) - 1].value
        if word in _CONDITIONAL:
            return f"the whole condition stands in parentheses: `{word} (...)`"
    brace = _opening(tokens, at - 1 if at and tokens[at - 1].value == "}" else at)
    if brace > 0 and tokens[brace - 1].kind == "UPPER":
        for token in reversed(tokens[: brace - 1]):
            if token.value in _CONDITIONAL:
                return (
                    f"a condition with `{tokens[brace - 1].value}{{...}}` in it stands in parentheses: "
                    f"`{token.value} (...)`"
                )
            if token.value in ("{", "}", "(", ";", ",", "->", "=", "else"):
                break
    return ""


_ENDS = "a loop is `loop Name rounds N { .. }`, `loop Name until empty(R) { .. }` or `loop Name { .. }`"
_NOT_IN_LOOPS = ("typedef", "function", "index", "apply", "extern", "import")


def _folder(tokens: list[Token], at: int) -> str:
    """A help for the name of a module in a folder that is written with periods."""
    path = [each.value for each in tokens[max(at - 1, 0) : at + 1]]
    is_import = at > 1 and tokens[at - 2].value == "import" and tokens[at].kind == "MEMBER"
    return f"a module in a folder is imported by `import {path[0]}::{path[1]}`" if is_import else ""


def _loop(tokens: list[Token], at: int) -> str:
    """The help for the head of a loop, and for a declaration that has no place in one."""
    texts = [token.value for token in tokens[max(0, at - 6) : at]]
    if "loop" in texts:
        after = texts[texts.index("loop") + 1 :]
        if not {"{", "}", ".", ":-"} & {*after} and after[:1] != ["in"]:
            return _ENDS
    if tokens[at].value in ("while", "iterate") and at + 1 < len(tokens) and tokens[at + 1].kind == "UPPER":
        return _ENDS
    if tokens[at].value in _NOT_IN_LOOPS and _is_in_loop(tokens, at):
        return f"a loop holds relations, rules and loops: `{tokens[at].value}` stands outside of it"
    return ""


def _is_in_loop(tokens: list[Token], at: int) -> bool:
    """Whether the innermost open brace is that of a loop."""
    brace = _opening(tokens, at)
    head = [token.value for token in tokens[max(0, brace - 9) : brace]]
    return tokens[brace].value == "{" and "loop" in head


def _opening(tokens: list[Token], at: int) -> int:
    """The bracket that the token closes, or else the innermost that is open there; 0 for none."""
    depth = 0 if tokens[at].value in (")", "}", "]") else 1
    for i in range(at - (depth > 0), 0, -1):
        depth += (tokens[i].value in (")", "}", "]")) - (tokens[i].value in ("(", "{", "["))
        if depth == 0:
            return i
    return 0


def _texts(tokens: list[Token], at: int, places: Places) -> list[str]:
    """The text of the token, and of it and the one before with whatever touches them."""
    text = places.source.text
    found = [text[tokens[at].start : tokens[at].end]]
    for last in (at, at - 1, at - 2, at + 1):
        for first in (last - 1, last - 2):
            run = tokens[first : last + 1] if first >= 0 and last < len(tokens) else []
            if run and all(one.end == other.start for one, other in pairwise(run)):
                found.append(text[run[0].start : run[-1].end])
    return found


def _begins_anew(tokens: list[Token], at: int, places: Places) -> bool:
    """Whether the token seems to begin the next declaration, or is the end of the text."""
    between = places.source.text[tokens[at - 1].end : tokens[at].start]
    return tokens[at].kind == "$END" or ("\n" in between and tokens[at].value[:1].isalpha())


def _wanted(fitting: set[str]) -> str:
    for phrase, beginnings in _PHRASES:
        if beginnings <= fitting:
            return phrase
    if len(fitting & _AFTER_OPERAND) > 5:
        known = [text for text in _CLOSING if text in fitting - _AFTER_OPERAND]
    else:
        known = [text for text in _CLOSING if text in fitting]
        known += sorted(fitting - {*known, "$END", "#"})
    shown = [_NAMES.get(text, f"`{text}`") for text in known][:6]
    return " or ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else "".join(shown)


def _help(tokens: list[Token], at: int, after: str, fitting: set[str]) -> str:
    token = tokens[at]
    capital = token.kind == "LOWER" and "UPPER" in fitting and "LOWER" not in fitting
    if capital and after == "(":
        return "names of relations begin with a capital letter"
    words = {text for text in fitting if text.isalpha() and text.islower()}
    if token.kind in ("LOWER", "UPPER") and (word := nearest(token.value, words)):
        return meant(word)
    if capital:
        return "names of relations, constructors and indexes begin with a capital letter"
    if token.kind == "UPPER" and "LOWER" in fitting and "UPPER" not in fitting:
        return "names of variables, functions and fields begin with a small letter"
    before = tokens[at - 1] if at else token
    if token.value == ":" and before.kind == "UPPER":
        return "names of fields and variables begin with a small letter"
    if token.value in ("input", "output") and before.value in ("relation", "stream", "multiset"):
        return f"`{token.value}` stands before `{before.value}`"
    if token.value == "{" and before.value == "=":
        return "fields stand after the name of a constructor: `typedef T = T{field: type, ...}`"
    if (
        token.value == "."
        and any(each.value == "if" for each in tokens[max(0, at - 12) : at])
        and "," not in fitting
    ):
        return "a condition of a rule is a clause without `if`"
    if before.value.endswith("key") and fitting == {"("}:
        return "a primary key is a function of the row: `primary key (x) x.id`"
    if token.value == "on" and "(" in fitting:
        return "an index has variables: `index I(x: T) on R(x, _)`"
    if token.value == "_" and "LOWER" in fitting:
        return "a name stands here; that of a value that is not used begins with `_`, as `_x` does"
    if token.value in ("and", "&", "or", "|") and {".", ","} <= fitting:
        return "the clauses of a rule are separated by commas; several rules of one relation mean `or`"
    if at > 1 and token.value == "(" and tokens[at - 1].kind == "UPPER" and tokens[at - 2].value == "not":
        return "a negated relation is a clause of a rule: `A(x) :- B(x), not C(x).`"
    if at > 2 and tokens[at - 3].value == "as" and tokens[at - 1].value == "<":
        return "`<` after a type begins its arguments; to compare, write `(x as T) < y`"
    return ""
