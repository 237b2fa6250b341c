"""Relations and the indexes over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors.source import Span
from ..types import Constructor, Type, User
from .expressions import Expr, Parameter

GATHERED = "$all"
"""The end of the name of a relation in which a transformer gathers the rows of an input."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class WindowRelation:
    """A relation that a transformer of the module `window` makes of the rows of its input.

    `kind`: `range`, rows within `range` of the clock, a relation; `late`, the rows that another window, `of`,
    does not take, as they come more than `lateness` late; `clock`, the greatest of its input so far; `all`,
    all elements of a stream so far; `last`, those of the last transactions. `shown_by` is the relation that
    shows it.
    """

    kind: str
    clock: str = ""
    of: str = ""
    range: int = 0
    lateness: int | None = None
    shown_by: str = ""

    @property
    def reads(self) -> tuple[str, ...]:
        """The relations that it reads beside its input."""
        return tuple(name for name in (self.clock, self.of) if name)


TIME = "$time"
"""The variable, in the rule of a window, that is the time of a row."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A declared relation.

    `role` is input, internal, output, delayed or earlier; `kind` relation, multiset or stream. `record` is
    the type of an element. When it is a struct of one constructor, that is `constructor` and the columns are
    its fields; otherwise `constructor` is None and there is one column, named `value`, the element itself.
    `key` computes the primary key from the columns: a function whose parameters are the columns.
    `original` is the name of the relation in its source, if an attribute gives it; `aliases` are those that
    imports give it (`import lib as geo`). `made` says that a translation of another language made it, between
    the rules of what that language names.
    A delayed relation `R-n` holds the rows of R n transactions ago: `past` is R and n. In a loop that
    declares R its role is earlier: it holds the rows of R n rounds ago, and `earlier` is R and n.
    `demand` marks an output for whose sake no more of other relations is computed than its rules ask for.
    A window holds a part of what its rules give: see Window.
    """

    name: str
    role: str
    kind: str
    record: Type
    constructor: Constructor | None
    columns: tuple[Column, ...]
    key: Function | None
    span: Span = field(compare=False, repr=False)
    original: str = ""
    past: tuple[str, int] | None = None
    demand: bool = False
    window: WindowRelation | None = None
    earlier: tuple[str, int] | None = None
    made: bool = False
    aliases: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def reads(self) -> set[str]:
        """The relations that it is made of beside those of its rules."""
        states = {of[0] for of in (self.past, self.earlier) if of is not None}
        return states.union(self.window.reads if self.window is not None else ())

    @property
    def titles(self) -> tuple[str, ...]:
        """The names of the columns in files and tables: of some, an attribute gives another one than a rule
        can write."""
        names = tuple(column.name for column in self.columns)
        forms = self.constructor.json if self.constructor is not None else ()
        return tuple(form.name for form in forms) if len(forms) == len(names) else names

    @property
    def titled_types(self) -> tuple[tuple[str, Type], ...]:
        """The names of the columns in files and tables, and their types."""
        return tuple(zip(self.titles, (column.type for column in self.columns), strict=True))

    @property
    def source_name(self) -> str:
        """The name that the relation has in its source."""
        return self.original or self.name

    @property
    def hidden(self) -> bool:
        """Whether the checker made it, for a negated pattern, an index or a delay: nobody declared it."""
        return "$" in self.name or self.role == "delayed"


def answer_relation(name: str, columns: Sequence[Column], span: Span) -> Relation:
    """The relation of the answer to a query: a set on demand, whose elements are structs of the columns."""
    constructor = Constructor(name, 0, tuple((each.name, each.type) for each in columns))
    return Relation(
        name, "output", "relation", User(name), constructor, tuple(columns), None, span, demand=True
    )


def relation_named(name: str, relations: Mapping[str, Relation]) -> Relation | None:
    """The relation with a name, or else with this name, in whatever case, in its source, or with this alias;
    None without one."""
    declared = relations.get(name) or relations.get(originals(relations).get(name.lower(), ""))
    return declared or _aliased(name, relations)


def index_named(name: str, indexes: Mapping[str, Index]) -> Index | None:
    """The index with a name or an alias; None without one."""
    return indexes.get(name) or _aliased(name, indexes)


def _aliased(name: str, declared: Mapping[str, _Declared]) -> _Declared | None:
    """The only declaration with an alias; None if there is none, or several."""
    found = [each for each in declared.values() if name in each.aliases]
    return found[0] if len(found) == 1 else None


def originals(relations: Mapping[str, Relation]) -> Mapping[str, str]:
    """The names of relations by those in their sources, in lower case."""
    return {each.original.lower(): each.name for each in relations.values() if each.original}


@dataclass(frozen=True, slots=True)
class Index:
    """A declared index: it looks rows of `relation` up by the values of `variables`.

    The rows are in `source`: the relation itself, or a hidden relation of the rows that the pattern matches,
    whose columns from `start` on are the columns of `relation`. `positions` are the columns that hold each
    variable.
    """

    name: str
    variables: tuple[Column, ...]
    relation: str
    source: str
    positions: tuple[tuple[int, ...], ...]
    start: int
    span: Span = field(compare=False, repr=False)
    aliases: tuple[str, ...] = field(default=(), compare=False, repr=False)


_Declared = TypeVar("_Declared", Relation, Index)


@dataclass(frozen=True, slots=True)
class Function:
    """One instance of a function. `key` is unique, e.g. `ddlog_std::map_get<string, bigint>`.

    `body` is None for an extern function, implemented in Python by `module`'s function `name`
    (`name` unqualified). `effects` says that an attribute gives it side effects.
    """

    key: str
    module: str
    name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Expr | None
    span: Span = field(compare=False, repr=False)
    effects: bool = False
