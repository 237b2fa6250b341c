"""The mean of integers in SQL, rounded once, as `engine.rounding` has it.

Let s be the sum of n integers of up to 64 bits. If |s| is at most 2^53, both numbers are doubles, and their
quotient is the nearest one. Else let q = |s| div n, f = (|s| mod n) · 2^61 div n, and m = 2 (q · 2^61 + f),
plus 1 if that leaves a rest. This is an integer of 63 to 126 bits whose last bit stands for all that follow,
so the double next to m is the one next to |s| / n · 2^62: rounding needs 54 bits, and whether there are more.
A decimal of Spark has 38 digits, which hold 126 bits, and Java gives the double next to it.
"""

from __future__ import annotations

_SHIFT = 61


def mean(total: str, count: str) -> str:
    """SQL of the double next to `total` / `count`: the sum of integers of up to 64 bits, and their number, up
    to 2^53."""
    n = f"CAST({count} AS DECIMAL(19,0))"
    a = f"abs(CAST({total} AS DECIMAL(38,0)))"
    rest = f"CAST({a} % {n} AS DECIMAL(19,0))"
    quotient = f"CAST(({a} - {rest}) / {n} AS DECIMAL(20,0))"
    scaled = f"CAST({rest} * {1 << _SHIFT}BD AS DECIMAL(38,0))"
    low = f"(2L * ({scaled} div {n}) + IF({scaled} % {n} = 0BD, 0L, 1L))"
    whole = f"CAST({quotient} * {2 << _SHIFT}BD + CAST({low} AS DECIMAL(19,0)) AS DECIMAL(38,0))"
    large = f"IF({total} < 0, -1.0D, 1.0D) * (CAST({whole} AS DOUBLE) / {2 << _SHIFT}.0D)"
    small = f"CAST({total} AS DOUBLE) / CAST({count} AS DOUBLE)"
    return f"IF({a} <= {1 << 53}BD, {small}, {large})"
