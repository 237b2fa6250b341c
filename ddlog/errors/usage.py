"""What can be wrong with the use of a session: names, values, keys, and faults of a program as it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic, counted


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


@dataclass(frozen=True, slots=True)
class CannotReadProgram(Diagnostic):
    """The program's file cannot be read."""

    title: ClassVar[str] = "{path}: cannot be read: {reason}"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnknownRelation(Diagnostic):
    """A name that is no relation's."""

    title: ClassVar[str] = "there is no relation {name}"
    name: str
    near: str | None

    @property
    def hint(self) -> str:
        """The relation that was perhaps meant."""
        return f"did you mean `{self.near}`?" if self.near else ""


@dataclass(frozen=True, slots=True)
class NotAnInput(Diagnostic):
    """A change of a relation that rules compute."""

    title: ClassVar[str] = "{name} is not an input relation: only input relations can be changed"
    name: str
    role: str
    inputs: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The relations that can be changed."""
        return f"the input relations are {_listed(self.inputs)}"


@dataclass(frozen=True, slots=True)
class NothingToClear(Diagnostic):
    """`clear` of a stream."""

    title: ClassVar[str] = "{name} is a stream, which cannot be cleared: its elements go by themselves"
    suggestion: ClassVar[str] = "rollback forgets those of this transaction"
    name: str


@dataclass(frozen=True, slots=True)
class NotDelayed(Diagnostic):
    """A query of a past that no rule reads."""

    title: ClassVar[str] = "{name} is not kept: of the past there is only what rules read"
    name: str
    kept: tuple[str, ...]

    @property
    def hint(self) -> str:
        """What can be asked."""
        return f"the rules read {_listed(self.kept)}" if self.kept else "no rule reads the past"


@dataclass(frozen=True, slots=True)
class NotAnOutput(Diagnostic):
    """A subscription to a relation whose changes are not given out."""

    title: ClassVar[str] = "{name} is not an output relation: only their changes can be followed"
    name: str
    outputs: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The relations that can be followed."""
        return f"the output relations are {_listed(self.outputs)}"


@dataclass(frozen=True, slots=True)
class NotKept(Diagnostic):
    """A relation that this session does not compute."""

    title: ClassVar[str] = "{name} is not kept by this session"
    suggestion: ClassVar[str] = (
        'open the session with relations="all"; `ddlog run` keeps output relations and what --relation names'
    )
    name: str


@dataclass(frozen=True, slots=True)
class BadValue(Diagnostic):
    """A value that is not of its column's type."""

    title: ClassVar[str] = "{relation}.{column}: {problem}"
    relation: str
    column: str
    problem: str


@dataclass(frozen=True, slots=True)
class BadTable(Diagnostic):
    """A table whose columns are not the relation's, or with a value that is not of its column's type."""

    title: ClassVar[str] = "the table for {relation}{where}: {problem}"
    relation: str
    problem: str
    row: int = 0

    @property
    def where(self) -> str:
        """The row, counted from 1."""
        return f", row {self.row}" if self.row else ""


@dataclass(frozen=True, slots=True)
class BadKey(Diagnostic):
    """A value that is not of the primary key's type."""

    title: ClassVar[str] = "the primary key of {relation}: {problem}"
    relation: str
    problem: str


@dataclass(frozen=True, slots=True)
class WrongWidth(Diagnostic):
    """A row with too few or too many values."""

    title: ClassVar[str] = "a row of {relation} has {expected}, found {given}"
    relation: str
    given: int
    columns: tuple[str, ...]

    @property
    def expected(self) -> str:
        """How many values, and which."""
        noun = "value" if len(self.columns) == 1 else "values"
        return f"{len(self.columns)} {noun} ({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class WrongColumns(Diagnostic):
    """A row by column name whose names are not the columns."""

    title: ClassVar[str] = "a row of {relation} {difference}"
    relation: str
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def difference(self) -> str:
        """The first name that is wrong."""
        return (
            f"has no column {self.unknown[0]!r}" if self.unknown else f"lacks the column {self.missing[0]!r}"
        )

    @property
    def hint(self) -> str:
        """The columns."""
        return f"the columns are {_listed(self.columns)}"


@dataclass(frozen=True, slots=True)
class NoRow(Diagnostic):
    """Something that is no row at all."""

    title: ClassVar[str] = "{shown} is no row of {relation}"
    relation: str
    shown: str
    columns: tuple[str, ...]

    @property
    def hint(self) -> str:
        """What a row is."""
        form = f"a row is a tuple, or a mapping by name, of {_listed(self.columns)}"
        return f"{form}; several are given as `*rows`, or as a table to `insert_table`"


@dataclass(frozen=True, slots=True)
class NoPrimaryKey(Diagnostic):
    """A change by key of a relation that has none."""

    title: ClassVar[str] = "{relation} has no primary key"
    relation: str


@dataclass(frozen=True, slots=True)
class KeyExists(Diagnostic):
    """An insertion of a key that is there."""

    title: ClassVar[str] = "{relation} already has a row with the key {key}"
    relation: str
    key: str


