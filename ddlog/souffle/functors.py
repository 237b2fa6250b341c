"""The functors of Soufflé: their types, and how each is written here.

A functor is a template (`ddlog/syntax/templates.py`): `$` stands for an argument, `{number}`, `{bits}` and
`{float}` for types here. A functor that needs more than an expression uses a function, which the program then
declares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .. import syntax
from ..errors.source import Source
from ..syntax.parser import parse_program

FUNCTIONS_NAME = "<functions of Soufflé>"  # of the source of each function that programs declare


@dataclass(frozen=True, slots=True)
class Functor:
    """The kinds of the arguments and of the result, and the template; `""` is any kind. `cast` says that the
    arguments are operands of a cast."""

    args: tuple[str, ...]
    result: str
    template: str
    cast: bool = False


_NUMBER, _UNSIGNED, _FLOAT, _SYMBOL = ("number",), ("unsigned",), ("float",), ("symbol",)

FUNCTORS = {
    "strlen": Functor(_SYMBOL, "number", "len($) as bit<{word}> as {number}"),
    "substr": Functor(("symbol", "number", "number"), "symbol", "substring($, $, $)"),
    "to_string": Functor(("",), "symbol", "to_string($)"),
    "itou": Functor(_NUMBER, "unsigned", "$ as {bits}", True),
    "utoi": Functor(_UNSIGNED, "number", "$ as {number}", True),
    "itof": Functor(_NUMBER, "float", "$ as {float}", True),
    "utof": Functor(_UNSIGNED, "float", "$ as {float}", True),
}

# The functions of real numbers, by the name that the library gives each.
REAL = {
    name: name
    for name in (
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        *("exp", "sqrt"),
    )
} | {"log": "ln"}
FUNCTORS |= {name: Functor(_FLOAT, "float", f"{short}_{{suffix}}($)") for name, short in REAL.items()}

# Conversions by the kind of their argument.
CONVERSIONS = {
    ("to_number", "number"): "$",
    ("to_number", "unsigned"): "$ as {number}",
    ("to_number", "symbol"): "number_of($)",
    ("to_unsigned", "unsigned"): "$",
    ("to_unsigned", "number"): "$ as {bits}",
    ("to_unsigned", "symbol"): "unsigned_of($)",
    ("to_number", "float"): "unwrap_or_default(int_from_{suffix}($)) as {number}",
    ("to_unsigned", "float"): "unwrap_or_default(int_from_{suffix}($)) as {number} as {bits}",
    ("to_float", "float"): "$",
    ("to_float", "number"): "$ as {float}",
    ("to_float", "unsigned"): "$ as {float}",
    ("to_float", "symbol"): "float_of($)",
    ("ord", "symbol"): "ordinal($)",
}
CONVERSIONS |= {
    ("ftoi", "float"): CONVERSIONS["to_number", "float"],
    ("ftou", "float"): CONVERSIONS["to_unsigned", "float"],
}
CONVERTED = {
    "to_number": "number",
    "to_unsigned": "unsigned",
    "to_float": "float",
    "ftoi": "number",
    "ftou": "unsigned",
    "ord": "number",
}

OPERATORS = {"+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "band": "&", "bor": "|", "bxor": "^"}
SHIFTS = {"bshl": "<<", "bshr": ">>"}
LOGICAL = {"land": "logical_and", "lor": "logical_or", "lxor": "logical_xor", "lnot": "logical_not"}

# Functions that a program declares when it uses them; those with `{type}` once for each type.
FUNCTIONS = {
    "substring": """\
function substring(s: string, start: {number}, length: {number}): string {{
    var from = start as {wide} as bit<64>;
    if (start < 0 or from > len(s)) ""
    else if (length < 0) substr(s, from, len(s))
    else substr(s, from, from + (length as {wide} as bit<64>))
}}""",
    "number_of": """\
// Stops where the text is no number.
function number_of(s: string): {number} {{
    var found = match (sql::integer_of(s)) {{
        Some{{var x}} -> if (x as {number} as bigint == x) Some{{x as {number}}} else None,
        None -> None
    }};
    sql::sure(found, s, "number of {word} bits")
}}""",
    "unsigned_of": """\
