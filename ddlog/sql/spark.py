"""Spark's SQL: its parser, its types, and what its operators and functions mean.

Functions that mean the same as DuckDB's are read into the same nodes; all others stay calls by their names,
which tables translate. Integers and decimals have no bounds here, where ANSI mode would fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sqlglot import Dialect
from sqlglot import expressions as sql

from . import conversions as c
from . import nested
from . import sparknumbers as numbers
from .calls import call
from .dialects import SqlDialect
from .functions import FUNCTIONS as USUAL
from .readers import DuckReader, whole
from .scalars import TYPES, Translate
from .sparkcasts import cast
from .sparkchoices import CHOICES
from .sparkdates import DATES, extracted
from .sparklists import LISTS, at
from .sparktexts import TEXTS, like, rlike
from .textfunctions import joined, substring
from .types import INTEGER, TIMESTAMP, VARCHAR, decimal

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_BASE = Dialect.get_or_raise("spark")

ALIKE = (
    "ABS", "ACOS", "ARRAY", "ARRAY_MAX", "ARRAY_MIN", "ARRAY_SORT", "ASIN", "ATAN", "ATAN2", "CBRT",
    "CHARACTER_LENGTH", "CHAR_LENGTH", "COALESCE", "CONCAT_WS", "CONTAINS", "COS", "COSH", "DEGREES",
    "ENDSWITH", "EXP", "FILTER", "GREATEST", "IF", "IFNULL", "LCASE", "LEAST", "LEN", "LENGTH",
    "LEVENSHTEIN", "LOWER", "LPAD", "LTRIM", "MAP", "MAP_FROM_ARRAYS",
    "MAP_KEYS", "MD5", "NAMED_STRUCT", "NULLIF", "NVL", "PI", "POW", "POWER", "RADIANS",
    "REPEAT", "RPAD", "RTRIM", "SIN", "SINH", "SORT_ARRAY", "SPLIT_PART", "SQRT", "STARTSWITH", "STRUCT",
    "TAN", "TANH", "TRANSFORM", "TRANSLATE", "UCASE", "UPPER",
)  # fmt: skip
"""Functions that mean the same as those of DuckDB that the parser reads them as."""

WORDS = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTR", "SUBSTRING", "TRIM", "TRY_CAST")
"""Functions whose arguments words may stand between."""

_AS_NODES = {
    "ANY_VALUE": sql.AnyValue, "AVG": sql.Avg, "BIT_AND": sql.BitwiseAndAgg, "BIT_OR": sql.BitwiseOrAgg,
    "BIT_XOR": sql.BitwiseXorAgg, "BOOL_AND": sql.LogicalAnd, "BOOL_OR": sql.LogicalOr, "COUNT_IF":
    sql.CountIf, "EVERY": sql.LogicalAnd, "MAX": sql.Max, "MEAN": sql.Avg, "MEDIAN": sql.Median, "MIN":
    sql.Min, "MODE": sql.Mode, "SOME": sql.LogicalOr, "STD": sql.Stddev, "STDDEV": sql.Stddev,
    "STDDEV_POP": sql.StddevPop, "STDDEV_SAMP": sql.StddevSamp, "SUM": sql.Sum, "VARIANCE": sql.Variance,
    "VAR_POP": sql.VariancePop, "VAR_SAMP": sql.Variance,
}  # fmt: skip
_AS_READ = (
    "APPROX_COUNT_DISTINCT", "ARRAY_AGG", "COLLECT_LIST", "COUNT", "COVAR_POP", "COVAR_SAMP", "FIRST",
    "GROUPING", "GROUPING_ID", "LAST", "LISTAGG", "MAX_BY", "MIN_BY", "PERCENTILE_CONT", "PERCENTILE_DISC",
    "STRING_AGG",
)  # fmt: skip
AGGREGATES = (*_AS_NODES, *_AS_READ, "APPROX_PERCENTILE", "COLLECT_SET", "PERCENTILE", "PERCENTILE_APPROX")
"""Aggregates."""

WINDOWS = (
    "CUME_DIST", "DENSE_RANK", "FIRST_VALUE", "LAG", "LAST_VALUE", "LEAD", "NTH_VALUE", "NTILE",
    "PERCENT_RANK", "RANK", "ROW_NUMBER",
)  # fmt: skip
"""Functions of windows alone."""

_LISTS_OPENED = ("EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "STACK")
GENERATORS = (*_LISTS_OPENED, "JSON_TUPLE", "RANGE")
"""Functions that make rows: RANGE in FROM, EXPLODE in a select list, too, others in LATERAL VIEW."""


def _percentile(args: list[Expression]) -> Expression:
    if len(args) != 2:
        return sql.Anonymous(this="percentile", expressions=args)
    return sql.PercentileCont(this=args[0], expression=args[1])


def _element(args: list[Expression]) -> Expression:
    """PERCENTILE_APPROX, which is exact here, so that its accuracy does not count."""
    if len(args) not in (2, 3):
        return sql.Anonymous(this="percentile_approx", expressions=args)
    del args[2:]  # which the parser counts
    return sql.Quantile(this=args[0], quantile=args[1])


def _range(args: list[Expression]) -> Expression:
    """RANGE(end), RANGE(start, end, step), as a table."""
    if not 1 <= len(args) <= 3:
        return sql.Anonymous(this="range", expressions=args)
    start, *others = [sql.Literal.number(0), *args] if len(args) == 1 else args
    end, step = (*others, None)[:2]
    return sql.GenerateSeries(start=start, end=end, step=step, is_end_exclusive=True)


def _map(args: list[Expression]) -> Expression:
    return sql.Anonymous(this="map", expressions=args) if len(args) % 2 else _PARSER.FUNCTIONS["MAP"](args)


def _set(args: list[Expression]) -> Expression:
    return sql.ArrayAgg(this=sql.Distinct(expressions=args), nulls_excluded=True)


_PARSER = whole(_BASE.parser_class)
_READ = (*ALIKE, *WINDOWS, *_LISTS_OPENED, *_AS_READ)


class SparkReader(type(_BASE)):  # type: ignore[misc]
    """The parser of Spark's SQL."""

    class Parser(_PARSER):  # type: ignore[valid-type,misc]
        FUNCTIONS: ClassVar = {
            **{name: _PARSER.FUNCTIONS[name] for name in _READ if name in _PARSER.FUNCTIONS},
            **{name: kind.from_arg_list for name, kind in _AS_NODES.items()},
            "COLLECT_SET": _set,
            "LAST_VALUE": _PARSER.FUNCTIONS["LAST"],
            "MAP": _map,
            "PERCENTILE": _percentile,
            **dict.fromkeys(("PERCENTILE_APPROX", "APPROX_PERCENTILE"), _element),
            "RANGE": _range,
        }
        FUNCTION_PARSERS: ClassVar = {
            name: each for name, each in _PARSER.FUNCTION_PARSERS.items() if name in (*WORDS, *_AS_READ)
        }
        PLACEHOLDER_PARSERS = DuckReader.Parser.PLACEHOLDER_PARSERS


