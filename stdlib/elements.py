"""What a function that a call is given makes of the elements of a collection, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from ..values import Struct
from .options import NONE, some

Apply = Callable[..., Any]


def flattened(elements: Iterable[Any], f: Apply) -> Iterator[Any]:
    """The elements of all that f gives."""
    return chain.from_iterable(map(f, elements))


def chosen(elements: Iterable[Any], f: Apply) -> Iterator[Any]:
    """What is in the Options that f gives."""
    return (found[1] for found in map(f, elements) if found[0])


def first_least(elements: tuple[Any, ...], f: Apply) -> Any:
    """The first of the elements for which f is least."""
    return min(elements, key=f)


def last_greatest(elements: tuple[Any, ...], f: Apply) -> Any:
    """The last of the elements for which f is greatest."""
    ranked = list(map(f, elements))
    place = max(range(len(ranked)), key=lambda n: (ranked[n], n))
    return elements[place]


def arg_min(elements: tuple[Any, ...], f: Apply) -> Struct:
    """`first_least` of a collection that may be empty."""
    return some(first_least(elements, f)) if elements else NONE


def arg_max(elements: tuple[Any, ...], f: Apply) -> Struct:
    """`last_greatest` of a collection that may be empty."""
    return some(last_greatest(elements, f)) if elements else NONE
