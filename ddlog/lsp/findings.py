"""What a check finds: errors and warnings, and the types of the variables of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..check.program import check_program
from ..commands.reader import CommandReader
from ..commands.updatefiles import commands_of
from ..core import CheckedProgram, Rule
from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.source import Source, Span, program_text
from ..sql.splitter import without_script
from ..sql.translate import translate
from ..types import User, unwrapped


@dataclass(frozen=True)
class Findings:
    """The errors and warnings of a document, and for the place of each rule the types of its variables, each
    with the name of the typedef that it is of. There are no types where there are errors."""

    diagnostics: Sequence[Diagnostic]
    types: Sequence[tuple[Span, dict[str, tuple[str, str | None]]]] = ()


def find(source: Source, folders: Sequence[Path], unsaved: Mapping[Path, bytes | None]) -> Findings:
    """What there is to be found in a program, a module of SQL or a command file."""
    if source.name.endswith(".sql"):
        return Findings(_of_sql(source))
    if source.name.endswith(".dat"):
        return Findings(_of_commands(source, folders, unsaved))
    program, found = check_program(source, folders, known=unsaved)
    return Findings(found, () if program is None else _types(program, source))


def _types(program: CheckedProgram, source: Source) -> list[tuple[Span, dict[str, tuple[str, str | None]]]]:
    return [(rule.span, types_of(rule)) for rule in program.rules if rule.span.source.name == source.name]


def types_of(rule: Rule) -> dict[str, tuple[str, str | None]]:
    """The types of the variables of a rule, each with the name of the typedef that it is of."""
    return {name: (str(type_), _typedef(type_)) for name, type_ in rule.variables.items()}


def _typedef(of: object) -> str | None:
    held = unwrapped(of)  # type: ignore[arg-type]
    return held.name if isinstance(held, User) else None


def _of_sql(source: Source) -> Sequence[Diagnostic]:
    try:
        translate(without_script(source)[0])
    except DDlogError as error:
        return error.diagnostics
    return ()


def _of_commands(
    source: Source, folders: Sequence[Path], unsaved: Mapping[Path, bytes | None]
) -> list[Diagnostic]:
    """The errors of a command file, for the program of its name or the only one in its folder; none if that
    program has errors itself."""
    file = Path(source.name)
    named, beside = file.with_suffix(".dl"), sorted(file.parent.glob("*.dl"))
    path = named if named in beside else beside[0] if len(beside) == 1 else None
    if path is None:
        return []
    content = unsaved.get(path.resolve())
    text = program_text(path.read_bytes() if content is None else content)
    program = check_program(Source(str(path), text), folders, known=unsaved)[0]
    if program is None:
        return []
    reader = CommandReader(program.relations, program.typedefs, source.name, program.indexes)
    reader.feed(source.text)
    found: list[Diagnostic] = []
    for _ in commands_of(reader, True, False, lambda error: found.extend(error.diagnostics)):
        pass
    return found
