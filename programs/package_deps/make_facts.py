"""Extract the installed distributions of an environment and their requirements, by importlib.metadata.

    python make_facts.py                         the environment of the running Python, into facts/
    /path/to/other/python make_facts.py          that of another one (it needs the `packaging` distribution)

Environment markers are evaluated here; the extra that a requirement belongs to is kept as a column ("" for
none). What the user asked for (Root) is what carries the installer's REQUESTED mark, or, where nothing does,
what nothing else requires.
"""

from __future__ import annotations

import argparse
import csv
import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

COLUMNS = {
    "Distribution": ("name", "version"),
    "Requirement": ("name", "extra", "needs"),
    "Specifier": ("name", "extra", "needs", "operator", "bound"),
    "Root": ("name",),
}
ENOUGH = re.compile(r"^\d+(\.\d+)*(\.\*)?$")


def canonical(name: str) -> str:
    """The spelling under which an index knows a distribution."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(distribution: metadata.Distribution) -> list[tuple[str, Requirement]]:
    """The requirements that hold in this environment, each with its extra."""
    found = []
    extras = ["", *(distribution.metadata.get_all("Provides-Extra") or [])]
    for text in distribution.requires or []:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        for extra in extras:
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                found.append((canonical(extra) if extra else "", requirement))
                break
    return found


def main() -> None:
    """Write a file of facts for each relation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "facts")
    parser.add_argument("--root", action="append", default=[], help="a distribution that was asked for")
    arguments = parser.parse_args()
    rows: dict[str, set[tuple[str, ...]]] = {relation: set() for relation in COLUMNS}
    for distribution in metadata.distributions():
        name = canonical(distribution.metadata["Name"])
        rows["Distribution"].add((name, distribution.version))
        if distribution.read_text("REQUESTED") is not None or name in arguments.root:
            rows["Root"].add((name,))
        for extra, requirement in requirements(distribution):
            needs = canonical(requirement.name)
            rows["Requirement"].add((name, extra, needs))
            for specifier in requirement.specifier:
                if ENOUGH.match(specifier.version):
                    rows["Specifier"].add((name, extra, needs, specifier.operator, specifier.version))
    if not rows["Root"]:
        needed = {needs for _, extra, needs in rows["Requirement"] if not extra}
        rows["Root"] = {(name,) for name, _ in rows["Distribution"] if name not in needed}
    arguments.out.mkdir(parents=True, exist_ok=True)
    for relation, columns in COLUMNS.items():
        with open(arguments.out / f"{relation}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(sorted(rows[relation]))


if __name__ == "__main__":
    main()
