"""Benchmarks over facts that others published, which are no part of this project.

The archives are looked for in the folder that DDLOG_BENCH_DATA names: galen.zip (an ontology of medicine; the
problem `galen` of dynamic-datalog) and crdt.zip (edits of a shared text, recorded by Martin Kleppmann; the
problem `crdt`).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "DDLOG_BENCH_DATA"


class Missing(Exception):
    """The data of a benchmark are not there."""


@dataclass(frozen=True)
class Published:
    """An archive, its files by input relation, the sizes that must come out, and what a run may take."""

    name: str
    separator: str
    files: Mapping[str, str]
    sizes: Mapping[str, int]
    limit: float
    limit_mib: int
    archive: str = ""  # if it has another name


PUBLISHED = {
    each.name: each
    for each in (
        Published(
            "galen",
            ",",
            {f"I{letter}": f"{letter}.txt" for letter in "pqrcus"},
            {"P": 7_560_179, "Q": 16_595_494},
            25.0,
            2253,
        ),
        Published(
            "crdt",
            " ",
            {"Insert": "input/insert.txt", "Remove": "input/remove.txt"},
            {"Result": 104_653},
            22.0,
            6144,
        ),
        Published(
            "crdt_plain",
            " ",
            {"Insert": "input/insert.txt", "Remove": "input/remove.txt"},
            {"Result": 104_653},
            3.0,
            1024,
            "crdt",
        ),
    )
}


def facts_of_archive(published: Published, cache: Path) -> Path:
    """The folder with a benchmark's fact files, made if it is not there yet. Raises Missing."""
    folder = cache / f"{published.name}_published"
    done = folder.with_suffix(".done")
    if done.exists():
        return folder
    home = os.environ.get(VARIABLE)
    archive = Path(home or ".") / f"{published.archive or published.name}.zip"
    if home is None or not archive.exists():
        raise Missing(f"{published.name}: left out, {VARIABLE} names no folder with {archive.name}")
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive) as opened:
        for relation, member in published.files.items():
            text = opened.read(member).replace(published.separator.encode(), b"\t")
            (folder / f"{relation}.facts").write_bytes(text)
    done.touch()
    return folder
