"""Sessions over the wire: `ddlog.connect` gives one, with the methods of `Session`.

with ddlog.connect("http://127.0.0.1:8420", token="…") as session:
    session.insert("Link", ("a", "b"))
    session.commit()
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors.diagnostics import DDlogError, Diagnostic, warn
from ..errors.lookups import NotAnOutput, WrongValue
from ..errors.server import ChangedMeanwhile, ChangesLost, NotOverTheWire, changed_meanwhile
from ..errors.sql import BadSqlParameter
from ..explaining import explanation as explanations
from ..explaining.titles import Titles
from ..explaining.words import Words
from ..io.jsonfiles import row_from_json
from ..sessions.program import Program
from ..sessions.results import Changes
from ..sessions.results.views import Result
from ..sessions.runtimeviews import changes_views
from ..sessions.session import Session
from ..sessions.statements import Outcome
from ..sessions.subscribers import Receive
from ..sessions.transactions.delays import Delays
from ..sessions.transactions.state import in_turn
from ..values.rows import Row, record_maker, row_of
from ..values.structs import Struct
from ..values.textforms import as_text
from .answers import STATEMENT
from .jsonforms import carried
from .remote import (
    ATTEMPTS,
    RemoteHost,
    RemoteRuntime,
    RemoteTransaction,
    StatementStep,
    _json_row,
    is_about_program,
    is_conflict,
)
from .wire import Connection, Unpack

if TYPE_CHECKING:
    from ..core import Relation
    from ..profiling.profile import Profile

_PAUSE = 0.2  # seconds before a subscription that broke off goes on
_TOLD = 10.0  # seconds in which a subscriber hears of an own commit


def connect(
    url: str, token: str | None = None, *, patience: float = 30.0, verify: Any = True
) -> RemoteSession:
    """The session of a server, `ddlog serve`, at an address, with its token, which may be in the address.

    While the server does not answer, requests are sent again for `patience` seconds; a transaction is
    committed once, however often it was sent. `verify` is an `ssl.SSLContext`, or False for no check of the
    certificate. Raises DDlogError."""
    wire = Connection(url, token, patience, verify)
    try:
        return RemoteSession(RemoteRuntime(wire))
    except BaseException:
        wire.close()
        raise


class RemoteSession(Session):
    """The session of a server. Each commit is an epoch of its own among those of other clients."""

    transaction: RemoteTransaction

    def __init__(self, runtime: RemoteRuntime) -> None:
        facts = runtime.facts
        self._remote = runtime
        super().__init__(facts.program, RemoteHost(facts.program, runtime), facts.kept)
        self.transaction = RemoteTransaction(self.state)
        self.transaction.steps = []
        self._following: list[Subscription] = []
        runtime.changed, runtime.turn = self._take_up, lambda: self.state.lock
        runtime.in_transaction, runtime.read = lambda: self.transaction.is_open, self.transaction.read
        self._take_up()

    def _take_up(self) -> None:
        facts = self._remote.facts
        self.state.take_up(facts.program, RemoteHost(facts.program, self._remote), facts.kept)
        self.state.delays = Delays((), self._remote)  # which the server has
        self.state.started = True
        self.program, self.typedefs = facts.program, facts.program.checked.typedefs
        self.transaction.forget()

    def close(self) -> None:
        for each in self._following:
            each.end()
        super().close()

    # ------------------------------------------------------------- the transaction

    def insert(self, relation: str, *rows: Any) -> None:
        self.insert_rows(relation, self._taken(relation, rows))

    def delete(self, relation: str, *rows: Any) -> None:
        self.delete_rows(relation, self._taken(relation, rows))

    def upsert(self, relation: str, *rows: Any) -> None:
        self.upsert_rows(relation, self._taken(relation, rows))

    @in_turn
    def _taken(self, relation: str, rows: Sequence[Any]) -> list[Row]:
        """Rows as they are now, whatever becomes of mutable ones before their step is taken again."""
        with self.state.diagnosing():
            return list(self._rows(self.transaction.input(relation), rows))

    def insert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        self._step(partial(super().insert_rows, relation, rows))

    def delete_rows(self, relation: str, rows: Sequence[Row]) -> None:
        self._step(partial(super().delete_rows, relation, rows))

    def upsert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        self._step(partial(super().upsert_rows, relation, rows))

    def upsert_table(self, relation: str, table: Any) -> None:
        self._step(partial(super().upsert_table, relation, table))

    def delete_key(self, relation: str, *keys: Any) -> None:
        self._step(partial(super().delete_key, relation, *keys))

    def modify(self, relation: str, key: Any, change: Mapping[str, Any] | Callable[[Row], Row]) -> None:
        self._step(partial(super().modify, relation, key, change))

    def clear(self, relation: str) -> None:
        self._step(partial(super().clear, relation))

    def _change_table(self, relation: str, table: Any, sign: int) -> None:
        self._step(partial(super()._change_table, relation, table, sign))

    @in_turn  # so that no other thread's commit comes between the step and its note
    def _step(self, step: Callable[[], None]) -> None:
        self._check_now("a change of an epoch in the past")
        try:
            step()
        except DDlogError as error:
            if not is_about_program(error) or self.in_transaction:
                raise
            self._remote.refresh()
            step()
        self.transaction.took(step)

    def _commit(self, static: bool, begin: Callable[[], None]) -> Changes:
        self._check_now("a commit in the past")
        try:
            changes = super()._commit(static, begin)
        except DDlogError as error:
            if is_about_program(error):
                self._remote.refresh()
            raise
        self._wait(changes)
        return changes

    def _wait(self, changed: Collection[str]) -> None:
        """Waits until subscribers of relations have been told of the last epoch."""
        for each in list(self._following):
            if each.relation.name in changed and each is not threading.current_thread():
                each.wait(self._remote.facts.epoch)
        for each in list(self._following):
            each.raise_error()

    def _check_now(self, what: str) -> None:
        self.state.check_open()
        if self._remote.at is not None:
            raise DDlogError([NotOverTheWire(what)])

    # ------------------------------------------------------------- questions

    @in_turn
    def ask(
        self,
        text: str,
        values: Mapping[str, Any] = MappingProxyType({}),
        *,
        name: str = "<query>",
        warned: Callable[[Sequence[Diagnostic]], None] = warn,
    ) -> Result:
        found, _ = self._call(
            "query", text=text, name=name, values={each: _sent(each, values[each]) for each in values}
        )
        result = self._result(found)
        warned(result.warnings)
        return result

    @in_turn
    def select(self, text: str, *, name: str = "<query>") -> Result:
        return self._result(self._statement(text, (), name, False)["rows"])

    def carry_out(
        self,
        commit: Callable[[], Changes],
        statement: str,
        parameters: Sequence[Any] | Mapping[str, Any],
        name: str,
    ) -> Outcome:
        if changes_views(statement):
            self._check_now("a change of an epoch in the past")
        with self.state.lock:  # not while a commit waits for subscribers, who may ask
            is_open = self.transaction.is_open
            found, rows = self._taken_part(statement, parameters, name)
            if found["changes"] is not None:
                self._remote.refresh()
                return Outcome(changes=self.state.changes(self._remote.deltas(found["changes"])))
            ends = ("commit",) in found["noted"]
            if ends and not is_open:
                outcome = self._alone(statement, parameters, name, Outcome(found["count"], rows))
        if is_open or not ends:
            return Outcome(found["count"], rows, commit() if ends else None)
        self._wait(outcome.changes or ())
        return outcome

    def _taken_part(
        self, statement: str, parameters: Any, name: str
    ) -> tuple[Mapping[str, Any], Result | None]:
        """The answer to a statement, and its rows. In a transaction it is a part of that: a change of another
        client, between the answer and the look-ups here, lets the server answer again."""
        for attempt in range(ATTEMPTS):
            found = self._statement(statement, parameters, name, True)
            rows = None if found["rows"] is None else self._result(found["rows"])
            if found["made"] or found["noted"]:
                self._check_now("a change of an epoch in the past")
            if not self.transaction.is_open and found["noted"] != (("begin",),):
                break
            mark = self.transaction.mark()
            try:
                for word, relation, changed in found["made"]:
                    getattr(super(), word)(relation, changed)
            except BaseException as error:
                self.transaction.undo(mark)
                if not isinstance(error, DDlogError) or not is_conflict(error):
                    raise
                if attempt == ATTEMPTS - 1:  # as rows were looked up before another client changed them
                    self.transaction.rollback()
                    raise changed_meanwhile(error) from None
                continue
            if found["made"]:
                self.transaction.took(StatementStep(found["read"]))
            for word, *point in found["noted"]:
                if word != "commit":
                    getattr(self.transaction, word)(*point)
            break
        return found, rows

    def _alone(self, statement: str, parameters: Any, name: str, otherwise: Outcome) -> Outcome:
        """Commits a statement, which the server carries out as it does, so that no change of another client
        comes between. `otherwise`: what to tell if the answer of the server was lost."""
        asked = {"text": statement, "name": name, "parameters": _parameters(parameters)}
        content = json.dumps(asked, ensure_ascii=False).encode()
        try:
            deltas, found = self._remote.transacted(content, STATEMENT)
        except DDlogError as error:
            if not is_about_program(error):
                raise
            self._remote.refresh()
            deltas, found = self._remote.transacted(content, STATEMENT)
        self.transaction.forget()
        rows = None if found.get("rows") is None else self._result(found["rows"])
        told = Outcome(found["count"], rows) if "count" in found else otherwise
        return replace(told, changes=self.state.told(deltas))

    def _statement(self, text: str, parameters: Any, name: str, any: bool) -> Any:
        asked: dict[str, Any] = {
            "text": text, "name": name, "parameters": _parameters(parameters), "any": any
        }  # fmt: skip
        for attempt in range(ATTEMPTS):
            if self.transaction.is_open:
                asked["changes"] = self._remote.body(self.transaction.batches(), True)[0].decode()
            try:
                return self._call("execute", **asked)[0]
            except DDlogError as error:
                if not isinstance(error.diagnostics[0], ChangedMeanwhile):
                    raise
                steps, is_repeatable = self.transaction.steps, self.transaction.is_repeatable
                self.transaction.rollback()
                if not is_repeatable or attempt == ATTEMPTS - 1:
                    raise
                self.transaction.again(steps)
        raise AssertionError

    def _result(self, found: Mapping[str, Any]) -> Result:
        relation, more = found["relation"], found["typedefs"]
        typedefs = {**self.typedefs, **more}
        rows = self._remote.unpacked(found["rows"], relation, more)
        return Result(relation, rows, typedefs, found["warnings"])

    @in_turn
    def _explained(
        self, /, word: str, relation: str, row: Any, values: Mapping[str, Any], **more: Any
    ) -> Any:
        if values:
            more["values"] = {each: _sent(each, values[each]) for each in values}
        declared = None if row is None else self.state.declared(relation)
        if declared is not None:
            more["row"] = _json_row(row_of(row, declared, self.typedefs), declared, self.typedefs)
        found, _ = self._call(word, declared, relation=relation, **more)
        made = [self._explanation(*each) for each in (found if word == "why_all" else [found])]
        return made if word == "why_all" else made[0]

    def _explanation(self, kind: str, data: Mapping[str, Any], sets: Sequence[Any]) -> Any:
        made = vars(explanations)[kind].__new__(vars(explanations)[kind])
        vars(made).update(data, _titles=Titles(Words(self.program.checked)))
        if sets:
            made.extend(explanations.Ending(gone, come) for gone, come in sets)
        return made

    def measure(self) -> None:
        """Does nothing: the server measures."""
        self.state.check_open()

    def profile(self) -> Profile:
        found: Profile = self._call("profile")[0]
        return found

    # ------------------------------------------------------------- program, state, subscriptions

    @in_turn
    def extend(
        self, text: str, *, name: str = "<added>", warned: Callable[[Sequence[Diagnostic]], None] = warn
    ) -> Changes:
        return self._other_program("extend", warned, text=text, name=name)

    @in_turn
    def drop(self, what: str) -> Changes:
        return self._other_program("drop", lambda _: None, text=what)

    def go_on_with(self, program: Program, fill: Mapping[str, Any] | None = None) -> Changes:
        raise DDlogError([NotOverTheWire("go_on_with")])

    def _other_program(self, word: str, warned: Callable[[Any], None], **given: Any) -> Changes:
        from ..sessions.extension import check_changeable

        check_changeable(self.state, self.in_transaction)
        found, _ = self._call(word, again=False, **given)
        self._remote.refresh()
        warned(found["warnings"])
        return self.state.changes(self._remote.deltas(found["changes"]))

    @property
    def resumed(self) -> bool:
        return self._remote.facts.resumed

    @property
    @in_turn
    def epoch(self) -> int | None:
        self.state.check_open()
        facts = self._remote.facts
        return self._remote.at or (self._remote.fetched().epoch if facts.durable else None)

    def at(self, epoch: int) -> Session:
        from ..sessions.persistence.past import check_number

        self.state.check_open()
        check_number(epoch, "session.at(17)")
        return RemoteSession(RemoteRuntime(self._remote.wire, epoch))

    @in_turn
    def changes_of(self, epoch: int) -> Changes:
        from ..sessions.persistence.past import check_number

        check_number(epoch, "session.changes_of(17)")
        return self.state.changes(self._remote.deltas(self._call("changes_of", epoch=epoch)[0]))

    def described_state(self) -> list[str]:
        return list(self._call("described_state")[0])

    def _call(self, method: str, declared: Relation | None = None, **arguments: Any) -> tuple[Any, Unpack]:
        self.state.check_open()
        return self._remote.call(method, declared, **arguments)

    def subscribe(self, relation: str, receive: Receive) -> Callable[[], None]:
        """Calls `receive` with the changes of each epoch of the server, in a thread of its own; those of an
        own commit have been given when it returns. See `Session.subscribe`."""
        return self.follow(relation, receive)

    def follow(
        self, relation: str, receive: Receive, failed: Callable[[BaseException], None] | None = None
    ) -> Callable[[], None]:
        """`subscribe` with a function for the error that ends the subscription, which otherwise the next
        commit raises."""
        self._check_now("a subscription to the past")
        if not callable(receive):
            raise TypeError(f"{receive!r} cannot be called with changes")
        declared = self.state.declared(relation)
        if declared.role != "output":
            raise DDlogError([NotAnOutput(relation, tuple(self.program.names("output")))])
        made = Subscription(self, self._remote.wire, declared, receive, failed)
        made.begin()
        self._following.append(made)

        def stop() -> None:
            made.end()
            if made in self._following:
                self._following.remove(made)

        return stop


class Subscription(threading.Thread):
    """Gives the changes of a relation to a function, and goes on where it was when the connection broke
    off."""

    def __init__(
        self,
        session: RemoteSession,
        wire: Connection,
        relation: Relation,
        receive: Receive,
        failed: Callable[[BaseException], None] | None,
    ) -> None:
        super().__init__(name=f"ddlog-{relation.name}", daemon=True)
        self._failed = failed
        self.relation, self._session, self._wire, self._receive = relation, session, wire, receive
        self._last: str | None = None
        self._told = 0
        self._changing = threading.Condition()
        self._errors: list[BaseException] = []
        self._ended = False
        self._shut: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """Begins, and returns when no later change can be missed. Raises DDlogError."""
        self.start()
        with self._changing:
            self._changing.wait_for(lambda: self._last is not None or self._ended or self._errors)
        if self._last is None:
            self.raise_error()

    def end(self) -> None:
        """Ends the subscription."""
        self._ended = True
        self._shut()
        with self._changing:
            self._changing.notify_all()

    def wait(self, epoch: int) -> None:
        """Waits until the changes of an epoch have been given."""
        with self._changing:
            self._changing.wait_for(lambda: self._told >= epoch or self._ended or self._errors, _TOLD)

    def raise_error(self) -> None:
        """Raises the first exception of the function since this was called last, or the error that ended the
        subscription."""
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            error.committed = True  # type: ignore[attr-defined]
            raise error

    def run(self) -> None:
        while not self._ended:
            try:
                for event in self._wire.events(self.relation.name, self._last, self._opened):
                    if event.kind == "end" and "server" not in event.data["reason"]:
                        raise DDlogError([ChangesLost(self.relation.name, event.data["reason"])])
                    if event.kind == "snapshot":
                        raise DDlogError(
                            [ChangesLost(self.relation.name, "the server has no history so far back")]
                        )
                    self._take(event.kind, event.id, event.data)
            except OSError:
                pass
            except Exception as error:
                if not self._ended:
                    self._ended = True
                    self._note(error) if self._failed is None else self._failed(error)
            if not self._ended:
                time.sleep(_PAUSE)

    def _opened(self, shut: Callable[[], None]) -> None:
        self._shut = shut
        if self._ended:
            shut()

    def _take(self, kind: str, id: str, data: Any) -> None:
        if kind in ("change", "merged"):
            typedefs = self._session.typedefs
            make = record_maker(self.relation, typedefs)
            rows = [
                (make(row_from_json(each["row"], self.relation, typedefs)), each["weight"])
                for each in data["relations"].get(self.relation.source_name, ())
            ]
            try:
                if rows:
                    self._receive(rows)
            except Exception as error:
                self._note(error)
        with self._changing:
            self._last = id or self._last
            self._told = max(self._told, data.get("epoch", 0))
            self._changing.notify_all()

    def _note(self, error: BaseException) -> None:
        with self._changing:
            self._errors.append(error)
            self._changing.notify_all()


def _parameters(given: Any) -> str:
    """The parameters of a statement as a server gets them. Raises DDlogError."""
    named = given.items() if isinstance(given, Mapping) else enumerate(given, 1)
    for each, value in named:
        carried(value, partial(_refused_parameter, f"${each}"))
    return carried(given if isinstance(given, Mapping) else list(given))


def _refused_parameter(name: str, value: Any) -> NoReturn:
    raise DDlogError([BadSqlParameter(name, type(value).__name__)])


def _sent(name: str, value: Any) -> Any:
    """The value of a name in a query as JSON has it. Raises DDlogError."""
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping) and all(isinstance(each, str) for each in value):
        return {each: _sent(name, value[each]) for each in value}
    if isinstance(value, list | tuple | set | frozenset) and not isinstance(value, Struct):
        return [_sent(name, each) for each in value]
    text = as_text(value)
    if text is None:
        problem = f"{type(value).__name__} is no value that a server can be sent"
        raise DDlogError([WrongValue(name, problem)])
    return text
