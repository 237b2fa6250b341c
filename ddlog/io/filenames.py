"""Names of relations as names of files, and what the names of other files say."""

from __future__ import annotations

import re
from pathlib import PurePosixPath


def file_name(relation: str, ending: str = "") -> str:
    """The name of the file of a relation. A name that a program can declare stays as it is. What would lead
    to another folder, or does not print, is encoded as in URLs: the name may come from a file of a stranger.
    """
    encoded = "".join(_encoded(c) if c in "/\\%" or not c.isprintable() else c for c in relation)
    hidden = encoded.startswith(".") or not encoded
    return f"{_encoded(encoded[:1] or '%')}{encoded[1:]}{ending}" if hidden else f"{encoded}{ending}"


def lies_within(name: str) -> bool:
    """Whether a relative name of a file leads to a place inside the folder that it is relative to."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def is_separated(name: str) -> bool:
    """Whether an update file is a CSV, TSV or facts file, by the end of its name."""
    return re.search(r"\.(?i:csv|tsv|facts)(\.gz)?(\?[a-z]+=.*)?$", name) is not None


def _encoded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
