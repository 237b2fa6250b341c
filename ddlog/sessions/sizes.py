"""Sizes in bytes: as options and messages write them, and of input files."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?\Z")
_WEIGHTS = {"parquet": 4, "orc": 4}
_COMPRESSED = 5  # bytes for each byte of a compressed file


def parse_size(text: str) -> int:
    """The bytes of a size such as `8G`, `512M`, `1.5 GB`. Raises ValueError."""
    found = _SIZE.match(text.strip().upper())
    if found is None or float(found.group(1)) == 0:
        raise ValueError(f"{text!r} is no size such as 8G or 512M")
    return int(float(found.group(1)) * _UNITS[found.group(2)])


def size_text(size: int) -> str:
    """A size for people: `1.5 GB`."""
    amount, unit = float(size), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def weighed(files: Iterable[tuple[int, str, bool]]) -> int:
    """The size that the contents of files would have as text, estimated from each file's size, form, and
    whether it is compressed. Columnar and compressed files hold several times their size."""
    return sum(
        size * (_COMPRESSED if compressed else _WEIGHTS.get(form, 1)) for size, form, compressed in files
    )
