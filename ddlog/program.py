"""Programs: a text, checked, and the circuits and sessions that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import values
from .core import CheckedProgram, Relation
from .diagnostics import DDlogError, Diagnostic
from .errors import facts
from .errors import usage as errors
from .nearest import nearest
from .rows import Row
from .source import Source

if TYPE_CHECKING:
    from .engine.circuit import Circuit
    from .session import Progress, Session

_ENGINES = ("auto", "in-process", "inprocess")


def compile(program: str | Path, *, library_paths: str | Path | Iterable[str | Path] = ()) -> Program:
    """The program of a file (a Path, or a string that ends in `.dl`) or of a text.

    Imports are not supported yet; of the library paths only that they are directories is checked.
    Raises DDlogError with all errors; the program has the warnings.
    """
    from .check.program import check_program

    paths = [library_paths] if isinstance(library_paths, str | Path) else library_paths
    folders = tuple(map(Path, paths))
    missing = [_not_a_directory(folder) for folder in folders if not folder.is_dir()]
    if missing:
        raise DDlogError(missing)
    source = read_source(program)
    checked, diagnostics = check_program(source, folders)
    if checked is None:
        raise DDlogError(diagnostics)
    return Program(source, checked, tuple(diagnostics))


def _not_a_directory(path: Path) -> Diagnostic:
    return facts.NotADirectory(str(path)) if path.exists() else facts.NoSuchDirectory(str(path))


def read_source(program: str | Path) -> Source:
    """The source text of a program given as a path or a text. Raises DDlogError."""
    if isinstance(program, str) and ("\n" in program or not program.endswith(".dl")):
        return Source("<program>", program)
    try:
        return Source(str(program), Path(program).read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        reason = f"byte 0x{error.object[error.start]:02x} at offset {error.start} is not UTF-8"
    except OSError as error:
        reason = error.strerror or str(error)
    raise DDlogError([errors.CannotReadProgram(str(program), reason)])


class Program:
    """A checked program: its relations, its circuits, and sessions that run it."""

    def __init__(
        self, source: Source, checked: CheckedProgram, warnings: tuple[Diagnostic, ...] = ()
    ) -> None:
        self.source, self.checked, self.warnings = source, checked, warnings

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return self.checked.relations

    def names(self, role: str) -> list[str]:
        """The names of the input, internal or output relations, sorted."""
        return sorted(relation.name for relation in self.relations.values() if relation.role == role)

    def circuit(self, stage: str = "incremental", outputs: Iterable[str] | None = None) -> Circuit:
        """The circuit that computes `outputs` (the output relations): `relational` or `incremental`."""
        from .engine.incremental import incrementalize
        from .engine.passes import optimize
        from .lower import lower

        wanted = None if outputs is None else tuple(outputs)
        for name in wanted or ():
            if name not in self.relations:
                raise DDlogError([errors.UnknownRelation(name, nearest(name, self.relations))])
        relational = optimize(lower(self.checked, wanted))
        return relational if stage == "relational" else incrementalize(relational)

    def session(
        self,
        *,
        relations: str | Iterable[str] = "all",
        max_iterations: int | None = None,
        engine: str = "auto",
        progress: Progress | None = None,
    ) -> Session:
        """A session in its initial state, with the program's own facts.

        `relations="all"` keeps every relation for queries; `"outputs"` computes only what the output
        relations need; otherwise, names of the relations that are wanted. `max_iterations` ends a
        recursion that takes longer with an error. `engine` is "in-process", or "auto", which chooses.
        """
        from .engine.runtime import create_runtime
        from .session import Session

        if engine not in _ENGINES:
            raise DDlogError([errors.NotBuiltIn(engine)])
        if max_iterations is not None and not (isinstance(max_iterations, int) and max_iterations > 0):
            raise DDlogError(
                [errors.BadOptions(f"max_iterations is {max_iterations!r}, not a positive number")]
            )
        outputs = self._wanted(relations)
        circuit = self.circuit("incremental", outputs)
        kept = frozenset(name for name, _ in circuit.relations)
        return Session(self, create_runtime(circuit, nan=values.NAN), kept, max_iterations, progress)

    def key_function(self, relation: Relation) -> Callable[[Row], Any]:
        """What computes the primary key of a row of the relation."""
        from .codegen.scalar import compile_function_table

        assert relation.key is not None
        key = compile_function_table(self.checked)[relation.key.key]
        return lambda row: key(*row)

    def _wanted(self, relations: str | Iterable[str]) -> tuple[str, ...]:
        match relations:
            case "all":
                return tuple(self.relations)
            case "outputs":
                return tuple(self.names("output"))
            case str():
                return (relations,)
        return tuple(relations)
