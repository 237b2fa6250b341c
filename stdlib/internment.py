"""The functions that internment.dl declares `extern`."""

from __future__ import annotations

from typing import Any


def intern(x: Any) -> Any:
    return x


def ival(s: Any) -> Any:
    return s
