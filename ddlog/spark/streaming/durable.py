"""Files that outlive a crash and a loss of power."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write_json(file: Path, content: Any) -> None:
    """Writes a file of JSON by a rename: it exists whole or not at all, also after a loss of power."""
    draft = file.with_name(f".{file.name}.new")
    with draft.open("w", encoding="utf-8") as out:
        json.dump(content, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(draft, file)
    _sync(file.parent)


def flush_folder(folder: Path) -> None:
    """Flushes the files of a folder to the disk, and the names of the folder and of its parents."""
    for path in (*folder.iterdir(), folder, folder.parent, folder.parent.parent):
        _sync(path)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def folder_size(folder: Path) -> int:
    """The bytes of the Parquet files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet")) if folder.is_dir() else 0