_OPERATORS: dict[type[Expression], Translate] = {
    sql.Add: numbers.sum_of,
    sql.Sub: numbers.sum_of,
    sql.Mul: numbers.product,
    sql.Div: numbers.quotient,
    sql.IntDiv: numbers.whole_quotient,
    sql.Mod: numbers.remainder,
    sql.DPipe: joined,
    sql.Like: like,
    sql.ILike: like,
    sql.Escape: like,
    sql.RegexpLike: rlike,
    sql.Substring: substring("if ($1 == 0) (1: bigint) else $1", "max($2, 0)"),  # 0 is the first letter, too
    sql.Upper: call("string_to_uppercase($)", VARCHAR, "this text"),
    sql.Lower: call("string_to_lowercase($)", VARCHAR, "this text"),
    sql.SplitPart: call(
        'if ($1 != "" or $2 == 0) sql::split_part($0, $1, $2) else if ($2 == 1 or $2 == -1) $0 else ""',
        VARCHAR,
        "this text",
        "delimiter text",
        "part_index integer",
    ),
    sql.Extract: extracted,
    sql.Bracket: nested.at(at),
    sql.Overlay: call(
        "sparksql::overlay($, $, $, $)",
        VARCHAR,
        "this text",
        "expression text",
        "from_ integer",
        "for_ integer=-1",
    ),
    sql.BitwiseNot: lambda s, node: c.strict([s.number(node.this)], "-$ - 1", INTEGER),
}
"""The translation of operators that mean something else than in DuckDB."""

FUNCTIONS = {**numbers.NUMBERS, **TEXTS, **CHOICES, **DATES, **LISTS}
"""The translation of each function that is a call by its name."""

SPARK = SqlDialect(
    SparkReader(),
    {**USUAL, **_OPERATORS},
    FUNCTIONS,
    {**TYPES, "TIMESTAMPTZ": TIMESTAMP, "TIMESTAMPLTZ": TIMESTAMP, "DECIMAL": decimal(0, 10)},
    cast,
    lambda node: bool(node.args.get("safe")),
    ("sparksql",),
    True,
)
