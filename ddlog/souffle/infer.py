"""The kinds of the variables and expressions of a clause.

Each variable and each expression has a kind (see `types`), which columns, fields, functors and constants
determine. Equal kinds are joined until nothing changes; an integer of which nothing else is known is a
`number`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic, counted
from ..errors.source import Span
from ..errors.unknown import UnknownName, unknown_name
from ..syntax.walk import rebuilt
from . import syntax as ast
from .clauses import HornClause, Literal, Negated, Range, RowNumber, Summary
from .functors import CONVERTED, FUNCTORS
from .types import TRUTH, SouffleTypes

NUMERIC = ("number", "unsigned", "float")


class Kinds:
    """The kinds of the expressions of one clause; `found` are the errors in them."""

    def __init__(self, clause: HornClause, columns: Mapping[str, Sequence[str]], types: SouffleTypes) -> None:
        self.types, self.columns = types, columns
        self.found: list[Diagnostic] = []
        self._parent: dict[object, object] = {}
        self._kind: dict[object, str] = {}
        self._nodes: list[Any] = []  # keeps what is known by its identity alive
        # Records whose fields wait for their kind.
        self._open: list[ast.RecordValue] = []
        for head in clause.heads:
            self._atom(head)
        self._literals(clause.body)
        self._resolve_records()

    # --------------------------------------------------------------- results

    def of(self, expr: ast.Expr) -> str:
        """The kind of an expression of the clause."""
        root = self._root(_key(expr))
        return self._kind.get(root, "number" if not isinstance(expr, ast.Nil | ast.RecordValue) else "")

    def of_variable(self, name: str) -> str:
        """The kind of a variable."""
        return self._kind.get(self._root(name), "number")

    # ---------------------------------------------------------------- joining

    def _root(self, key: object) -> object:
        while (parent := self._parent.get(key, key)) is not key and parent != key:
            key = parent
        return key

    def _join(self, one: object, other: object, span: Span) -> None:
        a, b = self._root(one), self._root(other)
        if a == b:
            return
        ours, theirs = self._kind.get(a), self._kind.get(b)
        if ours is not None and theirs is not None and ours != theirs:
            self._clash(ours, theirs, span)
            return
        self._parent[a] = b
        if ours is not None:
            self._kind[b] = ours

    def _set(self, key: object, kind: str, span: Span) -> None:
        root = self._root(key)
        known = self._kind.setdefault(root, kind)
        if known != kind:
            self._clash(known, kind, span)

    def _clash(self, found: str, wanted: str, span: Span) -> None:
        self.found.append(errors.TypeClash(found=found, wanted=wanted, span=span))

    def _expect(self, expr: ast.Expr, kind: str) -> None:
        self._expr(expr)
        self._set(_key(expr), kind, expr.span)

    # ------------------------------------------------------------------ terms

    def _literals(self, literals: Sequence[Literal]) -> None:
        for literal in literals:
            self._literal(literal)

    def _literal(self, literal: Literal) -> None:
        match literal:
            case ast.Predicate():
                self._atom(literal)
            case Negated(_, term):
                self._literal(term)
            case ast.Test(_, name, args):
                self._count(f"`{name}`", 2, args, literal.span)
                for arg in args:
                    self._expect(arg, "symbol")
            case ast.Compare(span, _, left, right):
                self._expr(left)
                self._expr(right)
                self._join(_key(left), _key(right), span)
            case Range(span, name, args):
                if len(args) not in (2, 3):
                    wrong = errors.WrongNumber(
                        what="`range`", expected="2 or 3 values", given=len(args), span=span
                    )
                    self.found.append(wrong)
                for arg in args:
                    self._expr(arg)
                    self._join(_key(arg), name, arg.span)
            case Summary():
                self._summary(literal)
            case RowNumber():
                pass

    def _summary(self, summary: Summary) -> None:
        for body in summary.bodies:
            self._literals(body)
        if summary.target is not None:
            self._expr(summary.target)
        match summary.function:
            case "count":
                pass
            case "mean":
                self._set(summary.var, "float", summary.span)
            case _:
                assert summary.target is not None
                self._join(summary.var, _key(summary.target), summary.span)

    def _atom(self, atom: ast.Predicate) -> None:
        types = self.columns.get(atom.name)
        if types is None:
            self.found.append(unknown_name("relation", atom.name, self.columns, atom.span))
            return
        self._fields(f"`{atom.name}`", atom.args, types, atom.span)

    def _fields(self, what: str, args: Sequence[ast.Expr], types: Sequence[str], span: Span) -> None:
        if self._count(what, len(types), args, span):
            for arg, type in zip(args, types, strict=True):
                self._expect(arg, self.types.kind(type))

    def _count(self, what: str, wanted: int, args: Sequence[ast.Expr], span: Span) -> bool:
        if len(args) == wanted:
            return True
        expected = counted(wanted, "value")
        self.found.append(errors.WrongNumber(what=what, expected=expected, given=len(args), span=span))
        return False

    # ------------------------------------------------------------ expressions

    def _expr(self, expr: ast.Expr) -> None:
        self._nodes.append(expr)
        key = _key(expr)
        match expr:
            case ast.Number(span, _, kind):
                if kind:
                    self._set(key, kind, span)
            case ast.Real(span):
                self._set(key, "float", span)
            case ast.Boolean(span):
                self._set(key, TRUTH, span)
            case ast.Text(span):
                self._set(key, "symbol", span)
            case ast.RecordValue(_, items):
                for item in items:
                    self._expr(item)
                self._open.append(expr)
            case ast.Branch():
                self._branch(expr)
            case ast.Operation(_, _, args):
                for arg in args:
                    self._expr(arg)
                    self._join(_key(arg), key, arg.span)
            case ast.TypeCast(span, value, type):
                self._expr(value)
                if not self.types.exists(type):
                    self.found.append(UnknownName(what="type", name=type, span=span))
                else:
                    self._set(key, self.types.kind(type), span)
                if isinstance(value, ast.Nil | ast.RecordValue):
                    self._join(_key(value), key, span)
            case ast.FunctorCall():
                self._call(expr)
            case ast.UserCall(span, name, args) if name in self.types.functors:
                functor = self.types.functors[name]
                self._set(key, self.types.kind(functor.result), span)
                self._fields(f"`@{name}`", args, functor.args, span)
            case ast.UserCall(span, name):
                known = [f"@{each}" for each in self.types.functors]
                self.found.append(unknown_name("functor", f"@{name}", known, span))

    def _branch(self, expr: ast.Branch) -> None:
        if expr.name not in self.types.branches:
            self.found.append(unknown_name("branch", expr.name, self.types.branches, expr.span))
            return
        branch, owner = self.types.branches[expr.name]
        self._set(_key(expr), owner, expr.span)
        fields = [field.type for field in branch.fields]
        self._fields(f"`${expr.name}`", expr.items, fields, expr.span)

    def _call(self, call: ast.FunctorCall) -> None:
        key, name = _key(call), call.name
        if name in ("min", "max"):
            for arg in call.args:
                self._expr(arg)
                self._join(_key(arg), key, arg.span)
            return
        if name == "cat":
            args, result = ("symbol",) * max(1, len(call.args)), "symbol"
        elif name in CONVERTED:
            args, result = ("",), CONVERTED[name]
        elif name in FUNCTORS:
            args, result = FUNCTORS[name].args, FUNCTORS[name].result
        else:
            known = [*FUNCTORS, *CONVERTED, "cat", "min", "max", "range"]
            self.found.append(unknown_name("functor", name, known, call.span))
            return
        self._set(key, result, call.span)
        if self._count(f"`{name}`", len(args), call.args, call.span):
            for arg, kind in zip(call.args, args, strict=True):
                self._expr(arg)
                if kind:
                    self._set(_key(arg), kind, arg.span)

    def _resolve_records(self) -> None:
        """Gives the parts of records the kinds of their fields, from the outside inwards."""
        waiting = self._open
        while waiting:
            known = [record for record in waiting if self._root(_key(record)) in self._kind]
            if not known and self._guess(waiting):
                continue
            if not known:
                for record in waiting:
                    self.found.append(errors.UnknownShape(what="record", span=record.span))
                return
            for record in known:
                self._fields_of(record)
            done = set(map(id, known))
            waiting = [record for record in waiting if id(record) not in done]

    def _guess(self, waiting: Sequence[ast.RecordValue]) -> bool:
        """Gives records that stand for each other the only type that all of them fit, if some have one."""
        fits: dict[object, set[str]] = {}
        for record in waiting:
            own = {kind for kind in self.types.records if self._may_be(record, kind)}
            root = self._root(_key(record))
            fits[root] = fits.get(root, own) & own
        alone = {root: kinds for root, kinds in fits.items() if len(kinds) == 1}
        for record in waiting:
            for kind in alone.get(self._root(_key(record)), ()):
                self._set(_key(record), kind, record.span)
        return bool(alone)

    def _may_be(self, record: ast.RecordValue, kind: str) -> bool:
        """Whether the parts of a record, as far as they are known, are those of a record type."""
        fields = self.types.fields(kind)
        kinds = [self._kind.get(self._root(_key(item))) for item in record.items]
        return len(kinds) == len(fields) and all(
            own is None or own == self.types.kind(field.type)
            for own, field in zip(kinds, fields, strict=True)
        )

    def _fields_of(self, record: ast.RecordValue) -> None:
        kind = self._kind[self._root(_key(record))]
        if kind not in self.types.records:
            self._clash("record", kind, record.span)
            return
        fields = self.types.fields(kind)
        if self._count(f"a `{kind}`", len(fields), record.items, record.span):
            for item, field in zip(record.items, fields, strict=True):
                self._set(_key(item), self.types.kind(field.type), item.span)


def without_idle_casts(clause: HornClause, kinds: Kinds) -> HornClause:
    """The clause with variables in place of their casts to the kind that they have."""

    def plain(expr: Any) -> Any:
        match expr:
            case ast.TypeCast(_, ast.Named() as value, _) if kinds.of(value) == kinds.of(expr):
                return value
        return expr

    heads, body = rebuilt((clause.heads, clause.body), plain, ast.Aggregator)
    if heads is clause.heads and body is clause.body:
        return clause
    return HornClause(heads, body, clause.span)


def _key(expr: ast.Expr) -> object:
    """The key of an expression: the name of a variable, else the object itself."""
    return expr.name if isinstance(expr, ast.Named) else id(expr)
