"""Generated code against an independent model of the arithmetic, and array code against scalar code."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog import core, values
from ddlog.codegen.scalar import Functions, compile_function_table, kind_of, row_expr
from ddlog.engine.schema import INLINE_LIMIT, Kind, NotVectorised
from ddlog.errors.source import Source, Span
from ddlog.types import (
    BigInt,
    Bit,
    Bool,
    Float,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
)

from ..trying import trying

SPAN = Span(Source("t.dl", "x"), 1, 1, 1, 2)
INTS: list[Type] = [Bit(w) for w in (1, 8, 10, 32, 62, 63, 64, 100, 128, 200)]
INTS += [Signed(w) for w in (1, 8, 31, 32, 63, 64, 65, 128)] + [BigInt()]
FLOATS: list[Type] = [Float(32), Float(64)]
SCALARS = [*INTS, *FLOATS, Bool(), String()]
UNIT = Tuple(())


def op(name: str, type: Type, *args: core.Expr) -> core.Op:
    return core.Op(name, args, type, SPAN)


def var(name: str, type: Type) -> core.Var:
    return core.Var(name, type, SPAN)


def const(value: Any, type: Type) -> core.Const:
    return core.Const(value, type, SPAN)


def int_values(type: Type) -> st.SearchStrategy[int]:
    low, high = (-(1 << 80), 1 << 80) if isinstance(type, BigInt) else values.integer_range(type)  # type: ignore[arg-type]
    near = [
        low,
        low + 1,
        -1,
        0,
        1,
        2,
        3,
        7,
        1 << 31,
        1 << 61,
        (1 << 62) - 1,
        1 << 62,
        -(1 << 62),
        high - 1,
        high,
    ]
    return st.one_of(st.sampled_from([v for v in near if low <= v <= high]), st.integers(low, high))


def value_of(type: Type) -> st.SearchStrategy[Any]:
    match type:
        case Bool():
            return st.booleans()
        case Float(64):
            return st.one_of(
                st.floats(), st.sampled_from([0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 1e308, 5e-324])
            ).map(values.canonical_float)
        case Float():
            return st.floats(width=32).map(values.single)
        case String():
            return st.sampled_from(["", "a", "b", "aé"])
    return int_values(type)


@st.composite
def exprs(draw: st.DrawFn, type: Type, depth: int) -> core.Expr:
    """A random expression over two variables of each type."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            return const(draw(value_of(type)), type)
        return var(f"{'xy'[draw(st.integers(0, 1))]}_{SCALARS.index(type)}", type)
    sub = lambda t: draw(exprs(t, depth - 1))  # noqa: E731
    choices = ["if", "match"]
    if isinstance(type, Bool):
        choices += ["logic", "compare", "not"]
    elif type in INTS:
        choices += ["arith"] * 3 + ["shift", "neg", "cast", "slice", "concat"]
    elif isinstance(type, Float):
        choices += ["float"] * 3 + ["neg", "cast"]
    match draw(st.sampled_from(choices)):
        case "if":
            return core.If(sub(Bool()), sub(type), sub(type), type, SPAN)
        case "match":
            over = draw(st.sampled_from([Bit(8), Bool(), String(), Signed(64)]))
            bound = core.VarPattern(f"m_{draw(st.integers(0, 10**9))}", over)
            arms = ((core.ConstPattern(draw(value_of(over)), over), sub(type)), (bound, sub(type)))
            return core.Match(
                var(f"x_{SCALARS.index(over)}", over) if over in SCALARS else sub(over), arms, type, SPAN
            )
        case "logic":
            return op(draw(st.sampled_from(["and", "or", "=>"])), type, sub(Bool()), sub(Bool()))
        case "compare":
            of = draw(st.sampled_from(SCALARS))
            return op(draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="])), type, sub(of), sub(of))
        case "not":
            return op("not", type, sub(Bool()))
        case "arith":
            return op(
                draw(st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^"])), type, sub(type), sub(type)
            )
        case "shift":
            amount = const(draw(st.integers(0, 70)), Bit(32)) if isinstance(type, BigInt) else sub(Bit(32))
            return op(draw(st.sampled_from(["<<", ">>"])), type, sub(type), amount)
        case "neg":
            return op(draw(st.sampled_from(["neg", "~"])) if type in INTS else "neg", type, sub(type))
        case "slice" if isinstance(type, Bit):
            wider = [t for t in INTS if getattr(t, "width", 0) >= type.width]
            of = draw(st.sampled_from(wider))
            low = draw(st.integers(0, of.width - type.width))  # type: ignore[union-attr]
            return core.Slice(sub(of), low + type.width - 1, low, type, SPAN)
        case "concat" if isinstance(type, Bit) and type.width > 8 and Bit(type.width - 8) in INTS:
            return op("++", type, sub(Bit(8)), sub(Bit(type.width - 8)))
        case "cast":
            sources = [*INTS, *FLOATS] if isinstance(type, Float) else INTS
            if isinstance(type, Bit):
                sources = [t for t in INTS if isinstance(t, Bit) or t == Signed(type.width)]
            return core.Cast(sub(draw(st.sampled_from(sources))), type, SPAN)
        case "float":
            return op(draw(st.sampled_from(["+", "-", "*", "/", "%"])), type, sub(type), sub(type))
    return op("neg", type, sub(type)) if type in INTS else sub(type)


# ------------------------------------------------------------------- the model


class Zero(Exception):
    pass


def to_type(n: int, type: Type) -> int:
    if isinstance(type, BigInt):
        return n
    n %= 1 << type.width  # type: ignore[union-attr]
    return n - (1 << type.width) if isinstance(type, Signed) and n >= 1 << type.width - 1 else n


def is_nan(x: float) -> bool:
    return isinstance(x, float) and math.isnan(x)


def below(a: Any, b: Any) -> bool:
    return not is_nan(a) and (is_nan(b) or a < b)


def as_float(x: Any, width: int) -> float:
    with np.errstate(all="ignore"):
        if isinstance(x, int):
            if width == 64:
                try:
                    return float(x)
                except OverflowError:
                    return math.copysign(math.inf, x)
            near = np.float32(np.float64(values.int_to_double(x)))
            around = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
            finite = [c for c in around if np.isfinite(c)]
            if abs(x) >= 2**128 - 2**103:
                return math.copysign(math.inf, x)
            return float(min(finite, key=lambda c: (abs(Fraction(float(c)) - x), int(c.view(np.uint32)) & 1)))
        y = float(np.float32(x)) if width == 32 else x
        return y + 0.0


def model(e: core.Expr, env: dict[str, Any]) -> Any:
    match e:
        case core.Const(value):
            return value
        case core.Var(name):
            return env[name]
        case core.If(c, a, b):
            return model(a, env) if model(c, env) else model(b, env)
        case core.Match(arg, ((core.ConstPattern(value), first), (_, second))):
            return model(first, env) if model(arg, env) == value else model(second, env)
        case core.Op("and", (a, b)):
            return model(a, env) and model(b, env)
        case core.Op("or", (a, b)):
            return model(a, env) or model(b, env)
        case core.Op("=>", (a, b)):
            return not model(a, env) or model(b, env)
        case core.Cast(arg, Float(width)):
            return as_float(model(arg, env), width)
        case core.Cast(arg, type):
            return to_type(model(arg, env), type)
        case core.Slice(arg, high, low):
            return (model(arg, env) >> low) % (1 << high - low + 1)
        case core.Op(name, args, type):
            return apply(name, [model(a, env) for a in args], type, args)
    raise AssertionError


def apply(name: str, v: list[Any], type: Type, args: tuple[core.Expr, ...]) -> Any:
    same = (is_nan(v[0]) and is_nan(v[-1])) or v[0] == v[-1]
    match name:
        case "not":
            return not v[0]
        case "==":
            return same
        case "!=":
            return not same
        case "<":
            return below(v[0], v[1])
        case ">":
            return below(v[1], v[0])
        case "<=":
            return not below(v[1], v[0])
        case ">=":
            return not below(v[0], v[1])
        case "++":
            return v[0] * (1 << args[1].type.width) + v[1]  # type: ignore[union-attr]
    if isinstance(type, Float):
        with np.errstate(all="ignore"):
            a, b = np.float64(v[0]), np.float64(v[-1])
            whole = {"neg": -a, "+": a + b, "-": a - b, "*": a * b, "/": a / b, "%": np.fmod(a, b)}[name]
            return as_float(float(whole), type.width)
    match name:
        case "neg":
            return to_type(-v[0], type)
        case "~":
            return to_type(-v[0] - 1, type)
        case "/" | "%":
            if v[1] == 0:
                raise Zero
            q = int(Fraction(v[0], v[1]))
            return to_type(q if name == "/" else v[0] - q * v[1], type)
        case "<<" | ">>":
            width = getattr(type, "width", 0)
            native = min((n for n in (8, 16, 32, 64, 128) if width and n >= width), default=0)
            amount = v[1] % native if native else v[1]
            if name == ">>":
                return v[0] // 2 ** min(amount, 500)
            return to_type(v[0] * 2**amount, type) if amount < 500 else 0
    return to_type({"+": v[0] + v[1], "-": v[0] - v[1], "*": v[0] * v[1]}[name], type) if name in "+-*" else (
        to_type({"&": v[0] & v[1], "|": v[0] | v[1], "^": v[0] ^ v[1]}[name], type)
    )  # fmt: skip


class Interned:
    """A small encoder."""

    def __init__(self) -> None:
        self.ids: dict[Any, int] = {}
        self.back: dict[int, Any] = {}

    def encode(self, kind: Kind, domain: str, value: Any) -> int:
        if kind is Kind.BOOL:
            return int(value)
        if kind is Kind.FLOAT:
            return int(np.array([value]).view(np.int64)[0])
        if kind is Kind.INT and -INLINE_LIMIT <= value < INLINE_LIMIT:
            return int(value)
        code = self.ids.setdefault((domain, value), len(self.ids)) + (INLINE_LIMIT if kind is Kind.INT else 0)
        self.back[code] = value
        return code


def program(*functions: core.Function, typedefs: tuple[TypeDef, ...] = ()) -> Functions:
    table = {each.key: each for each in functions}
    return compile_function_table(core.CheckedProgram({t.name: t for t in typedefs}, table, {}, (), ()))


FUNCTIONS = program()
rows = st.fixed_dictionaries({f"{n}_{i}": value_of(t) for i, t in enumerate(SCALARS) for n in "xy"})


def outcome(thunk: Any) -> Any:
    try:
        return thunk()
    except (Zero, values.Fault) as fault:
        if isinstance(fault, values.Fault):
            assert fault.message == "division by zero" or "shift" in fault.message
        return "fault"


def agree(expr: core.Expr, batch: list[dict[str, Any]]) -> bool:
    compiled = row_expr(expr, FUNCTIONS, "out")
    expected = [outcome(lambda row=row: model(expr, row)) for row in batch]
    found = [outcome(lambda row=row: compiled.scalar(*(row[n] for n in compiled.inputs))) for row in batch]
    assert [(x, type(x) is bool) for x in found] == [
        (values.NAN if is_nan(x) else x, type(x) is bool) for x in expected
    ]
    assert all(math.copysign(1, x) > 0 for x in found if isinstance(x, float) and x == 0)
    if compiled.arrays is None:
        return False
    encoder = Interned()
    kinds = {f"{n}_{i}": kind_of(t) for i, t in enumerate(SCALARS) for n in "xy"}
    columns = [
        np.array([encoder.encode(*kinds[n], row[n]) for row in batch], np.int64) for n in compiled.inputs
    ]
    try:
        result = compiled.arrays(encoder, *columns)
        assert not columns or len(compiled.arrays(encoder, *(each[:0] for each in columns))) == 0
    except NotVectorised:
        return False
    assert result.dtype == np.int64 and len(result) == (len(batch) if columns else 1)
    wanted = [encoder.encode(*kind_of(expr.type), value) for value in found]
    assert result.tolist() == (wanted if columns else wanted[:1])
    return True


@trying(120)
@given(st.data())
def test_expressions_mean_what_the_model_says(data: st.DataObject) -> None:
    type = data.draw(st.sampled_from(SCALARS))
    expr = data.draw(exprs(type, 3))
    agree(expr, data.draw(st.lists(rows, min_size=1, max_size=3)))


@trying(80)
@given(st.data())
def test_single_operations(data: st.DataObject) -> None:
    type = data.draw(st.sampled_from(SCALARS))
    agree(data.draw(exprs(type, 1)), data.draw(st.lists(rows, min_size=1, max_size=8)))


@pytest.mark.parametrize("type", [*INTS, *FLOATS], ids=str)
@pytest.mark.parametrize("name", ["+", "-", "*", "/", "%", "<", "=="])
def test_small_numbers_are_vectorised(type: Type, name: str) -> None:
    i = SCALARS.index(type)
    result = Bool() if name in "<==" else type
    unit = 1.0 if isinstance(type, Float) else -1 if type == Signed(1) else 1
    rows = [{f"x_{i}": unit, f"y_{i}": unit}]
    assert agree(op(name, result, var(f"x_{i}", type), var(f"y_{i}", type)), rows)


def test_a_division_that_is_not_reached_stays_vectorised() -> None:
    x, y = var("x_3", Bit(32)), var("y_3", Bit(32))
    safe = core.If(op("==", Bool(), y, const(0, Bit(32))), x, op("/", Bit(32), x, y), Bit(32), SPAN)
    rows = [{"x_3": 5, "y_3": 0}, {"x_3": 5, "y_3": 2}]
    assert agree(safe, rows)
    assert not agree(op("/", Bit(32), x, y), rows)
    assert agree(
        op("and", Bool(), op("!=", Bool(), y, const(0, Bit(32))), op(">", Bool(), op("/", Bit(32), x, y), x)),
        rows,
    )
