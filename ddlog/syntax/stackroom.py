"""Room on Python's stack for recursions over trees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deep_recursion(depth: int = 20_000) -> Iterator[None]:
    """Room on Python's stack: by default for expressions that nest as deeply as is allowed."""
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(before, depth))
        yield
    finally:
        sys.setrecursionlimit(before)
