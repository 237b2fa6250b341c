"""A circuit as text or as a picture, on standard output or in a file."""

from __future__ import annotations

import sys
from pathlib import Path

from ..engine.circuit import Circuit, Fixpoint, Node
from ..engine.labels import cost_key, operator_of
from ..engine.svg import Heat, Heats, to_svg
from ..engine.text import to_dot, to_text
from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, OptionNeeded
from ..io.write import replacing
from ..profiling.costs import OperatorCost, seconds_text
from ..profiling.profile import Profile
from .profiles import read_profile_file

_FORMS = {".txt": to_text, ".dot": to_dot, ".svg": to_svg}


def draw(circuit: Circuit, output: str | None, profile: str | None = None) -> None:
    """Writes the circuit to a file, in the form of its name's ending, or prints it. With a profile's file
    a drawing marks the nodes by their costs. Raises DDlogError."""
    if profile is not None:
        if output is None or Path(output).suffix != ".svg":
            raise DDlogError(
                [OptionNeeded("--profile", "--output FILE.svg", "only a drawing marks the costs")]
            )
        heats = _heats(read_profile_file(profile))
        with replacing(Path(output)) as out:
            out.write(to_svg(circuit, heats).encode("utf-8"))
        return
    if output is None:
        sys.stdout.write(to_text(circuit).rstrip("\n") + "\n")
        return
    path = Path(output)
    form = _FORMS.get(path.suffix)
    if form is None:
        raise DDlogError([BadOptionValue("--output", output, f"a name that ends in {', '.join(_FORMS)}")])
    with replacing(path) as out:
        out.write(form(circuit).encode("utf-8"))


def _heats(profile: Profile) -> Heats:
    """The costs of nodes: of a recursion that of its stratum, and of a join inside one that of its rule."""
    by_key: dict[tuple[str, str], list[OperatorCost]] = {}
    for each in profile.operators:
        by_key.setdefault((each.operator, each.text), []).append(each)
    strata = {each.name: each.seconds for each in profile.strata if each.recursive}

    def heat(node: Node, inside: bool) -> Heat | None:
        if isinstance(node, Fixpoint):
            names = dict.fromkeys(name.partition("$")[0] or "(internal)" for name, _ in node.results)
            seconds, rows = strata.get(", ".join(names)), ""
        else:
            found = by_key.get(_key(node, inside))
            seconds = None if found is None else sum(each.seconds for each in found)
            rows = "" if found is None else f", {sum(each.rows_out or 0 for each in found):,} rows"
        if seconds is None:
            return None
        share = seconds / profile.seconds if profile.seconds else 0.0
        return Heat(f"{seconds_text(seconds)} ({share:.1%}){rows}", share)

    return heat


def _key(node: Node, inside: bool) -> tuple[str, str]:
    operator = operator_of(node)
    return ("rule" if inside and operator == "join" else operator), cost_key(node)
