"""Compressed bytes, whose contents may be many times as long as they are."""

from __future__ import annotations

import io

from ..engine.machine import default_limit
from ..engine.memory import limit_here, resident

_PIECE = 1 << 20  # bytes


def unpacked(data: bytes) -> bytes:
    """The contents of the bytes of a .gz file. Raises OSError, EOFError, zlib.error, and MemoryError if they
    would take more memory than there may be."""
    from gzip import GzipFile

    pieces, size = list[bytes](), 0
    with GzipFile(fileobj=io.BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            check_size(size)
    return b"".join(pieces)


def check_size(size: int) -> None:
    """Raises MemoryError if so many bytes more are more memory than there may be."""
    limit = limit_here() or default_limit()
    if limit is not None and (resident() or 0) + size > limit:
        raise MemoryError(f"with {size:,} bytes of it the memory limit of {limit:,} bytes would be exceeded")
