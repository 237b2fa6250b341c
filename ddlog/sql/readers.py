"""The parser of DuckDB's SQL; and parsers that give up no argument of a call without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import Dialect
from sqlglot import expressions as sql

from .timewindows import LENGTHS, read_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot import Token
    from sqlglot.expressions import Expr as Expression

_DUCKDB = Dialect.get_or_raise("duckdb")
_IGNORED = ("deterministic", "null_on_zero_variance", "nulls_excluded", "on_overflow", "zero_on_all_null")
_NOT_OF_DUCKDB = ("INITCAP", "TS_OR_DS_TO_DATE_STR", "VAR_MAP")
_OF_UNITS = ("DATE_TRUNC", "DATETRUNC", "DATE_DIFF", "DATEDIFF")
_WITH_NULLS = (sql.First, sql.Last, sql.FirstValue, sql.LastValue)
_SURPLUS = "the call has more arguments than are supported"


def whole(parser: Any) -> Any:
    """A class of parsers, made to refuse a call with an argument that its node does not have."""

    class Whole(parser):  # type: ignore[misc]
        FUNCTION_PARSERS: ClassVar = {
            name: _counted(each) for name, each in parser.FUNCTION_PARSERS.items() if name != "INITCAP"
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {
            name: _counted(each, 1) for name, each in parser.NO_PAREN_FUNCTION_PARSERS.items()
        }

        def validate_expression(
            self, expression: Expression, args: Sequence[Any] | None = None
        ) -> Expression:
            is_base = args is not None and not args and isinstance(expression, sql.Log)  # LOG2()
            if is_base or (args and (_leaves_out(expression, args) or _is_ignored(expression))):
                self.raise_error(_SURPLUS, self._prev)
            made: Expression = super().validate_expression(expression, args)
            return made

        def _parse_type(self, *args: Any, **more: Any) -> Expression | None:
            self._is_typed = False
            made: Expression | None = super()._parse_type(*args, **more)
            if not self._is_typed:
                return made
            self._is_typed = False
            casted: Expression | None = super()._parse_column_ops(made)  # `(DATE '…')::VARCHAR`
            return casted

        def _parse_types(self, *args: Any, **more: Any) -> Expression | None:
            made: Expression | None = super()._parse_types(*args, **more)
            self._after_type = self._index
            return made

        def _parse_column_ops(self, this: Expression | None) -> Expression | None:
            self._is_typed = isinstance(this, sql.Literal) and self._index - 1 == getattr(
                self, "_after_type", -1
            )
            made: Expression | None = this if self._is_typed else super()._parse_column_ops(this)
            return made

        def _parse_interval_span(self, this: Expression, *args: Any, **more: Any) -> Expression:
            made: Expression = super()._parse_interval_span(this, *args, **more)
            if this.is_string and this.name != made.name and not sql.INTERVAL_STRING_RE.fullmatch(this.name):
                return sql.Interval(this=this)  # `INTERVAL '1 day 02:00:00'`, of which it takes the day alone
            return made

        def _parse_select_query(self, *args: Any, **more: Any) -> Expression | None:
            outer, self._begin = getattr(self, "_begin", 0), self._index
            made: Expression | None = super()._parse_select_query(*args, **more)
            self._note(made, self._begin)
            self._begin = outer
            return made

        def _parse_set_operations(self, this: Expression | None) -> Expression | None:
            if isinstance(this, sql.Select):
                self._note(this, self._begin)
            made: Expression | None = super()._parse_set_operations(this)
            if isinstance(made, sql.SetOperation) and this is not None and "query" in this.meta:
                made.meta["query"] = this.meta["query"][0], self._prev.end + 1
            return made

        def _note(self, query: Expression | None, begin: int) -> None:
            """Notes where a query stands in the text, if that is not noted yet."""
            if isinstance(query, sql.Query) and "query" not in query.meta:
                query.meta["query"] = self._tokens[begin].start, self._prev.end + 1

    return Whole


def _counted(parse: Callable[[Any], Any], ahead: int = 0) -> Callable[[Any], Any]:
    """The parser of a function's arguments, made to refuse more arguments than its node has. `ahead`: the
    number of tokens between the place where it begins and the first argument."""

    def counted(parser: Any) -> Any:
        begin = parser._index + ahead
        made = parse(parser)
        if isinstance(made, sql.Ceil | sql.Floor):
            parser.validate_expression(made)
        if isinstance(made, sql.AggFunc | sql.Map):
            there = [each.this if isinstance(each, sql.Order) else each for each in made.iter_expressions()]
            number = sum(len(each.expressions) if isinstance(each, sql.Distinct) else 1 for each in there)
            if _commas(parser._tokens[begin : parser._index]) >= max(number, 1) or _is_ignored(made):
                parser.raise_error(_SURPLUS, parser._prev)
        return made

    return counted


def _commas(tokens: Sequence[Token]) -> int:
    """The number of commas between arguments, up to an ORDER BY."""
    level = found = 0
    for kind in (each.token_type.name for each in tokens):
        level += kind.startswith("L_") - kind.startswith("R_")
        if level == 0 and kind == "ORDER_BY":
            break
        found += level == 0 and kind == "COMMA"
    return found


def _is_ignored(made: Expression) -> bool:
    """Whether an aggregate has an argument that nothing reads, other than TRUE, as in MODE(x, TRUE)."""
    given = (made.args.get(each) for each in _IGNORED)
    return any(isinstance(each, sql.Expression) and each != sql.true() for each in given)


def _leaves_out(made: Expression, given: Sequence[Any]) -> bool:
    """Whether a node lacks an argument of its call. A text or a name may be in it as a word, a path or
    another text instead."""
    there = {id(each) for each in made.walk()}
    lost = [each for each in given if isinstance(each, sql.Expression) and id(each) not in there]
    if not lost or isinstance(made, sql.ArraySort):  # its orders are read as words
        return False
    if len(lost) == 1 and isinstance(lost[0], sql.Boolean):  # FIRST(x, TRUE) of Spark
        return not isinstance(made, sql.IgnoreNulls if lost[0].this else _WITH_NULLS)
    kept = {id(each) for one in given if isinstance(one, sql.Expression) for each in one.walk()}
    words = [each for each in made.walk() if id(each) not in kept and _is_word(each)]
    return len(lost) > len(words) or not all(isinstance(each, sql.Column) or each.is_string for each in lost)


def _is_word(node: Expression) -> bool:
    is_name = isinstance(node, sql.Identifier) and isinstance(node.parent, sql.PropertyEQ)
    return is_name or isinstance(node, sql.Var | sql.JSONPath) or node.is_string


def _of_unit(name: str, make: Callable[[list[Expression]], Expression]) -> Any:
    """The maker of a call whose first argument is a unit, which keeps one that is no text: sqlglot takes the
    name of a column for that of a unit."""

    def made(args: list[Expression]) -> Expression:
        return make(args) if args and args[0].is_string else sql.Anonymous(this=name, expressions=args)

    return made


_PARSER = whole(_DUCKDB.parser_class)


class DuckReader(type(_DUCKDB)):  # type: ignore[misc]
    """The parser of DuckDB's SQL."""

    INDEX_OFFSET = 0  # a place in brackets may as well be the key of a map: it stays as it is written

    class Parser(_PARSER):  # type: ignore[valid-type,misc]
        FUNCTIONS: ClassVar = {
            n: each for n, each in _DUCKDB.parser_class.FUNCTIONS.items() if n not in _NOT_OF_DUCKDB
        } | {
            "ROW": lambda args: sql.Tuple(expressions=args),
            **{name: _of_unit(name, _DUCKDB.parser_class.FUNCTIONS[name]) for name in _OF_UNITS},
        }
        FUNCTION_PARSERS: ClassVar = {
            **_PARSER.FUNCTION_PARSERS,
            **dict.fromkeys(map(str.upper, LENGTHS), read_arguments),
        }
