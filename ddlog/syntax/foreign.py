"""Words and spellings of other languages: hints for texts that do not parse, and for unknown names."""

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
    "--": "a comment begins with `//`",
    "AND": "the clauses of a rule are separated by commas; inside a condition `and` is written small",
    "OR": "inside a condition `or` is written small; several rules of one relation mean `or`, too",
    "&&": "the clauses of a rule are separated by commas; inside a condition `&&` is written `and`",
    **dict.fromkeys(("is", "IS"), "an Option is tested by `is_none(x)` and `is_some(x)`"),
    "?": "only in the REPL a query has `?` before it",
    **dict.fromkeys(("WHERE", "where"), "conditions follow the relations, after a comma"),
    **dict.fromkeys(("module", "package"), "a module is a file: `import m` reads `m.dl`"),
    "SELECT": "SQL stands in a file that ends in `.sql`; the REPL takes statements, and so does `--updates`",
    "..": "a pattern leaves out the fields that it does not name: `C{.f = x}`, or `C{}`",
    ".decl": "a relation is `relation R(x: T)`, with `input` or `output` before it",
}
_FOR_OPERANDS = ("<>", "===", "!==", "+=", "-=", "[]", "'", "..")  # only where an expression should stand
_HEADINGS = ("if", "match", "for")
_WHOLE = "write `s64`, another width such as `s32`, or `bigint` for any size"
_DAY = "it is in a module of the library"
_ABSENT = "an absent value is `None`, of a type `Option<T>`"

_WORDS_OF_TYPES = {
    **dict.fromkeys(("int", "Int", "integer", "long", "i64", "int64", "number"), _WHOLE),
    **{f"i{width}": f"write `s{width}`" for width in (8, 16, 32, 128)},
    **{f"int{width}": f"write `s{width}`" for width in (8, 16, 32)},
    **{f"uint{width}": f"write `u{width}`" for width in (8, 16, 32, 64)},
    **dict.fromkeys(("uint", "unsigned", "usize", "nat"), "write `u64`, or another width such as `u32`"),
    **dict.fromkeys(("text", "Text", "str", "String", "varchar", "char", "symbol"), "write `string`"),
    **dict.fromkeys(("boolean", "Boolean", "Bool"), "write `bool`"),
    **dict.fromkeys(("real", "f64", "float64", "numeric"), "write `double`"),
    **dict.fromkeys(("f32", "float32"), "write `float`"),
    **dict.fromkeys(("date", "Date"), f"{_DAY}: `import time`, and `time::Date`"),
    **dict.fromkeys(("datetime", "DateTime", "timestamp"), f"{_DAY}: `import time`, and `time::DateTime`"),
    **dict.fromkeys(("uuid", "UUID"), f"{_DAY}: `import uuid`, and `uuid::Uuid`"),
    **dict.fromkeys(("list", "List", "array", "Array", "vector", "vec"), "write `Vec<T>`"),
    **dict.fromkeys(("dict", "Dict", "map", "HashMap"), "write `Map<K, V>`"),
    **dict.fromkeys(("set", "HashSet"), "write `Set<T>`"),
    **dict.fromkeys(("optional", "Optional", "Maybe", "option", "nullable"), "write `Option<T>`"),
    **dict.fromkeys(("tuple", "Tuple"), "write `(A, B)`"),
}
GROUPED = "values are counted and summed up in a group: `var n = x.group_by(key).count()` in the body"
"""The text of an aggregate that other languages write around a value."""

_WORDS_OF_VALUES = {
    **dict.fromkeys(("True", "TRUE"), "write `true`"),
    **dict.fromkeys(("False", "FALSE"), "write `false`"),
    **dict.fromkeys(("null", "NULL", "Null", "nil", "none", "undefined", "Nothing"), _ABSENT),
    "Just": "a present value is `Some{x}`",
    **dict.fromkeys(("COUNT", "SUM", "MIN", "MAX", "AVG"), GROUPED),
}
_WORDS_OF_FUNCTIONS = {
    **{
        f"group_{each}": f"for a group `g` write `g.{each}()`: `var n = x.group_by(key).{each}()` in the body"
        for each in ("sum", "count", "avg")
    },
    **{  # names in early programs of DDlog
        f"{of}2{to}": f"write `{of}_to_{to}`"
        for of, to in (("group", "set"), ("group", "vec"), ("group", "map"), ("vec", "set"), ("set", "vec"))
    },
    **dict.fromkeys(("total", "average", "avg", "mean"), GROUPED),
    **dict.fromkeys(("length", "size"), "the length of a string is `string_len(s)`, of a vector `v.len()`"),
    **dict.fromkeys(
        ("concat", "cat", "strcat"), 'strings are joined by `++`, or in a text: `"${a} and ${b}"`'
    ),
    **dict.fromkeys(("str", "toString", "itoa"), 'write `to_string(x)`, or in a text `"${x}"`'),
    **dict.fromkeys(("upper", "lower"), "write `string_to_uppercase(s)` or `string_to_lowercase(s)`"),
    **dict.fromkeys(("substr", "substring"), "write `string_substr(s, start, end)`"),
}


def type_hint(name: str) -> str:
    """The type that a word of another language means; empty for other names."""
    return _WORDS_OF_TYPES.get(name, "")


def value_hint(name: str) -> str:
    """The value that a word of another language means; empty for other names."""
    return _WORDS_OF_VALUES.get(name, "")


def function_hint(name: str) -> str:
    """The function that a word of another language means; empty for other names."""
    return _WORDS_OF_FUNCTIONS.get(name, "")


def hint(texts: Iterable[str], before: str, token: str, fitting: Collection[str]) -> str:
    """A help for a construct of another language; empty for none.

    `texts` are the text at the error: the token alone and with its neighbours. `before` is the previous
    token, `fitting` are the tokens that the grammar allows.
    """
    if before in _HEADINGS and token == "{":
        return f"`{before}` needs a condition: `{before} (...)`"
    if before == "NOT":
        return "`not` is written small"
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
    if token == "in" and {".", ","} <= set(fitting):
        return "the elements of a collection are `var x = FlatMap(collection)`"
    if before in ("SELECT", "select", "FROM"):
        return _SPELLINGS["SELECT"]
    if before == "#" and "[" in fitting:
        return _SPELLINGS["#"]
    if token == "->" and {":", "{"} <= set(fitting):
        return "the type of the result is written `: R`"
    if token in ("AND", "&") and {".", ","} <= set(fitting):
        return _SPELLINGS["AND" if token == "AND" else "&&"]
    if token == ";" and {".", ","} <= set(fitting):
        return "the clauses of a rule are separated by commas"
    if token == "=" and ({".", ","} <= set(fitting) or {"==", "{"} <= set(fitting)):
        return "to compare, write `==`"
    operand = "QUOTED" in fitting
    known = [text for text in texts if text in _SPELLINGS and (operand or text not in _FOR_OPERANDS)]
    return _SPELLINGS[known[0]] if known else ""
