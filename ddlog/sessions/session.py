"""Sessions: relations that are kept up to date.

    program = ddlog.compile("paths.dl")
    with program.session() as session:
        session.insert("Edge", (1, 2), (2, 3))
        changes = session.commit()

A session is a program, a host that holds its relations, and a transaction. Changes of input relations gather
in the transaction and are checked as they come; a commit applies them as one epoch and returns the exact
changes of the output relations. An error leaves the session at its last commit. The work is done in
`transaction.py`, `inputs.py` and `facts.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from ..core import Column, Relation, answer_relation, index_named
from ..engine.memory import given_back
from ..engine.runtime import Progress
from ..errors.diagnostics import DDlogError, Diagnostic, warn
from ..errors.lookups import RelationNotKept
from ..errors.options import CannotBeCombined
from ..errors.sessions import UncommittedChanges
from ..errors.source import Source
from ..errors.spark import NoFrameOfLookup
from ..errors.state import NeedsState
from ..errors.unknown import unknown_index
from ..values.rows import row_of
from .hosts.host import Closable, Host, StreamHandle, frames_of
from .hosts.on_spark import on_spark
from .program import Program, check_delays
from .results.indexes import IndexView
from .results.nestedvalues import nested_values
from .results.views import Changes, RelationView, Result, register_views
from .subscribers import Receive, Subscribers
from .transactions.facts import load_columns, load_frames, load_places
from .transactions.inputs import Inputs
from .transactions.state import SessionState, in_turn
from .transactions.transaction import Transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..explaining.explanation import Absence, ChangeExplanation, EndingSets, Explanation
    from ..io.columns import Columns
    from ..profiling.profile import Profile
    from .explanations import Explaining
    from .statementplans import Plans
    from .statements import Outcome
    from .transactions.durable_state import DurableState


class Session(Inputs):
    """A running program. Use it as a context manager, or call `close`. All methods raise DDlogError.

    A transaction begins with the first change and ends with `commit` or `rollback`. Reading shows the state
    of the last commit. Several threads may use a session, and wait for each other. There is one transaction,
    which `commit` ends with the changes of all of them. A process that is forked cannot use a session on
    Spark or of a server, or one in which another thread is at work.
    """

    def __init__(
        self,
        program: Program,
        host: Host,
        kept: frozenset[str],
        max_iterations: int | None = None,
        progress: Progress | None = None,
        updates: bool = True,
    ) -> None:
        state = SessionState(program, host, kept, max_iterations, progress, updates)
        super().__init__(state, Transaction(state))
        self.program, self.typedefs = program, program.checked.typedefs
        self.streams: Closable | None = None
        self.applied = self.state.applied
        self._subscribers = Subscribers(self.state)

    def __enter__(self) -> Session:
        self.state.check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and not self.state.closed:
            self.rollback()
        self.close()

    def close(self) -> None:
        """Ends the session and its streams. Changes that are not committed are lost, with a warning. With a
        durable state, puts on disk what waits for that, and raises DDlogError for what cannot be written."""
        if self.state.is_left:
            return
        if self.streams is not None and not self.state.closed:
            self.streams.close()  # whose threads end when their batches do, which use the session
        self._close()

    @in_turn
    def _close(self) -> None:
        if not self.state.closed:
            if self.in_transaction:
                warn([UncommittedChanges()])
            self.rollback()
            self.state.closed = True
            try:
                self.state.forget_questions()
                self.state.host.runtime.close()
            finally:
                if self.state.durable is not None:
                    self.state.durable.close()

    def load(
        self,
        places: str | Path | Iterable[str | Path],
        *,
        note: Callable[[str], None] | None = None,
        static: bool = False,
        replace: bool = False,
        refuse: Callable[[DDlogError], None] | None = None,
    ) -> Changes:
        """Reads facts and commits them, in one epoch with the program's facts if nothing came before.

        A place is a directory with a fact file for each relation, a file that is named after its relation, a
        pattern of files, or `Rel=…` for one relation; on Spark, which then reads the files itself, also a URL
        or a table: see `ddlog.io.places`. `note` is told of relations without a file, and of first lines that
        may be headers or rows. `refuse` is called with the error of each wrong row, which is then skipped;
        without it, an error ends the load. After a `static` load no change is possible, and no memory is
        spent on one. `replace` deletes what the input relations hold in the same epoch."""
        told = note or (lambda text: None)
        return self._commit(
            (static or not self.state.updates) and not self.resumed,
            lambda: load_places(self.state, self.transaction, places, told, replace, refuse),
        )

    def load_frames(self, frames: Mapping[str, Any]) -> Changes:
        """Loads Spark DataFrames into input relations and commits them, in one epoch with the program's facts
        if nothing came before. No later change is possible."""
        return self._commit(True, lambda: load_frames(self.state, self.transaction, frames))

    def load_columns(self, facts: Iterable[tuple[str, Columns]]) -> Changes:
        """Loads facts that are read and checked already, each with the name of its input relation, and
        commits them in one epoch with the program's facts. No later change is possible."""
        return self._commit(True, lambda: load_columns(self.state, self.transaction, facts))

    def stream(
        self,
        source: DataFrame,
        relation: str,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        on_change: Callable[[Changes, int], None] | None = None,
        name: str | None = None,
        op: str = "op",
        once: bool = False,
        every: str | None = None,
        clock: str | None = None,
        unit: str = "seconds",
    ) -> StreamHandle:
        """Lets a streaming DataFrame of Spark drive the session: each batch changes the input relation, in an
        epoch of its own, and the watermark sets the relation `clock`. See `ddlog.spark.streaming.stream` and
        docs/streaming.md."""
        self.state.check_open()
        return on_spark().stream(
            self, source, relation, checkpoint=checkpoint, on_change=on_change, name=name, op=op, once=once,
            every=every, clock=clock, unit=unit,
        )  # fmt: skip

    def commit(self) -> Changes:
        """Applies the transaction as one epoch, and returns the changes of the output relations. After an
        error, an interrupt or the iteration limit, the transaction is over and the session is at its last
        commit. `error.committed` of whatever is raised says whether that is this one, as it is if a Ctrl-C
        came too late to end the epoch, or a subscriber failed."""
        return self._commit(False, self.state.start)

    def _commit(self, static: bool, begin: Callable[[], None]) -> Changes:
        """Ends the transaction after `begin`. Other threads wait until the subscribers are told, which so
        hear of the epochs in their order."""
        with self.state.lock:
            self.state.check_open()
            begin()
            before = self.state.epochs
            try:
                with given_back():
                    changes = self.transaction.commit(static)
                self._subscribers.tell(changes)
            except BaseException as error:
                error.committed = self.state.epochs > before  # type: ignore[attr-defined]
                raise
            return changes

    @in_turn
    def extend(
        self, text: str, *, name: str = "<added>", warned: Callable[[Sequence[Diagnostic]], None] = warn
    ) -> Changes:
        """Adds declarations, functions, rules and facts to the program, and returns how that changes the
        output relations. Only what the text adds is derived. Afterwards `session.program` is the program with
        the text at its end, and a durable state is one of that program. The text is called `name` in errors,
        after which the program and the session are as they were; `warned` takes warnings about it. Not within
        a transaction, and not on Spark."""
        from .amendments import extended, placed_in
        from .extension import check_changeable

        check_changeable(self.state, self.in_transaction)
        program = extended(self.program, text, name)
        with placed_in(self.program, text, name):
            changes = self.go_on_with(program)
        warned(program.warnings)
        return changes

    @in_turn
    def drop(self, what: str) -> Changes:
        """Drops a declaration from the program by its name, a relation with its rules, or rules and facts by
        their text; returns how that changes the output relations. The rows of an input relation go with it.
        An error if another part of the program uses it. See `extend`."""
        from .amendments import without
        from .extension import check_changeable

        check_changeable(self.state, self.in_transaction)
        return self.go_on_with(without(self.program, what))

    @in_turn
    def go_on_with(self, program: Program, fill: Mapping[str, Any] | None = None) -> Changes:
        """Goes on with another program, and returns how that changes the output relations. See `extend`. Rows
        of inputs that have other columns there are taken over as `migrate` does; `fill` gives the values of
        new columns by `Relation.column`. The rows of an input that is gone go with it; a durable state keeps
        them in its file."""
        from .extension import go_on_with

        changes = go_on_with(self.state, program, fill)
        self.program, self.typedefs = program, program.checked.typedefs
        self.transaction.forget()
        for each in ("_explaining", "plans"):
            vars(self).pop(each, None)
        self._subscribers.tell(changes)
        return changes

    @in_turn
    def start(self, *, static: bool = False) -> Changes:
        """Puts the program's own facts in the state, and returns what follows from them. Without this call,
        it happens when the session is first used, and nothing is returned."""
        self.state.check_open()
        return (
            self.state.changes({})
            if self.state.started
            else self.state.begin(static or not self.state.updates)
        )

    @in_turn
    def rollback(self) -> None:
        """Forgets the transaction."""
        self.transaction.rollback()

    @in_turn
    def mark(self) -> Mapping[str, int]:
        """A point of the transaction, for `undo`."""
        return self.transaction.mark()

    @in_turn
    def undo(self, mark: Mapping[str, int]) -> None:
        """Takes the transaction back to a point."""
        self.transaction.undo(mark)

    @in_turn
    def tidy(self) -> None:
        """Gives back memory that no row uses any more. Commits do so whenever it pays; this is for a pause in
        which nobody waits, since it reads the whole state."""
        self.state.check_open()
        self.state.host.runtime.tidy()

    @property
    def resumed(self) -> bool:
        """Whether the session goes on with what its durable state held."""
        return self.state.durable is not None and self.state.durable.resumed

    @property
    def epoch(self) -> int | None:
        """The number of the last commit in the durable state; None without one."""
        return None if self.state.durable is None else self.state.durable.epoch

    @in_turn
    def at(self, epoch: int) -> Session:
        """A session as this one was after an epoch, as far back as its durable state has history. It has no
        state of its own, and is derived anew."""
        from .persistence.past import begin_at, check_number

        durable = self._durable("the past of a session")
        check_number(epoch, "session.at(17)")
        durable.check_past(epoch)
        past = self.program.open(durable.beside(self.state))
        if epoch:
            begin_at(durable, past.state, epoch)
        return past

    @in_turn
    def changes_of(self, epoch: int) -> Changes:
        """The changes of the output relations in an epoch, as far back as the durable state has history."""
        from .persistence.past import changes_in, check_number

        durable = self._durable("the past of a session")
        check_number(epoch, "session.changes_of(17)")
        durable.check_change(epoch)
        past = self.at(epoch - 1).state
        return past.run(changes_in(durable, past, epoch), False)

    @in_turn
    def described_state(self) -> list[str]:
        """Lines about the durable state and its history."""
        return self._durable("`state`").described()

    def _durable(self, what: str) -> DurableState:
        self.state.check_open()
        self.state.start()
        if self.state.durable is None:
            raise DDlogError([NeedsState(what)])
        return self.state.durable

    @property
    def in_transaction(self) -> bool:
        """Whether there are changes that are not committed."""
        return self.transaction.is_open

    def subscribe(self, relation: str, receive: Receive) -> Callable[[], None]:
        """Calls `receive` after each commit that changes an output relation, with the changed rows and their
        weights. Returns a function that ends the subscription. An exception of `receive` is raised by
        `commit` when all subscribers have been called; the commit stands. Other threads that use the session
        wait meanwhile, so `receive` must not wait for them."""
        return self._subscribers.add(relation, receive)

    @in_turn
    def __getitem__(self, relation: str) -> RelationView:
        declared, host = self._readable(relation), self.state.host

        def frame() -> DataFrame:
            return frames_of(host, "to_spark").frame(declared.name)

        stored = host.runtime.rows(declared.name)
        return RelationView(declared, stored, partial(self._contains, declared), self.typedefs, frame)

    def _readable(self, name: str) -> Relation:
        self.state.check_open()
        declared = self.state.declared(name)
        if declared.name not in self.state.kept:
            raise DDlogError([RelationNotKept(name)])
        self.state.start()
        return declared

    @in_turn
    def _contains(self, declared: Relation, value: Any) -> bool:
        try:
            row = row_of(value, declared, self.typedefs)
        except DDlogError:
            return False
        return self.state.host.runtime.contains(declared.name, [row])[0]

    @in_turn
    def index(self, name: str) -> IndexView:
        """An index of the program, for look-ups: `session.index("ByFrom")["a"]`."""
        program, host = self.program, self.state.host
        index = index_named(name, program.indexes)
        if index is None:
            raise DDlogError([unknown_index(name, program.indexes, program.relations)])
        self.state.check_open()
        if index.source not in self.state.kept:
            raise DDlogError([RelationNotKept(f"the index {name}")])
        self.state.start()

        def no_frame() -> DataFrame:
            frames_of(host, "to_spark")
            raise DDlogError([NoFrameOfLookup()])

        relation = program.relations[index.relation]
        return IndexView(index, relation, host.runtime, self.typedefs, no_frame, self.state)

    def keeps(self, relation: str) -> bool:
        """Whether the session computes a relation, so that it can be read."""
        return relation in self.state.kept

    @in_turn
    def size(self, relation: str) -> int:
        """The number of rows of a relation."""
        return self.state.host.runtime.size(self._readable(relation).name)

    def query(self, text: str, /, **values: Any) -> Result:
        """The valuations that satisfy a rule body, such as `Path("a", x), x != "b"`, over the relations as of
        the last commit. `{start}` in the text is a value: that of the keyword `start`, a Python value as
        `insert` takes it for the type that its place has. It is never read as text of the language."""
        return self.ask(text, values)

    @in_turn
    def ask(
        self,
        text: str,
        values: Mapping[str, Any] = MappingProxyType({}),
        *,
        name: str = "<query>",
        warned: Callable[[Sequence[Diagnostic]], None] = warn,
    ) -> Result:
        """`query` with a mapping of values. The text is called `name` in errors; `warned` takes the warnings
        about the query, if it has any."""
        from ..check.query import check_query

        self.state.check_open()
        if not isinstance(text, str):
            raise TypeError(f"a query is a text, not {text!r}")
        checked = self.program.checked
        query = check_query(checked, Source(name, text), values)
        program, types = query.within(checked), query.rule.variables
        check_delays(query, self.program.relations)
        self.state.start()
        with self.state.diagnosing():
            if all(atom.relation in self.state.kept for atom in query.reads()):
                stored = self.state.host.query(program, query)
            else:
                stored = self.state.questions.answer(query, self.state.max_iterations)
        columns = [Column(each.partition("$")[0], types[each]) for each in query.variables]
        relation = answer_relation("query", columns, query.rule.span)
        warned(query.warnings)
        return Result(relation, stored, program.typedefs, query.warnings)

    @in_turn
    def select(self, text: str, *, name: str = "<query>") -> Result:
        """The rows of a SELECT over the relations as the transaction sees them: `SELECT b, count(*) FROM Path
        GROUP BY b ORDER BY b`. Needs the package sqlglot."""
        from .statements import select

        return select(self, text, name)

    def execute(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *, name: str = "<statement>"
    ) -> Outcome:
        """Carries out a statement of SQL: INSERT, UPDATE, DELETE, MERGE or TRUNCATE of an input relation,
        also with RETURNING, or SELECT, BEGIN, COMMIT, ROLLBACK, SAVEPOINT. It reads the state of the
        transaction so far. Outside of a transaction it is one of its own. `?`, `$1` and `:name` are the
        `parameters`, by place or by name. The outcome has the `count` of rows that changed, the `rows` of
        SELECT and RETURNING as a Result, and the `changes` of the output relations, if a transaction ended.
        Needs the package sqlglot."""
        return self.carry_out(self.commit, statement, parameters, name)

    @in_turn
    def carry_out(
        self,
        commit: Callable[[], Changes],
        statement: str,
        parameters: Sequence[Any] | Mapping[str, Any],
        name: str,
    ) -> Outcome:
        """`execute` with a function that ends the transaction."""
        from .statements import execute

        return execute(self, commit, statement, parameters, name)

    def why(
        self,
        relation: str,
        row: Any = None,
        *,
        depth: int = 10,
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> Explanation:
        """Why a row holds as of the last commit: a proof tree of least height, with so many levels. The row
        is a tuple, or in another form that `insert` takes; without it `relation` is a question such as
        `Path("a", x)`, and the first row that matches is explained. `values` are those of names in braces in
        the question, such as `Path({start}, x)`, as for `query`. An error if the row does not hold."""
        found: Explanation = self._explained("why", relation, row, values, depth=depth)
        return found

    def why_all(
        self,
        relation: str,
        row: Any = None,
        *,
        depth: int = 10,
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> list[Explanation]:
        """Why a row holds, as `why` says it, for each derivation of the row, those of least height first."""
        found: list[Explanation] = self._explained("why_all", relation, row, values, depth=depth)
        return found

    def why_not(
        self,
        relation: str,
        row: Any = None,
        *,
        depth: int = 3,
        within: float = 2.0,
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> Absence:
        """Why a row does not hold as of the last commit: for each rule that could give it, how far its body
        can be satisfied, and what fails next; below, the same of missing rows, with so many levels. `within`
        limits the search, to the steps that usually take so many seconds. The row is given as for `why`. An
        error if the row holds."""
        found: Absence = self._explained("why_not", relation, row, values, depth=depth, within=within)
        return found

    def why_ends(
        self,
        relation: str,
        row: Any = None,
        *,
        within: float = 2.0,
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> EndingSets:
        """The smallest sets of up to three changes of facts that end a row that holds. Each is a list of the
        facts to delete, as a relation and a row; the facts to insert, where deletions do not suffice, are
        its `insertions`. `complete` of the result says whether `within`, as for `why_not`, sufficed for the
        search. The row is given as for `why`."""
        found: EndingSets = self._explained("why_ends", relation, row, values, within=within)
        return found

    def why_change(
        self,
        relation: str,
        row: Any = None,
        *,
        depth: int = 10,
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> ChangeExplanation:
        """Why the last commit made a row come or go: a tree of changes, with so many levels, down to the
        changes of facts. The row is given as for `why`; of a question, the first row that matches and changed
        is explained. An error if the row did not change."""
        found: ChangeExplanation = self._explained("why_change", relation, row, values, depth=depth)
        return found

    def _explained(self, word: str, relation: str, row: Any, values: Mapping[str, Any], **more: Any) -> Any:
        """See `Explaining.explained`."""
        with self.state.lock, nested_values():
            return self._explaining.explained(word, relation, row, values, more)

    def measure(self) -> None:
        """Measures the commits from now on, for `profile`."""
        self._check_measured()
        if self.state.recorder is None:
            from .measuring.recorder import Recorder

            self.state.recorder = Recorder()

    @in_turn
    def profile(self) -> Profile:
        """Where the time went in the commits since `measure` was called, by stratum and rule, with the
        slowest commits; and the plans, the decisions about recursions, and the memory of the session. See
        docs/profile.md."""
        self._check_measured()
        self.state.start()
        from .measuring.recorder import profile_of

        return profile_of(self.program, self.state.host, self.state.kept, self.state.recorder)

    def _check_measured(self) -> None:
        self.state.check_open()
        if not self.state.host.offer.is_measured:
            reason = "each relation is one query of Spark's, which no rule has a part of"
            raise DDlogError([CannotBeCombined("a profile", "updates=False on Spark", reason)])

    @in_turn
    def write(self, relation: str, place: str, format: str = "csv") -> str:
        """Lets Spark write a relation: to a folder of part files, `place`/Relation (csv, tsv, jsonl,
        parquet), at a path or a URL, or to the table PREFIX + relation if `place` is `table:PREFIX`. Earlier
        contents are replaced. Returns the folder or table."""
        declared = self._readable(relation)
        return frames_of(self.state.host, "write").write(declared, place, format)

    @in_turn
    def register_views(self, prefix: str = "") -> list[str]:
        """Makes a temp view of Spark of each output relation that the session keeps, under the prefix and its
        name, in place of an older one. Returns the names. A view shows the last commit and does not change
        with the next one: call this again then."""
        self.state.check_open()
        frames_of(self.state.host, "to_spark")
        kept = [name for name in self.program.names("output") if name in self.state.kept]
        frames = {name: self[name].to_spark() for name in kept}
        return register_views(frames, self.program.relations, prefix)

    @cached_property
    def _explaining(self) -> Explaining:
        from .explanations import Explaining

        return Explaining(self.state)

    @cached_property
    def plans(self) -> Plans:
        """The statements of SQL that were carried out, as plans."""
        from .statementplans import Plans

        return Plans(self.state)

    @property
    def spark(self) -> SparkSession | None:
        """The Spark session that holds the relations; None in-process."""
        frames = self.state.host.offer.frames
        return None if frames is None else frames.session

    @property
    def on_spark(self) -> bool:
        """Whether the relations are on Spark."""
        return self.spark is not None
