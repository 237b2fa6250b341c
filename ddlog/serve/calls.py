"""Calls of the methods of a session by its clients: `POST /call` with the name of a method and its arguments.

    {"program": "s1f3a…", "method": "query", "arguments": {"text": "Reach(\"a\", x)"}, "epoch": 17}

The answer is a line of JSON (`jsonforms.py`) and the rows that it has (`rowbytes.py`). A client has the
checked program, so arguments and answers are rows as the program declares them. `program` tells which program
the client knows: another one is an error, after which a client fetches the program anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..core import CheckedProgram, Column, Relation
from ..errors.diagnostics import DDlogError
from ..errors.installation import version
from ..errors.lookups import RelationNotKept
from ..errors.server import BadRequest, changed_meanwhile
from ..explaining.explanation import Explanation
from ..io.jsonfiles import row_from_json
from ..sessions.amendments import extended, without
from ..sessions.program import Program
from ..sessions.results import Changes
from ..sessions.results.views import Result
from ..sessions.runtimeviews import changes_views
from ..sessions.session import Session
from ..sessions.transactions.inputs import Inputs
from ..sessions.transactions.transaction import Transaction
from ..values.fromjson import from_json
from ..values.rows import Row
from .bodies import checked_fields, object_of, reading_values
from .groupcommit import EVERY_ROW
from .jsonforms import carried, received
from .rowbytes import TypeDefs, packed
from .transactions import Keys, read_json

if TYPE_CHECKING:
    from .service import Service

_CHECKED = ("typedefs", "functions", "relations", "rules", "strata", "indexes", "array_keys")
_DEPTH: Mapping[str, tuple[type, ...]] = {"depth": (int,)}
_WITHIN: Mapping[str, tuple[type, ...]] = {"within": (float, int)}
_EXPLAINED = {
    "why": _DEPTH, "why_all": _DEPTH, "why_change": _DEPTH, "why_not": {**_DEPTH, **_WITHIN},
    "why_ends": _WITHIN,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of an answer. `typedefs` are those of their types, if not the program's."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    weights: Sequence[int] | None
    typedefs: TypeDefs | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the types of its arguments, and its answer. Arguments named in `optional` may be missing."""

    act: Callable[[Service, Session, Mapping[str, Any]], Any]
    fields: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    changes: bool = False
    """Whether the method changes the session: such a call has no time limit."""

    def check(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Checks the arguments of a call of the method, which has this name. Raises DDlogError."""
        checked_fields(arguments, self.fields)
        for each in self.fields.keys() - self.optional - arguments.keys():
            raise DDlogError([BadRequest(f"{name} has an argument {each!r}")])


def called(service: Service, method: str, arguments: Mapping[str, Any]) -> Callable[[Session], bytes]:
    """The call of a method, to be carried out in the thread of the session. Raises DDlogError."""
    found = METHODS.get(method)
    if found is None:
        raise DDlogError([BadRequest(f"there is no method {method!r} to call")])
    found.check(method, arguments)
    return lambda session: answer_of(found.act(service, session, arguments), session.program)


def answer_of(result: Any, program: Program) -> bytes:
    """The body of the answer to a call: a line of JSON, and the rows."""
    parts: list[bytes] = []

    def other(value: Any) -> int:
        assert isinstance(value, Part)
        typedefs = value.typedefs or program.checked.typedefs
        parts.append(packed(value.columns, value.rows, value.weights, typedefs))
        return len(parts) - 1

    text = carried(result, other)
    sizes = ",".join(str(len(each)) for each in parts)
    return b"".join((f"[[{sizes}],{text}]\n".encode(), *parts))


def changes_part(changes: Changes, program: Program) -> dict[str, Part]:
    """The changes of the output relations, by name."""
    return {name: _weighted(program.relations[name], changes.stored(name)) for name in changes}


def _weighted(relation: Relation, rows: Iterable[tuple[Row, int]]) -> Part:
    listed = list(rows)
    return Part(relation.columns, [row for row, _ in listed], [weight for _, weight in listed])


# --------------------------------------------------------------------- methods


def sent_program(checked: CheckedProgram) -> CheckedProgram:
    """The part of a checked program that a client is sent: its tables, without the Python code of types."""
    tables: dict[str, Any] = {name: getattr(checked, name) for name in _CHECKED}
    tables["typedefs"] = {
        name: replace(each, extern=None, closure=None) for name, each in tables["typedefs"].items()
    }
    return CheckedProgram(**tables)


def _program(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    """The program, and what a client knows of the session from the beginning."""
    program = session.program
    return {
        "checked": sent_program(program.checked), "name": program.source.name, "text": program.source.text,
        "kept": tuple(session.state.kept), "log": service.log, "epoch": service.number,
        "durable": session.epoch is not None, "resumed": session.resumed, "version": version(),
    }  # fmt: skip


def _rows(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    declared = _kept(session, given["relation"])
    stored = session.state.host.runtime.rows(declared.name)
    return Part(declared.columns, list(stored), stored.weights)


def _kept(session: Session, name: str) -> Relation:
    """A relation that the session computes, perhaps one that is hidden."""
    declared = session.state.declared(name)
    if declared.name not in session.state.kept:
        raise DDlogError([RelationNotKept(name)])
    return declared


def _size(service: Service, session: Session, given: Mapping[str, Any]) -> int:
    return session.state.host.runtime.size(_kept(session, given["relation"]).name)


def _lookup(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    declared = _kept(session, given["relation"])
    with reading_values():
        rows = [row_from_json(each, declared, session.typedefs) for each in given["rows"]]
    return tuple(session.state.host.runtime.lookup(declared.name, rows))


def _find(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    declared = _kept(session, given["relation"])
    types = {name: (at, of) for at, (name, of) in enumerate(declared.titled_types)}
    wanted: dict[int, Any] = {}
    for name, value in given["values"].items():
        if name not in types:
            raise DDlogError([BadRequest(f"{declared.name} has no column {name}")])
        at, of = types[name]
        with reading_values():
            wanted[at] = from_json(value, of, session.typedefs)
    if not wanted:
        raise DDlogError([BadRequest("`values` names a column at least")])
    return Part(declared.columns, session.state.host.runtime.find(declared.name, wanted), None)


def _query(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    values = given.get("values", {})
    return _result(session.ask(given["text"], values, name=given["name"], warned=lambda _: None), session)


def _result(result: Result, session: Session) -> Any:
    new = {n: each for n, each in result.typedefs.items() if n not in session.typedefs}
    stored = result.stored
    return {
        "relation": result.relation, "typedefs": new, "warnings": result.warnings,
        "rows": Part(result.relation.columns, list(stored), stored.weights, result.typedefs),
    }  # fmt: skip


def _explained(word: str) -> Callable[[Service, Session, Mapping[str, Any]], Any]:
    def act(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
        asked = dict(given)
        relation = asked.pop("relation")
        row: tuple[Any, ...] = ()
        if "row" in asked:
            declared = session.state.declared(relation)
            with reading_values():
                row = (row_from_json(asked.pop("row"), declared, session.typedefs),)
        found = getattr(session, word)(relation, *row, **asked)
        return tuple(map(_told, found)) if word == "why_all" else _told(found)

    return act


def _told(explanation: Explanation) -> Any:
    """An explanation without its program: its class, its fields and, if it is a list, its items."""
    items = explanation if isinstance(explanation, list) else ()
    data = {name: value for name, value in vars(explanation).items() if name != "_titles"}
    sets = tuple((tuple(each), tuple(each.insertions)) for each in items)
    return type(explanation).__name__, data, sets


class _Statement(Inputs):
    """A session as a statement of a client's transaction sees it: what the statement changes is noted, and
    then forgotten."""

    def __init__(self, service: Service, session: Session) -> None:
        super().__init__(session.state, _Noting(session.state))
        self.program, self.plans, self.why = session.program, session.plans, session.why
        self.go_on_with = service.go_on_with
        self.made: list[tuple[str, str, tuple[Row, ...]]] = []

    def insert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        super().insert_rows(relation, rows)
        self.made.append(("insert_rows", relation, tuple(rows)))

    def delete_rows(self, relation: str, rows: Sequence[Row]) -> None:
        super().delete_rows(relation, rows)
        self.made.append(("delete_rows", relation, tuple(rows)))


class _Noting(Transaction):
    """A transaction whose beginning, end and points are those of a client's."""

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self.noted: list[tuple[str, ...]] = []

    def begin(self) -> None:
        self.noted.append(("begin",))

    def keep_point(self, name: str) -> None:
        self.noted.append(("keep_point", name))

    def back_to_point(self, name: str) -> None:
        self.noted.append(("back_to_point", name))

    def release_point(self, name: str) -> None:
        self.noted.append(("release_point", name))

    def rollback(self) -> None:
        self.noted.append(("rollback",))

    def end(self) -> None:
        """Notes a commit."""
        self.noted.append(("commit",))


def _execute(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    from ..sessions.statements import execute, select

    with reading_values():
        parameters = received(given["parameters"])
        if not isinstance(parameters, dict | list):
            raise ValueError("the parameters are a list, or have names")
    statement = _Statement(service, session)
    transaction = statement.transaction
    assert isinstance(transaction, _Noting)
    text, name = given["text"], given["name"]
    try:
        if "changes" in given:
            Transaction.begin(transaction)
            try:
                read_json(session.program, given["changes"]).apply(statement)  # type: ignore[arg-type]
            except DDlogError as error:  # the client has checked them, before another one changed their rows
                plan, _ = session.plans.of(session.program.source.another(name, text), parameters)
                if plan.statement.kind != "rollback":
                    raise changed_meanwhile(error) from None
            statement.made.clear()
        if not given["any"]:
            return {"rows": _result(select(statement, text, name), session)}
        made = execute(statement, transaction.end, text, parameters, name)  # type: ignore[arg-type]
    finally:
        Transaction.rollback(transaction)
    return {
        "count": made.count, "rows": None if made.rows is None else _result(made.rows, session),
        "changes": None if made.changes is None else changes_part(made.changes, session.program),
        "made": tuple(statement.made), "noted": tuple(transaction.noted),
        "read": tuple(_taken(session, statement.made)) if "changes" in given else (),
    }  # fmt: skip


def _taken(
    session: Session, made: Iterable[tuple[str, str, tuple[Row, ...]]]
) -> Iterator[tuple[str, tuple[Row, ...], tuple[int, ...]]]:
    """The rows that a statement took from relations without a key, where no other conflict tells that another
    client has taken them, with their weights before the transaction."""
    for word, relation, rows in made:
        if word == "delete_rows" and session.program.relations[relation].key is None:
            yield relation, rows, tuple(session.state.host.runtime.lookup(relation, rows))


class StatementChanges:
    """The changes of a statement of SQL, which is carried out when they are made, on a session without
    others. See `Updates`."""

    def __init__(self, service: Service, body: bytes) -> None:
        """`body` has the arguments of the call `execute`. Raises DDlogError."""
        self._service = service
        method, arguments = METHODS["execute"], object_of(body, text=(str,), name=(str,), parameters=(str,))
        self._given = {**arguments, "any": True}
        method.check("execute", self._given)
        self.outcome: Mapping[str, Any] = {}
        """The count and the rows that the client gets, beside the changes of the output relations."""

    def apply(self, session: Session) -> None:
        if changes_views(self._given["text"]):
            raise DDlogError([BadRequest("a statement about views is no transaction")])
        found = _execute(self._service, session, self._given)
        if ("commit",) not in found["noted"]:
            raise DDlogError([BadRequest("the statement changes no rows")])
        for word, relation, rows in found["made"]:
            getattr(session, word)(relation, rows)
        self.outcome = {"count": found["count"], "rows": found["rows"]}

    def touches(self, keys: Keys) -> list[tuple[str, Hashable]]:
        return [(name, EVERY_ROW) for name in self._service.program.names("input")]


def _other_program(
    make: Callable[[Program, Mapping[str, Any]], Program],
) -> Callable[[Service, Session, Mapping[str, Any]], Any]:
    def act(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
        program = make(session.program, given)
        return {"changes": changes_part(service.go_on_with(program), program), "warnings": program.warnings}

    return act


def _changes_of(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    return changes_part(session.changes_of(given["epoch"]), session.program)


def _described_state(service: Service, session: Session, given: Mapping[str, Any]) -> Any:
    return tuple(session.described_state())


def _runtime(word: str) -> Callable[[Service, Session, Mapping[str, Any]], Any]:
    return lambda service, session, given: _plain(getattr(session.state.host.runtime, word)())


def _plain(found: Any) -> Any:
    return None if found is None else tuple(found)


_ROW: tuple[type, ...] = (list, dict, str, int, float, bool)
_RELATION: Mapping[str, tuple[type, ...]] = {"relation": (str,)}
_TEXT: Mapping[str, tuple[type, ...]] = {"text": (str,), "name": (str,)}
METHODS: Mapping[str, Method] = {
    "program": Method(_program),
    "rows": Method(_rows, _RELATION),
    "size": Method(_size, _RELATION),
    "lookup": Method(_lookup, {**_RELATION, "rows": (list,)}),
    "find": Method(_find, {**_RELATION, "values": (dict,)}),
    "query": Method(_query, {**_TEXT, "values": (dict,)}, frozenset({"values"})),
    "execute": Method(
        _execute, {**_TEXT, "parameters": (str,), "changes": (str,), "any": (bool,)},
        frozenset({"changes"}),
    ),
    **{
        word: Method(
            _explained(word),
            {**_RELATION, "row": _ROW, "values": (dict,), **named},
            frozenset({"row", "values", *named}),
        )
        for word, named in _EXPLAINED.items()
    },
    "extend": Method(
        _other_program(lambda program, given: extended(program, given["text"], given["name"])), _TEXT,
        changes=True,
    ),
    "drop": Method(
        _other_program(lambda program, given: without(program, given["text"])), {"text": (str,)}, changes=True
    ),
    "changes_of": Method(_changes_of, {"epoch": (int,)}),
    "described_state": Method(_described_state),
    "profile": Method(lambda service, session, given: session.profile()),
    **{word: Method(_runtime(word)) for word in ("footprint", "plans", "expectations", "decisions")},
}  # fmt: skip
