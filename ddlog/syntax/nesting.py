"""Room on Python's stack for recursions over trees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room on Python's stack for expressions that nest as deeply as is allowed."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