@dataclass(frozen=True, slots=True)
class KeyMissing(Diagnostic):
    """A change of a key that is not there."""

    title: ClassVar[str] = "{relation} has no row with the key {key}"
    relation: str
    key: str


@dataclass(frozen=True, slots=True)
class DifferentValue(Diagnostic):
    """A deletion of a row whose key is there with other values."""

    title: ClassVar[str] = "the row of {relation} with the key {key} is another than the one to delete"
    relation: str
    key: str


@dataclass(frozen=True, slots=True)
class CannotModify(Diagnostic):
    """A mutation that does not fit the value that is there."""

    title: ClassVar[str] = "the row of {relation} cannot be changed so: {problem}"
    relation: str
    problem: str


@dataclass(frozen=True, slots=True)
class UnknownIndex(Diagnostic):
    """A name that is no index's."""

    title: ClassVar[str] = "there is no index {name}"
    name: str
    near: str | None
    indexes: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The index that was perhaps meant, or all of them."""
        return f"did you mean `{self.near}`?" if self.near else f"the indexes are {_listed(self.indexes)}"


@dataclass(frozen=True, slots=True)
class NotARelation(Diagnostic):
    """An index where a relation should be."""

    title: ClassVar[str] = "{name} is an index, not a relation"
    suggestion: ClassVar[str] = "it is asked with `query_index {name}(…);`, in Python `session.index(…)[key]`"
    name: str


@dataclass(frozen=True, slots=True)
class NotAnIndex(Diagnostic):
    """A relation where an index should be."""

    title: ClassVar[str] = "{name} is a relation, not an index"
    suggestion: ClassVar[str] = "`dump {name};` prints it, and `index I(x: T) on {name}(…)` declares an index"
    name: str


@dataclass(frozen=True, slots=True)
class WrongIndexKey(Diagnostic):
    """A key with too few or too many values."""

    title: ClassVar[str] = "index {index} is asked with {expected}, found {given}"
    index: str
    variables: tuple[str, ...]
    given: int

    @property
    def expected(self) -> str:
        """How many values, and of which types."""
        wanted = counted(len(self.variables), "value")
        return f"{wanted} ({', '.join(self.variables)})" if self.variables else wanted


@dataclass(frozen=True, slots=True)
class BadIndexKey(Diagnostic):
    """A value that is not of the type of the index's variable."""

    title: ClassVar[str] = "the key of index {index}, {variable}: {problem}"
    index: str
    variable: str
    problem: str


@dataclass(frozen=True, slots=True)
class InTransaction(Diagnostic):
    """Something that only goes between transactions."""

    title: ClassVar[str] = "there are changes that are neither committed nor rolled back"
    suggestion: ClassVar[str] = "commit or roll back first"


@dataclass(frozen=True, slots=True)
class NoFurtherChanges(Diagnostic):
    """A change of a session that was loaded without history."""

    title: ClassVar[str] = "this session was loaded as static: it takes no changes"


@dataclass(frozen=True, slots=True)
class SessionClosed(Diagnostic):
    """A use of a session after its end."""

    title: ClassVar[str] = "the session is closed"


@dataclass(frozen=True, slots=True)
class FaultInRule(Diagnostic):
    """User code failed as it ran."""

    title: ClassVar[str] = "{problem}, in the rule `{shown}`{valuation}"
    problem: str
    rule: str
    row: str

    @property
    def shown(self) -> str:
        """The rule on one line."""
        return " ".join(self.rule.split())

    @property
    def valuation(self) -> str:
        """The row on which it failed."""
        return f", for {self.row}" if self.row else ""


@dataclass(frozen=True, slots=True)
class IterationLimitReached(Diagnostic):
    """A recursion went on beyond the limit."""

    title: ClassVar[str] = "no fixpoint after {limit} iterations of {recursive}"
    suggestion: ClassVar[str] = (
        "the session is at its last commit; a higher limit can be set, if the recursion ends at all"
    )
    limit: int
    relations: tuple[str, ...]

    @property
    def recursive(self) -> str:
        """The relations of the recursion."""
        return ", ".join(self.relations)


@dataclass(frozen=True, slots=True)
class NotInstalled(Diagnostic):
    """An optional package is missing."""

    title: ClassVar[str] = "{package} is not installed"
    suggestion: ClassVar[str] = "pip install {package}"
    package: str


@dataclass(frozen=True, slots=True)
class NoTable(Diagnostic):
    """Values that a table cannot hold."""

    title: ClassVar[str] = "{problem}"
    problem: str


@dataclass(frozen=True, slots=True)
class NoSuchEngine(Diagnostic):
    """An engine that does not exist."""

    title: ClassVar[str] = "there is no engine `{engine}`"
    suggestion: ClassVar[str] = "the engines are auto, in-process and spark"
    engine: str


@dataclass(frozen=True, slots=True)
class BadOptions(Diagnostic):
    """Options that do not go together."""

    title: ClassVar[str] = "{problem}"
    problem: str