// Stops where the text is no number.
function unsigned_of(s: string): {bits} {{
    var found = match (sql::integer_of(s)) {{
        Some{{var x}} -> {{ var u = x as {number} as {bits}; if (u as bigint == x) Some{{u}} else None }},
        None -> None
    }};
    sql::sure(found, s, "unsigned number of {word} bits")
}}""",
    "float_of": """\
// Stops where the text is no number.
function float_of(s: string): {float} {{
    var found = match (parse_{suffix}(s)) {{
        Ok{{var x}} -> Some{{x}},
        Err{{_}} -> None
    }};
    sql::sure(found, s, "number")
}}""",
    "ordinal": """\
function ordinal(x: 'X): {number} {{
    (hash64(x) >> (65 - {word})) as {bits} as {number}
}}""",
    "row_number": """\
function row_number(row: 'Row): {number} {{
    (hash64(row) >> (65 - {word})) as {bits} as {number}
}}""",
    "numbered": """\
// The rows of a group, each with its number.
function numbered(rows: Group<'K, 'Row>): Vec<({number}, 'Row)> {{
    var result: Vec<({number}, 'Row)> = vec_empty();
    var number: {number} = 0;
    for ((row, _) in rows) {{
        result.push((number, row));
        number = number + 1
    }};
    result
}}""",
    "upward_or_down unsigned": """\
// The numbers from the first to the second, without the second.
function upward_or_down(from: {bits}, to: {bits}): Vec<{bits}> {{
    if (from <= to) range_vec(from, to, 1)
    else {{
        var numbers = range_vec(to + 1, from, 1);
        numbers.push(from);
        numbers
    }}
}}""",
    "power": """\
function power(base: {number}, exponent: {number}): {number} {{
    if (exponent >= 0) pow32(base, exponent as {distance})
    else if (base == 1 or base == -1) (if (exponent % 2 == 0) 1 else base)
    else 0
}}""",
    "power unsigned": """\
function power(base: {bits}, exponent: {bits}): {bits} {{
    pow32(base, exponent as {distance})
}}""",
}
for _name, _test in (
    ("and", "x != 0 and y != 0"),
    ("or", "x != 0 or y != 0"),
    ("xor", "(x != 0) != (y != 0)"),
):
    for _kind, _type in (("", "{number}"), (" unsigned", "{bits}")):
        FUNCTIONS[f"logical_{_name}{_kind}"] = (
            f"function logical_{_name}(x: {_type}, y: {_type}): {_type} {{{{ if ({_test}) 1 else 0 }}}}"
        )
for _kind, _type in (("", "{number}"), (" unsigned", "{bits}")):
    FUNCTIONS[f"logical_not{_kind}"] = (
        f"function logical_not(x: {_type}): {_type} {{{{ if (x == 0) 1 else 0 }}}}"
    )


for _kind, _type in (("", "{number}"), (" unsigned", "{bits}"), (" float", "{float}")):
    FUNCTIONS[f"in_steps{_kind}"] = f"""\
// A step of 0 gives the first number.
function in_steps(from: {_type}, to: {_type}, step: {_type}): Vec<{_type}> {{{{
    if (step != 0) range_vec(from, to, step) else if (from != to) [from] else vec_empty()
}}}}"""


FUNCTION_NAMES = {name.partition(" ")[0] for name in FUNCTIONS}
# The functions that rules call: a variable of such a name would hide them.
CALLED = FUNCTION_NAMES | set(
    """
    len max min to_string deref ref_new range_vec string_contains string_starts_with string_ends_with
    regex regex_match unwrap_or_default int_from_f int_from_d powf_f powf_d hash64 parse_f parse_d
    """.split()  # noqa: SIM905
)
CALLED |= {f"{short}_{suffix}" for short in REAL.values() for suffix in "fd"}


def words(word: int) -> dict[str, str]:
    """The types here that texts of functors name."""
    return {
        "number": f"signed<{word}>",
        "bits": f"bit<{word}>",
        "float": "double" if word == 64 else "float",
        "wide": "signed<64>",
        "suffix": "d" if word == 64 else "f",
        "distance": "bit<32>" if word == 32 else "bit<64> as bit<32>",
        "word": str(word),
    }


@cache
def function(name: str, word: int) -> syntax.Declaration:
    """The declaration of a function that a program uses."""
    text = FUNCTIONS[name].format_map(words(word))
    parsed, wrong = parse_program(Source(FUNCTIONS_NAME, text))
    (declaration,) = parsed.declarations
    assert not wrong, text
    return declaration
