"""The identity of the facts that a session begins with, by which a checkpoint recognises them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path


def facts_digest(places: Sequence[str]) -> str:
    """A digest of fact files by their names, sizes and times of change; of places that are not on this
    machine by their names only."""
    digest = hashlib.sha256()
    for place in places:
        path = Path(place)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        digest.update(place.encode("utf-8", "surrogatepass"))
        for file in files:
            if file.is_file():
                stat = file.stat()
                digest.update(
                    f"{file}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode("utf-8", "surrogatepass")
                )
    return digest.hexdigest()
