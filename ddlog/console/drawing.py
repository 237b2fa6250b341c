"""A circuit as text or as a picture, on standard output or in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from ..engine.circuit import Circuit, Fixpoint, Input, Node, Output
from ..engine.drawing import Heat, Heats, to_svg
from ..engine.labels import cost_key, operator_of
from ..engine.text import to_dot, to_text
from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, OptionNeeded
from ..io.write import replacing
from ..profiling.profile import OperatorCost, Profile, seconds_text
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
    by_key = _by_key(profile)
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


def _by_key(profile: Profile) -> dict[tuple[str, str], list[OperatorCost]]:
    found: dict[tuple[str, str], list[OperatorCost]] = {}
    for each in profile.operators:
        found.setdefault((each.operator, each.text), []).append(each)
    return found


def placed_by(name: str) -> Callable[[Node, bool], str]:
    """By the profile in a file: on which side of Spark a node was, and its rows; nothing where it does not
    tell. Raises DDlogError."""
    profile = read_profile_file(name)
    by_key = _by_key(profile)
    sides = {each.name: f"on the {each.side}, {_rows(each.rows)}" for each in profile.relations if each.side}
    strata = {each.name: each for each in profile.strata if each.recursive}

    def placed(node: Node, inside: bool) -> str:
        if isinstance(node, Input | Output):
            return sides.get(node.relation, "")
        if isinstance(node, Fixpoint):
            names = dict.fromkeys(name.partition("$")[0] or "(internal)" for name, _ in node.results)
            stratum = strata.get(", ".join(names))
            return "; ".join(f"{name} {sides[name]}" for name in names if name in sides) if stratum else ""
        found = by_key.get(_key(node, inside), ())
        where = " and ".join(sorted({each.side for each in found if each.side}))
        if not where:
            return ""
        return f"on the {where}, {_rows(sum(each.rows_in for each in found))} of changes in{_out(found)}"

    return placed


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _out(found: Iterable[OperatorCost]) -> str:
    rows = [each.rows_out for each in found if each.rows_out is not None]
    return f", {sum(rows):,} out" if rows else ""
