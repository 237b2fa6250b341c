"""`ddlog init`: the folder of a new program, with facts, updates, a test, and a workflow that runs it."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.tests import AlreadyThere, NotAProjectName

_PROGRAM = """\
// Which nodes can be reached from which.

input relation Edge(from: string, to: string)
output relation Path(from: string, to: string)

Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""
_FACTS = """\
from,to
a,b
b,c
"""
_UPDATES = """\
start;
insert Edge("c", "d");
commit;
"""
_EXPECTED = """\
from,to
a,b
a,c
b,c
"""
_CHANGES = """\
Path:
Path{.from = "a", .to = "d"}: +1
Path{.from = "b", .to = "d"}: +1
Path{.from = "c", .to = "d"}: +1
"""
_WORKFLOW = """\
name: ddlog
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install ddlog
      - run: ddlog fmt --check
      - run: ddlog test
"""


def init(path: str) -> None:
    """Makes the folder of a new program, which has the folder's name. Raises DDlogError and OSError."""
    folder = Path(path)
    name = folder.name
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise DDlogError([NotAProjectName(name)])
    if folder.exists():
        raise DDlogError([AlreadyThere(path)])
    files = {
        f"{name}.dl": _PROGRAM,
        "facts/Edge.csv": _FACTS,
        "updates.dat": _UPDATES,
        "expected/Path.csv": _EXPECTED,
        "expected/updates.txt": _CHANGES,
        ".github/workflows/ddlog.yml": _WORKFLOW,
    }
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
        print(folder / file)
    print(f"\nnext:\n  cd {folder}\n  ddlog run {name}.dl --input facts --updates updates.dat\n  ddlog test")
