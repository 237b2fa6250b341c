"""The propositions of dbsp-spec, parts 3 to 7, as properties of `stream` and `zset`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import zset
from ddlog.engine.zset import Row, Zset

from ..trying import trying
from .stream import (
    INTEGERS,
    ZSETS,
    Stream,
    delay,
    delta_zero,
    differentiate,
    fix,
    incremental,
    incremental2,
    integral,
    integrate,
    lift,
    lift2,
    of_values,
    stream_of,
    streams,
)

TIMES = 7
rows = st.tuples(st.integers(0, 4), st.integers(0, 4))
zsets = st.dictionaries(rows, st.sampled_from([-2, -1, 1, 2, 3]), max_size=6)
positives = st.dictionaries(rows, st.integers(1, 3), max_size=6)
zset_streams = st.lists(zsets, max_size=TIMES).map(lambda values: of_values(ZSETS, values))
integer_streams = st.lists(st.integers(-9, 9), max_size=TIMES).map(lambda values: of_values(INTEGERS, values))
nested = st.lists(st.lists(zsets, max_size=4), max_size=4).map(lambda values: stream_of(ZSETS, values))
laws = trying(20)


def same(left: Stream[Any], right: Stream[Any]) -> bool:
    """Whether two streams, or streams of streams, agree as far as one looks."""
    pairs = zip(left.take(TIMES), right.take(TIMES), strict=True)
    return all(same(a, b) if isinstance(a, Stream) else a == b for a, b in pairs)


def flatmap(function: Callable[[Row], Iterable[Row]], operand: Mapping[Row, int]) -> Zset:
    """Each row replaced by the rows that the function gives for it. Linear (Proposition 8.1)."""
    return zset.zset((result, weight) for row, weight in operand.items() for result in function(row))


def join(left: Zset, right: Zset) -> Zset:
    """Rows that meet, (a, b) with (b, c), side by side in one row; weights multiply. Bilinear."""
    return zset.zset((a + b, n * m) for a, n in left.items() for b, m in right.items() if a[1] == b[0])


def swapped(value: Zset) -> Zset:
    """A linear function."""
    return flatmap(lambda row: [row[::-1]], value)


def small(value: Zset) -> Zset:
    """A filter."""
    return flatmap(lambda row: [row] if row[0] < 3 else [], value)


def steps(edges: Zset, paths: Zset) -> Zset:
    """One iteration of reachability: edges, and paths followed by an edge."""
    longer = flatmap(lambda row: [(row[0], row[3])], join(paths, edges))
    return zset.distinct(zset.add(edges, longer))


lifted_join = lift2(join, ZSETS)
lifted_distinct = lift(zset.distinct, ZSETS)
lifted_swap = lift(swapped, ZSETS)
add: Callable[[Stream[Any], Stream[Any]], Stream[Any]] = streams(ZSETS).add


# ------------------------------------------------------------- part 3: streams


@laws
@given(zset_streams)
def test_lifting_distributes_over_composition(s: Stream[Zset]) -> None:  # Proposition 3.3
    assert same(lift(lambda v: zset.distinct(swapped(v)), ZSETS)(s), lifted_distinct(lifted_swap(s)))


@laws
@given(zset_streams)
def test_lifted_functions_that_keep_zero_are_time_invariant(s: Stream[Zset]) -> None:  # Proposition 3.7
    assert same(lifted_distinct(delay(s)), delay(lifted_distinct(s)))


@laws
@given(integer_streams)
def test_a_strict_operator_has_one_fixed_point(s: Stream[int]) -> None:  # Proposition 3.14
    found = fix(INTEGERS, lambda a: Stream(INTEGERS, lambda t: s[t] + 2 * delay(a)[t]))
    expected, last = [], 0
    for value in s.take(TIMES):
        last = value + 2 * last
        expected.append(last)
    assert found.take(TIMES) == expected


@laws
@given(zset_streams, zset_streams)
def test_feedback_of_a_linear_operator_is_linear(
    a: Stream[Zset], b: Stream[Zset]
) -> None:  # Proposition 3.23
    def loop(s: Stream[Zset]) -> Stream[Zset]:
        return fix(ZSETS, lambda x: lifted_swap(add(s, delay(x))))

    assert same(loop(add(a, b)), add(loop(a), loop(b)))
    assert same(loop(delay(a)), delay(loop(a)))


@laws
@given(zset_streams)
def test_integration_sums_and_differentiation_inverts_it(s: Stream[Zset]) -> None:  # 3.28, 3.30
    assert integrate(s).take(TIMES) == [zset.add(*s.take(t + 1)) for t in range(TIMES)]
    assert same(differentiate(integrate(s)), s)
    assert same(integrate(differentiate(s)), s)


@laws
@given(zset_streams, zset_streams)
def test_integration_and_differentiation_are_linear_and_time_invariant(
    a: Stream[Zset], b: Stream[Zset]
) -> None:
    for operator in (integrate, differentiate):  # Propositions 3.26, 3.29
        assert same(operator(add(a, b)), add(operator(a), operator(b)))
        assert same(operator(delay(a)), delay(operator(a)))


# ------------------------------------------------- part 4: incremental operators


@laws
@given(zset_streams)
def test_the_chain_rule_and_push_and_pull(s: Stream[Zset]) -> None:  # Proposition 4.2
    both = incremental(lambda x: lifted_swap(lifted_distinct(x)))
    assert same(both(s), incremental(lifted_swap)(incremental(lifted_distinct)(s)))
    assert same(lifted_distinct(integrate(s)), integrate(incremental(lifted_distinct)(s)))
    assert same(differentiate(lifted_distinct(s)), incremental(lifted_distinct)(differentiate(s)))
    assert same(incremental(delay)(s), delay(s))


@laws
@given(zset_streams, zset_streams)
def test_the_incremental_version_of_a_sum_is_the_sum_of_the_versions(
    a: Stream[Zset], b: Stream[Zset]
) -> None:
    assert same(incremental2(add)(a, b), add(a, b))


@laws
@given(zset_streams)
def test_the_cycle_rule(s: Stream[Zset]) -> None:  # Proposition 4.2
    body = lift2(steps, ZSETS)
    whole = incremental(lambda x: fix(ZSETS, lambda a: body(x, delay(a))))
    inside = incremental2(body)
    assert same(whole(s), fix(ZSETS, lambda a: inside(s, delay(a))))


@laws
@given(zset_streams)
def test_linear_operators_are_their_own_incremental_versions(s: Stream[Zset]) -> None:  # Theorem 4.4
    for operator in (lifted_swap, lift(small, ZSETS), delay, integrate, differentiate):
        assert same(incremental(operator)(s), operator(s))


@laws
@given(zset_streams, zset_streams)
def test_the_bilinear_rule(a: Stream[Zset], b: Stream[Zset]) -> None:  # Theorem 4.5
    before_a, before_b = delay(integrate(a)), delay(integrate(b))
    parts = add(lifted_join(a, b), add(lifted_join(before_a, b), lifted_join(a, before_b)))
    assert same(incremental2(lifted_join)(a, b), parts)
    assert same(incremental2(lifted_join)(a, b), add(lifted_join(integrate(a), b), lifted_join(a, before_b)))


# -------------------------------------------------------- part 5: nested streams


@laws
@given(zsets, zsets)
def test_delta_zero_and_the_integral_are_linear_inverses(a: Zset, b: Zset) -> None:  # Proposition 5.4
    assert integral(delta_zero(a, ZSETS)) == a
    together = add(delta_zero(a, ZSETS), delta_zero(b, ZSETS))
    assert same(delta_zero(zset.add(a, b), ZSETS), together)
    assert integral(together) == zset.add(a, b)


@laws
@given(nested)
def test_lifted_delay_commutes_with_delay(s: Stream[Stream[Zset]]) -> None:
    group = streams(ZSETS)
    assert same(lift(delay, group)(delay(s)), delay(lift(delay, group)(s)))
    assert same(lift(integrate, group)(integrate(s)), integrate(lift(integrate, group)(s)))


@laws
@given(nested)
def test_a_cycle_is_lifted_by_lifting_its_delay(s: Stream[Stream[Zset]]) -> None:  # Proposition 5.7
    group, body = streams(ZSETS), lift2(steps, ZSETS)
    loop: Callable[[Stream[Zset]], Stream[Zset]] = lambda x: fix(ZSETS, lambda a: body(x, delay(a)))  # noqa: E731
    lifted = Stream(group, lambda t: loop(s[t]))
    feedback = lift(delay, group)
    cycle = fix_nested(lambda a: lift2(body, group)(s, feedback(a)))
    assert same(lifted, cycle)


def fix_nested(operator: Callable[[Stream[Stream[Zset]]], Stream[Stream[Zset]]]) -> Stream[Stream[Zset]]:
    """The fixed point of an operator strict in the inner time (Proposition 5.6)."""
    group = streams(ZSETS)
    solution: Stream[Stream[Zset]] = Stream(group, lambda t: Stream(ZSETS, lambda i: body[t][i]))
    body = operator(solution)
    return solution


@laws
@given(nested, nested)
def test_the_bilinear_rule_twice_is_the_rule_in_nested_time(a: Stream[Any], b: Stream[Any]) -> None:
    group = streams(ZSETS)
    whole = incremental2(lift2(incremental2(lifted_join), group))(a, b)

    def integral_at(s: Stream[Any], t: int, i: int) -> Zset:
        return zset.add({}, *(s[u][j] for u in range(t + 1) for j in range(i + 1)))

    def joined(t: int, i: int) -> Zset:
        return join(integral_at(a, t, i), integral_at(b, t, i)) if t >= 0 and i >= 0 else {}

    for t in range(4):
        for i in range(4):
            now, back = (
                zset.subtract(joined(t, i), joined(t, i - 1)),
                zset.subtract(joined(t - 1, i), joined(t - 1, i - 1)),
            )
            assert whole[t][i] == zset.subtract(now, back)


# ------------------------------------------------------ parts 6 and 7: relations


@laws
@given(zsets)
def test_distinct_is_idempotent_and_gives_sets(m: Zset) -> None:  # Propositions 6.4, 6.5
    assert zset.distinct(zset.distinct(m)) == zset.distinct(m)
    assert all(weight == 1 for weight in zset.distinct(m).values())


@laws
@given(positives, positives)
def test_distinct_moves_past_filters_and_joins(a: Zset, b: Zset) -> None:  # Proposition 6.10
    assert small(zset.distinct(a)) == zset.distinct(small(a))
    assert join(zset.distinct(a), zset.distinct(b)) == zset.distinct(join(a, b))


@laws
@given(positives, positives)
def test_distinct_before_distinct_is_not_needed(a: Zset, b: Zset) -> None:  # Proposition 6.11
    def project(row: Row) -> list[Row]:
        return [row[:1]]

    for operator in (small, swapped, lambda m: flatmap(project, m)):
        assert zset.distinct(operator(zset.distinct(a))) == zset.distinct(operator(a))
    once, both = zset.add(a, b), zset.add(zset.distinct(a), zset.distinct(b))
    assert zset.distinct(both) == zset.distinct(once)


@laws
@given(zset_streams)
def test_distinct_by_sign_changes(s: Stream[Zset]) -> None:  # Proposition 6.12
    before = delay(integrate(s))
    assert same(incremental(lifted_distinct)(s), lift2(zset.sign_change, ZSETS)(before, s))


@laws
@given(positives)
def test_recursion_by_iteration_and_semi_naive(edges: Zset) -> None:  # part 7
    closure: Zset = {}
    while (following := steps(edges, closure)) != closure:
        closure = following
    body = lift2(steps, ZSETS)
    held = integrate(delta_zero(edges, ZSETS))
    naive = fix(ZSETS, lambda a: body(held, delay(a)))
    assert integral(differentiate(naive)) == closure
    inside = incremental2(body)
    semi_naive = fix(ZSETS, lambda a: inside(delta_zero(edges, ZSETS), delay(a)))
    assert integral(semi_naive) == closure
