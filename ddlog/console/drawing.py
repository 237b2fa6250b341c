"""A circuit as text or as a picture, on standard output or in a file."""

from __future__ import annotations

import sys
from pathlib import Path

from ..engine.circuit import Circuit
from ..engine.drawing import to_svg
from ..engine.text import to_dot, to_text
from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue
from ..io.write import replacing

_FORMS = {".txt": to_text, ".dot": to_dot, ".svg": to_svg}


def draw(circuit: Circuit, output: str | None) -> None:
    """Writes the circuit to a file, in the form of its name's ending, or prints it. Raises DDlogError."""
    if output is None:
        sys.stdout.write(to_text(circuit).rstrip("\n") + "\n")
        return
    path = Path(output)
    form = _FORMS.get(path.suffix)
    if form is None:
        raise DDlogError([BadOptionValue("--output", output, f"a name that ends in {', '.join(_FORMS)}")])
    with replacing(path) as out:
        out.write(form(circuit).encode("utf-8"))
