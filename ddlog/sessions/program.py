"""Programs: a text, checked, and the circuits and sessions that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import syntax
from ..core import CheckedProgram, CheckedQuery, Index, Relation, relation_named
from ..errors import facts
from ..errors.diagnostics import DDlogError, Diagnostic, InternalError, render, system_errors
from ..errors.facts import CannotRead
from ..errors.lookups import NotDelayed, TakenByAnswer
from ..errors.modules import required
from ..errors.names import UnusedRelation
from ..errors.options import BadOptionValue
from ..errors.source import DIALECTS, Source, program_bytes, program_text
from ..errors.sql import SqlTooDeep
from ..errors.typedefs import TypeTooLarge
from ..errors.types import ExpressionTooDeep
from ..errors.unknown import unknown_relation
from ..names.internals import exposed
from ..values.rows import Row
from .collector import paused
from .options import SessionOptions, taking
from .results.nestedvalues import nested_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..engine.circuit import Circuit
    from ..engine.spark.runtime import SparkOptions
    from ..lowering.lower import LoweredProgram
    from .session import Session

OPTION = "ddlog_std::Option"
Externs: TypeAlias = Literal["error", "warn"]
Dialect: TypeAlias = Literal["duckdb", "spark"]


def compile(
    program: str | Path | Source,
    *,
    library_paths: str | Path | Iterable[str | Path] = (),
    externs: Externs = "error",
    dialect: Dialect | None = None,
) -> Program:
    """The program of a file (a Path, or a string that ends in `.dl` or `.sql`) or of a text.

    Modules that it imports are looked for in the file's folder, then in the library paths. Raises DDlogError
    with all errors; the program has the warnings.

    An extern function without Python code is an error, or with `externs="warn"` a warning, and then an error
    of each session. No Python code of the program runs before a session is opened.

    Modules and statements of SQL are those of DuckDB, or with `dialect="spark"` of Spark.
    """
    if dialect not in (None, *DIALECTS):
        raise DDlogError([BadOptionValue("dialect", repr(dialect), " or ".join(DIALECTS))])
    if externs not in ("error", "warn"):
        raise DDlogError([BadOptionValue("externs", repr(externs), "error or warn")])
    paths = [library_paths] if isinstance(library_paths, str | Path) else library_paths
    folders = tuple(map(Path, paths))
    missing = [_not_a_directory(folder) for folder in folders if not folder.is_dir()]
    if missing:
        raise DDlogError(missing)
    source = read_source(program)
    return compile_source(source if dialect is None else replace(source, dialect=dialect), folders, externs)


def compile_source(
    source: Source,
    folders: Sequence[Path] = (),
    externs: Externs = "error",
    tree: syntax.Module | None = None,
) -> Program:
    """The program of a text. The folder of its name is the first in which modules are looked for. `tree` is
    the program if its text is of another language. Raises DDlogError."""
    from ..check.cache import check_cached

    if source.name.endswith(".sql"):
        return _compile_sql(source, folders)
    with paused():
        checked, diagnostics = check_cached(source, folders, tree)
    if externs == "error":
        diagnostics = required(diagnostics)
    if checked is None or any(each.is_error for each in diagnostics):
        raise DDlogError(diagnostics)
    again = None if tree is not None else partial(compile_source, folders=folders, externs=externs)
    return Program(source, checked, tuple(diagnostics), again)


def _compile_sql(source: Source, folders: Sequence[Path]) -> Program:
    """The program of a module of SQL. Raises DDlogError."""
    from ..check.cache import check_cached
    from ..sql.splitter import without_script, zone_set

    source, script = without_script(replace(source, zone=zone_set(source.text)))
    with paused():
        checked, diagnostics = check_cached(source, folders)
    if checked is None:
        wrong = [each for each in diagnostics if each.severity == "error"]
        if isinstance(wrong[0], ExpressionTooDeep):
            raise DDlogError([SqlTooDeep(wrong[0].limit, span=wrong[0].span)])
        if isinstance(wrong[0], TypeTooLarge):
            raise DDlogError(wrong)
        raise InternalError(f"the rules of {source.name} are not valid:\n{render(wrong)}")
    again = partial(compile_source, folders=folders)
    return Program(source, with_null(checked), again=again, script=script)


def with_null(checked: CheckedProgram) -> CheckedProgram:
    """A program of SQL, in which None of an Option is NULL."""
    typedefs = dict(checked.typedefs)
    if OPTION in typedefs:
        typedefs[OPTION] = replace(typedefs[OPTION], nullable=True)
    return replace(checked, typedefs=typedefs)


def _not_a_directory(path: Path) -> Diagnostic:
    return facts.NotADirectory(str(path)) if path.exists() else facts.NoSuchDirectory(str(path))


def read_source(program: str | Path | Source) -> Source:
    """The source text of a program given as a path or a text. Raises DDlogError."""
    if isinstance(program, Source):
        return program
    if isinstance(program, str) and ("\n" in program or not program.endswith((".dl", ".sql"))):
        return Source("<program>", program)
    with system_errors(CannotRead, program):
        return Source(str(program), program_text(program_bytes(program)))


class Program:
    """A checked program: its relations, its circuits, and sessions that run it."""

    def __init__(
        self,
        source: Source,
        checked: CheckedProgram,
        warnings: tuple[Diagnostic, ...] = (),
        again: Callable[[Source], Program] | None = None,
        script: Source | None = None,
        lowered: LoweredProgram | None = None,
    ) -> None:
        """`again` makes the program of another text in the same way; None: nothing does. `script` are the
        statements behind the views of a module of SQL, which `ddlog run` and `ddlog repl` carry out.
        `lowered` is a program before as it was lowered: what this one has in common with it stays."""
        self.source, self.checked, self.warnings = source, _with_array_keys(checked), warnings
        self.again, self.script = again, script
        self.lowered = lowered

    def __repr__(self) -> str:
        return f"<program {self.source.name}: {', '.join(self.names('input') + self.names('output'))}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .results.display import shown_program

        return shown_program(self.relations.values(), self.circuit())

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return self.checked.relations

    @property
    def indexes(self) -> Mapping[str, Index]:
        """The declared indexes by name."""
        return self.checked.indexes

    def with_internal_outputs(self) -> Program:
        """The program with its internal relations as output relations, and with DDlog's relation of the one
        fact on which rules without a positive term rest."""
        shown = exposed(self.checked, self.source)
        warnings = [each for each in self.warnings if not isinstance(each, UnusedRelation)]
        again = self.again and partial(_again_with_internal_outputs, self.again)
        return Program(self.source, shown, tuple(warnings), again, self.script)

    def asking(self, *queries: str) -> Program:
        """The program with the answer to each query, a rule body, as an output relation: `query`, or
        `query1`, `query2`, … if there are several. It has a column for each variable, and no more of
        other relations is computed for it than it needs. There is no warning that a relation is never
        read if a query reads it. Raises DDlogError."""
        from ..check.query import check_query
        from ..demand.question import answer_names, with_answer

        checked, taken, read = self.checked, [*self.relations, *self.checked.typedefs], set[str]()
        warned: list[Diagnostic] = []
        for text, name in zip(queries, answer_names(len(queries)), strict=True):
            if name in taken:
                raise DDlogError([TakenByAnswer(name)])
            query = check_query(checked, Source("<query>", text))
            check_delays(query, self.relations)
            read.update(atom.relation for atom in query.reads())
            warned += query.warnings
            checked = with_answer(checked, query, name)
        dropped = {each for each in self.warnings if isinstance(each, UnusedRelation) and each.name in read}
        kept = tuple(each for each in self.warnings if each not in dropped)
        return Program(self.source, checked, (*kept, *warned), script=self.script)

    def names(self, role: str) -> list[str]:
        """The names of the input, internal or output relations, sorted."""
        return sorted(each.name for each in self.relations.values() if each.role == role and not each.hidden)

    def circuit(
        self,
        stage: str = "incremental",
        outputs: Iterable[str] | None = None,
        *,
        records: str = "columns",
        demand: bool = True,
    ) -> Circuit:
        """The circuit that computes `outputs` (the output relations): `relational`, `incremental`, or as
        `workers` on Spark have it, with the exchanges by which rows come to the worker that owns them.
        `records` are a column for each field, as in-process, or `values`, as on Spark. Without `demand` all
        of what outputs on demand read is computed. Raises DDlogError."""
        from ..engine.incremental import incrementalize
        from ..engine.passes import optimize
        from ..engine.passes.ordered import spread_ordered
        from ..lowering.fields import fields_as_columns
        from ..lowering.lower import lower, lower_in_columns
        from ..lowering.records import in_columns

        if stage not in ("relational", "incremental", "workers"):
            raise DDlogError([BadOptionValue("stage", repr(stage), "relational, incremental or workers")])
        wanted = None if outputs is None else tuple(map(self._named, outputs))
        with paused(), nested_values():
            if wanted is None:
                wanted = tuple(self.names("output"))
            if demand and any(self.relations[name].demand for name in wanted):
                from ..demand.program import demanded

                in_form = in_columns if records == "columns" else fields_as_columns
                lowered = lower(demanded(in_form(self.checked), wanted), wanted)
            elif records == "columns":
                lowered, self.lowered = lower_in_columns(self.checked, wanted, self.lowered)
            else:
                lowered = lower(fields_as_columns(self.checked), wanted)
            relational = optimize(lowered)
            if records == "columns":
                relational = spread_ordered(relational)
            if stage == "workers":
                from ..engine.shards.placement import placed

                return placed(relational).circuit
            return relational if stage == "relational" else incrementalize(relational)

    def _named(self, name: str) -> str:
        declared = relation_named(name, self.relations)
        if declared is None:
            raise DDlogError([unknown_relation(name, self.relations)])
        return declared.name

    @taking(SessionOptions)
    def session(self, options: SessionOptions) -> Session:
        """A session in its initial state, with the program's own facts.

        `relations="all"` keeps every relation, to be read; `"outputs"` keeps the output relations and
        computes only the relations that they need; `"inputs"` keeps the input relations, and evaluates what
        queries ask for when they ask; otherwise `relations` are the names of the relations to
        keep. A recursion that takes more than `max_iterations` iterations ends with an error.

        `memory_limit` is a size in bytes or a text such as "4GiB": a commit that would bring the process over
        it is an error that says which relation grew, and is rolled back; a query that would ends with an
        error. By default it is three quarters of the memory of the machine or container; "none" is no limit.
        It is not for Spark. `spill` is a folder on a disk: from three quarters of the limit on, large parts
        of the state go to files without names there, which the system reads again where they are needed, and
        end with the process.

        `maintain` says how a commit changes recursive relations. "always": it derives what follows from the
        changes. "never": it evaluates them anew and compares, where that can tell the same. "auto": it does
        what is cheaper. Answers and their order do not depend on it.

        `state` is a file, or on Spark a folder (a path, or a URL of a file system of Hadoop), that keeps the
        session's inputs beyond its process: it is made if it is missing, and otherwise the session goes on
        where it was. `durability` says when a commit is on disk: "commit", before `commit` returns;
        "interval", at most a second later; "exit", when the session is closed. `read_only` opens the last
        commit, also beside a session that writes. `migrate` takes over input relations whose columns have
        changed; a mapping gives the values of new columns, by `Relation.column`. See docs/state.md.

        `updates` matters on Spark. False: the session takes one load of facts, and no change after it;
        nothing is kept for one, and a relation is one query over the frames or files, which nothing computes
        before it is read.

        `engine` is "in-process", "spark" (on `spark`, a classic or a Connect session, or else on the session
        of this process or a new one on this machine), or "auto": Spark if `spark` is given, else in-process.
        `spark_options` is a `ddlog.SparkOptions`. `workers` threads share the work of
        the in-process engine; by default as many as there are processors. Raises DDlogError.
        """
        return self.open(options)

    def open(self, options: SessionOptions) -> Session:
        """A session of these options; see `session`. Raises DDlogError."""
        from .opening import open_session

        return open_session(self, options)

    def run(
        self,
        spark: SparkSession,
        inputs: Mapping[str, DataFrame],
        *,
        outputs: str | Iterable[str] = "outputs",
        views: str | None = None,
        max_iterations: int | None = None,
        spark_options: SparkOptions | None = None,
    ) -> dict[str, DataFrame]:
        """One step of a pipeline: the output relations, or the relations that `outputs` names, as DataFrames,
        from DataFrames for input relations. An input relation without a DataFrame is empty.

        The columns of a DataFrame have the names of the relation's columns, in any order, and types that can
        be cast to theirs; a value that does not fit is an error. A result is a query of Spark, which runs
        when it is used; what is recursive, and a group of a large input that several results read, is
        computed now. The primary keys that the program declares are taken for granted.

        With `views`, a prefix that may be empty, each result is also a temp view of Spark under the prefix
        and the relation's name, in place of an older one. Raises DDlogError.
        """
        wanted = self.kept_names(outputs)
        with self.session(
            relations=wanted, max_iterations=max_iterations, spark=spark, spark_options=spark_options,
            updates=False,
        ) as session:  # fmt: skip
            session.load_frames(inputs)
            frames = {name: session[name].to_spark() for name in wanted}
        if views is not None:
            from .results.views import register_views

            register_views(frames, self.relations, views)
        return frames

    def key_function(self, relation: Relation) -> Callable[[Row], Any]:
        """A function that computes the primary key of a row of the relation."""
        from ..codegen.scalar import compile_function_table

        assert relation.key is not None
        key = compile_function_table(self.checked)[relation.key.key]
        return lambda row: key(*row)

    def kept_names(self, relations: str | Iterable[str]) -> tuple[str, ...]:
        """The names of the relations that a session keeps, for what `session` takes as `relations`: these,
        and the constraints of tables of SQL."""
        kept = self._asked_names(relations)
        broken = (name for name, each in self.relations.items() if each.made and name[:12] == "Constraint__")
        return (*kept, *(name for name in broken if name not in kept))

    def _asked_names(self, relations: str | Iterable[str]) -> tuple[str, ...]:
        match relations:
            case "all" if not any(each.demand for each in self.relations.values()):
                return tuple(self.relations)
            case "all":
                from ..demand.program import on_demand

                left_out = on_demand(self.checked)
                return tuple(name for name in self.relations if name not in left_out)
            case "inputs":
                from ..demand.program import there_anyway

                return tuple(there_anyway(self.checked))
            case "outputs":
                return tuple(self.names("output"))
            case str():
                return (relations,)
        return tuple(relations)


def check_delays(query: CheckedQuery, relations: Mapping[str, Relation]) -> None:
    """Raises DDlogError if a query reads an earlier state that no rule of the program reads."""
    for atom in query.reads():
        if atom.relation not in relations:
            kept = tuple(sorted(name for name, each in relations.items() if each.past))
            raise DDlogError([NotDelayed(atom.relation, kept, span=atom.span)])


def _again_with_internal_outputs(again: Callable[[Source], Program], source: Source) -> Program:
    return again(source).with_internal_outputs()


def _with_array_keys(checked: CheckedProgram) -> CheckedProgram:
    """The program with the functions that compute the keys of maps which JSON writes as arrays."""
    if not checked.array_keys:
        return checked
    from ..codegen.scalar import compile_function_table

    functions = compile_function_table(checked)
    relations = {
        name: each
        if each.constructor is None
        else replace(each, constructor=functions.array_keys.constructor(each.constructor))
        for name, each in checked.relations.items()
    }
    return replace(checked, typedefs=functions.typedefs, relations=relations)
