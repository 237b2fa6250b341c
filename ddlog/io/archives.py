"""Fact files in .zip archives."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from .dialects import Dialect
from .files import NO_NAMES, FactFile, FoundFacts, no_format, split_name
from .formats import TEXT_FORMATS


def find_members(
    archive: str, inputs: Collection[str], others: Collection[str], originals: Mapping[str, str] = NO_NAMES
) -> FoundFacts:
    """The files of an archive, each of the input relation that it is named after. Raises DDlogError."""
    files, ignored = [], []
    for member in _members(Path(archive)):
        named = _text_name(member)
        name = "" if named is None else named[0]
        relation = name if name in inputs else originals.get(name.lower(), name)
        if named is not None and relation in inputs:
            files.append(_file(relation, Path(archive), member, named[1]))
        elif relation in others:
            raise DDlogError([errors.NotAnInputRelation(path=f"{archive}/{member}", relation=relation)])
        else:
            ignored.append(Path(archive, member))
    return FoundFacts(tuple(files), (), tuple(ignored))


def member_of(relation: str, archive: Path, member: str | None) -> FactFile:
    """The one file of facts in an archive, or the member of this name. Raises DDlogError."""
    members = _members(archive)
    found = [each for each in members if each == member or (member is None and _text_name(each))]
    if len(found) != 1:
        listed = ", ".join(members) or "nothing"
        reason = f"it holds {listed}; ?member=NAME chooses a file that ends as fact files of text do"
        raise DDlogError([errors.CannotRead(str(archive), reason)])
    named = _text_name(found[0])
    if named is None:
        raise DDlogError([no_format(f"{archive}/{found[0]}", TEXT_FORMATS)])
    return _file(relation, archive, found[0], named[1])


def _file(relation: str, archive: Path, member: str, format: str) -> FactFile:
    return FactFile(relation, archive, format, True, Dialect(member=member))


def _text_name(member: str) -> tuple[str, str] | None:
    """The name and the format of a member that is a text; None: it is none."""
    named = split_name(Path(member))
    return named[:2] if named is not None and named[1] in TEXT_FORMATS and not named[2] else None


def _members(archive: Path) -> list[str]:
    """The names of the files in an archive. Raises DDlogError."""
    import zipfile

    try:
        with zipfile.ZipFile(archive) as opened:
            return sorted(each.filename for each in opened.infolist() if not each.is_dir())
    except (OSError, zipfile.BadZipFile) as error:
        raise DDlogError([errors.CannotRead(str(archive), str(error))]) from None
