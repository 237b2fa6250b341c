"""The productions of a grammar as functions from the values of their symbols to the value of their phrase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..errors.source import Span
from .tables import Production, Step

# Takes where the phrase begins and ends, and the values of its symbols.
Build: TypeAlias = Callable[[int, int, list[Any]], Any]


def reduction(
    production: Production, action: Callable[..., Any] | None, place: Callable[[int, int], Span]
) -> Build | None:
    """The function that builds the value of a phrase: `action` takes the parts of the phrase, after its place
    if the first parameter is `span`. None where the phrase is one symbol and has its value and place."""
    steps = production.steps
    if production.passes and production.length == 1:
        return None
    if production.inline:
        return _growing(steps) if steps and steps[0] == (0, True) else _listing(steps)
    chosen = [i for i, _ in steps]
    if production.passes:
        only = chosen[0]
        return lambda start, end, values: values[only]
    assert action is not None
    code = action.__code__
    if "span" not in code.co_varnames[: code.co_argcount][:2]:
        listing = _listing(steps)
        return lambda start, end, values: action(*listing(start, end, values))
    if any(spliced for _, spliced in steps):
        listing = _listing(steps)
        return lambda start, end, values: action(place(start, end), *listing(start, end, values))
    if chosen == list(range(production.length)):
        return lambda start, end, values: action(place(start, end), *values)
    return lambda start, end, values: action(
        place(start, end), *[None if i < 0 else values[i] for i in chosen]
    )


def _growing(steps: tuple[Step, ...]) -> Build:
    """Adds to the list of a repetition, which is the first symbol, in place."""
    more = _listing(steps[1:])

    def build(start: int, end: int, values: list[Any]) -> list[Any]:
        result: list[Any] = values[0]
        result += more(start, end, values)
        return result

    return build


def _listing(steps: tuple[Step, ...]) -> Build:
    def build(start: int, end: int, values: list[Any]) -> list[Any]:
        result: list[Any] = []
        for i, spliced in steps:
            if spliced:
                result.extend(values[i])
            else:
                result.append(None if i < 0 else values[i])
        return result

    return build
