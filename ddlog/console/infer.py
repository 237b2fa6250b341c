"""`ddlog infer FILE…`: declarations for the rows of files, as a program."""

from __future__ import annotations

from collections.abc import Sequence

from ..io.inference import inferred
from .sinks import print_lines


def infer(places: Sequence[str]) -> None:
    """Prints the declarations. Raises DDlogError."""
    found = [inferred(place) for place in places]
    for module in sorted(frozenset[str]().union(*(each.imports for each in found))):
        print_lines([f"import {module}"])
    for each in found:
        print_lines(["", each.text])
    inputs = " ".join(f"--input '{each.place}'" for each in found)
    print_lines(["", f"// ddlog run PROG.dl {inputs}"])
