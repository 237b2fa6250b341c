"""Circuits that are built: their text, their drawing, the reference evaluation, and sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ..core import Relation
from ..engine import circuit as c
from ..engine import reference, zset
from ..engine.incremental import incrementalize
from ..engine.passes import optimize
from ..engine.passes.chains import join_chains
from ..engine.text import to_dot, to_text
from ..engine.zset import Zset
from ..errors.circuits import BadChange
from ..errors.diagnostics import DDlogError
from ..errors.nearest import meant_of
from ..types import BigInt, Bit, Bool, Signed, String
from ..values.numbers import integer_range
from ..values.rows import row_of
from .faults import diagnosed, with_faults
from .language import Columns, Language, relation_of
from .nestedfixpoints import flattened
from .recognition import with_fixpoints
from .rules import in_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .session import CircuitSession

Change = Mapping[Any, int] | Iterable[Any]
"""Rows with weights, or rows of weight 1."""


@dataclass(frozen=True)
class Ends:
    """An input or an output: its columns, and the kind of its Z-sets: `set` or `zset`."""

    name: str
    columns: Columns
    kind: str

    @property
    def relation(self) -> Relation:
        """The relation that reads rows of users."""
        return relation_of(self.name, self.columns, "relation" if self.kind == "set" else "multiset")


class Runnable:
    """A circuit from streams to streams; `on_changes`: the incremental version, from changes to changes."""

    on_changes = False

    def network(self) -> c.Circuit:
        """The circuit of the engine, relational. Raises DDlogError for one that is not complete."""
        raise NotImplementedError

    @property
    def language(self) -> Language:
        """The declarations."""
        raise NotImplementedError

    @property
    def ends(self) -> tuple[Mapping[str, Ends], Mapping[str, Ends]]:
        """The inputs and the outputs by name."""
        raise NotImplementedError

    # ---------------------------------------------------------------- to be seen

    @property
    def shown(self) -> c.Circuit:
        """The circuit of the engine as it is printed."""
        return incrementalize(with_fixpoints(self.network())) if self.on_changes else self.network()

    def text(self) -> str:
        """The operators in order, one a line."""
        return to_text(self.shown)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def dot(self) -> str:
        """The circuit for Graphviz."""
        return to_dot(self.shown)

    def svg(self) -> str:
        """A drawing: a standalone SVG document."""
        from ..engine.svg import to_svg

        return to_svg(self.shown)

    def _repr_svg_(self) -> str:
        return self.svg()

    # ---------------------------------------------------------------- to be run

    def run(
        self, epochs: Iterable[Mapping[str, Change]], *, max_iterations: int | None = None
    ) -> list[dict[str, Zset]]:
        """The values of the outputs at each time, for the values of the inputs, by the reference evaluation:
        naive, and right by definition. An input that is not given is zero at that time. Raises DDlogError."""
        check_limit(max_iterations)
        if isinstance(epochs, Mapping) or not isinstance(epochs, Iterable):
            bad("epochs", f"{epochs!r} is not a list of times", 'for example `run([{"edges": [(1, 2)]}])`')
        return list(self.outputs(epochs, max_iterations))

    def outputs(
        self, epochs: Iterable[Mapping[str, Change]], limit: int | None = None
    ) -> Iterator[dict[str, Zset]]:
        """See `run`; time by time."""
        evaluation = reference.Evaluation(with_faults(self.shown), self.on_changes, limit)
        contents = InputContents(self)
        for number, given in enumerate(epochs):
            changes = contents.changes(given, number)
            try:
                yield evaluation.step(changes)
            except Exception as error:
                found = diagnosed(error, self.language.places)
                if found is None:
                    raise
                raise found from None
            contents.keep(changes)

    def session(
        self,
        *,
        engine: str = "auto",
        spark: SparkSession | None = None,
        spark_options: Any = None,
        workers: int | None = None,
        max_iterations: int | None = None,
        memory_limit: int | str | None = None,
    ) -> CircuitSession:
        """The circuit on a runtime, with all its state at zero; see `ddlog.circuits.session`. The arguments
        are those of `Program.session`. Raises DDlogError."""
        from .session import open_session

        return open_session(self, engine, spark, spark_options, workers, max_iterations, memory_limit)

    def executed(self) -> c.Circuit:
        """The circuit of changes that a runtime executes. The incremental version takes changes and gives
        changes. Otherwise each time is a change from the one before: inputs and outputs are streams, which
        begin an epoch empty."""
        network = join_chains(in_rules(flattened(with_fixpoints(self.network()))))
        if not self.on_changes:
            network = c.Circuit(tuple(map(_stream, network.nodes)), network.relations)
        pure = not any(isinstance(node, _SIGNED) or getattr(node, "signed", False) for node in network.nodes)
        # Passes may leave a monotone fixpoint of one that was none, with a negation that nothing reads.
        return incrementalize(in_rules(optimize(network)) if pure else network)


_SIGNED = c.Negate | c.Delay | c.Integrate | c.Differentiate | c.Feedback | c.Feed | c.Bracket


def _stream(node: c.Node) -> c.Node:
    match node:
        case c.Input(relation, schema):
            return c.Input(relation, schema, True, node.text, True, node.signed)
        case c.Output(relation, source, schema):
            return c.Output(relation, source, schema, node.text, True)
    return node


class InputContents:
    """The changes of the inputs as the circuit may take them. A set is one at all times: a row that it has
    comes no more, and one that it has not cannot go."""

    def __init__(self, circuit: Runnable) -> None:
        self._inputs, _ = circuit.ends
        self._typedefs, self._tracked = circuit.language.typedefs, circuit.on_changes
        self._relations = {name: end.relation for name, end in self._inputs.items()}
        self._held: dict[str, Zset] = {name: {} for name in self._inputs}

    def changes(self, given: Mapping[str, Change], number: int) -> dict[str, Zset]:
        """The Z-sets of an epoch, checked. Raises DDlogError."""
        found: dict[str, Zset] = {}
        for name, rows in by_input(given, f"time {number}").items():
            found[name] = self.zset(name, rows, f"{name}, time {number}")
            if self._inputs[name].kind == "set" and self._tracked:
                held = self._held[name]
                found[name] = {row: w for row, w in found[name].items() if (w > 0) != (row in held)}
        return found

    def zset(self, name: str, rows: Change, where: str) -> Zset:
        """The Z-set of rows that a user gives for an input. Raises DDlogError."""
        if name not in self._inputs:
            help = meant_of(str(name), tuple(self._inputs), "the inputs")
            bad(str(name), "there is no such input", help)
        if not isinstance(rows, Iterable):
            bad(where, f"{rows!r} are no rows", "rows are a list, or a mapping from rows to weights")
        total = self._plain(name, rows)
        if total is None:
            weighted = rows.items() if isinstance(rows, Mapping) else ((row, 1) for row in rows)
            relation, typedefs = self._relations[name], self._typedefs
            total = zset.zset((row_of(row, relation, typedefs), _weight(w, where)) for row, w in weighted)
        if self._inputs[name].kind == "set" and set(total.values()) != {1}:
            least = -1 if self._tracked else 1
            for row, weight in total.items():
                if not least <= weight <= 1:
                    allowed = "+1 or -1" if self._tracked else "1"
                    problem = f"the row {row} has weight {weight}: {name} is a set, whose rows have {allowed}"
                    help = "an input of any weights is `circuit.input(…, zset=True)`"
                    bad(where, problem, help)
        return total

    def _plain(self, name: str, rows: Change) -> Zset | None:
        """The Z-set of rows that are canonical as they stand; None if there may be others."""
        if isinstance(rows, Mapping):
            total = dict(rows)
            if set(map(type, total.values())) != {int} or 0 in total.values():
                return None
        elif isinstance(rows, list | tuple):
            total = _ones(rows)
            if len(total) != len(rows):
                return None
        else:
            return None
        return total if are_plain(list(total), self._inputs[name].columns) else None

    def keep(self, changes: Mapping[str, Zset]) -> None:
        """Notes that an epoch is done."""
        if self._tracked:
            for name, change in changes.items():
                if self._inputs[name].kind == "set":
                    self._held[name] = zset.add(self._held[name], change)


def _ones(rows: Iterable[Any]) -> Zset:
    """Each row with weight 1; no rows where one cannot be looked up."""
    try:
        return dict.fromkeys(rows, 1)
    except TypeError:
        return {}


def _weight(weight: object, where: str) -> int:
    if isinstance(weight, bool) or not isinstance(weight, int):
        bad(where, f"{weight!r} is not a weight", "a weight is an integer")
    return weight


def bad(where: str, problem: str, help: str) -> NoReturn:
    """Raises the DDlogError of a change that cannot be taken."""
    raise DDlogError([BadChange(where=where, problem=problem, help=help)])


def by_input(given: object, where: str) -> Mapping[str, Any]:
    """The rows of each input at one time. Raises DDlogError if the argument is no mapping."""
    if not isinstance(given, Mapping):
        bad(where, f"{given!r} is not a mapping from inputs to rows", 'for example `{"edges": [(1, 2)]}`')
    return given


def check_limit(most: object) -> None:
    """Raises DDlogError if a limit of iterations is none."""
    if most is not None and (type(most) is not int or most < 1):
        bad(
            "max_iterations",
            f"{most!r} is no number of iterations",
            "it is an integer of at least 1, or None",
        )


def are_plain(rows: Sequence[Any], columns: Columns) -> bool:
    """Whether the types of the values prove that all rows are tuples of canonical values. Otherwise the
    caller checks each row."""
    if not columns or set(map(type, rows)) != {tuple} or set(map(len, rows)) != {len(columns)}:
        return False
    pairs = zip(zip(*rows, strict=True), columns, strict=True)
    return all(_is_plain(values, column.type) for values, column in pairs)


def _is_plain(values: Sequence[Any], of: object) -> bool:
    found = set(map(type, values))
    match of:
        case BigInt():
            return found == {int}
        case Bit() | Signed():
            least, greatest = integer_range(of)
            return found == {int} and least <= min(values) and max(values) <= greatest
        case Bool():
            return found == {bool}
        case String():
            return found == {str} and "".join(values).isascii()
        case _:
            return False
