"""Relations that keep only some of the rows that their rules derive: by subsumption, or by choice.

The rules of such a relation `R` derive rows of another one, `RAll`; a rule of `R` picks from it.

    Best(x, c) <= Best(x, d) :- d < c.    Best(x, c) :- BestAll(x, c1), var c = c1.group_by(x).min().

Where `R` is in a recursion, rows stay in `RAll`: so `R` gives up rows only for better ones, and settles.
A choice there is made in the rounds of a loop (`rounds`): once made it stays, and each round chooses among
the rows that no choice of the round before rules out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from .. import syntax
from ..errors import souffle as errors
from ..errors.unknown import unknown_name
from ..syntax.templates import arguments, atom, integer, items, let, name, placed, tree, tuple_type
from ..syntax.walk import nodes
from . import syntax as ast
from .clauses import HornClause, Literal, Negated, names_of
from .infer import Kinds
from .names import FreeNames, small
from .normal import clauses
from .relations import DeclaredRelation, Relations
from .remarks import Remark
from .rules import BodyWriter, TranslationOutput, occurrences, row, write_clause
from .types import BOOLEAN, column_names

_STRICT = ("<", ">", "!=")
# The rows of a group that no other one subsumes.
_KEPT = """{
    var kept: Vec<$0> = vec_empty();
    for ((row, _) in rows) {
        var is_kept = true;
        for ((other, _) in rows) {
            if (row != other and ($1)) { is_kept = false } else { () }
        };
        if (is_kept) { kept.push(row) } else { () }
    };
    kept
}"""
_EXTREME = {"<": "max", "<=": "max", ">": "min", ">=": "min"}
_OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def keep_rows(relations: Relations, output: TranslationOutput) -> None:
    """Adds what picks the rows of all relations that keep only some."""
    for each in relations.declared.values():
        if each.offers:
            _KeptRules(each, relations, output).write()


class _KeptRules:
    def __init__(self, each: DeclaredRelation, relations: Relations, output: TranslationOutput) -> None:
        self.each, self.relations, self.output = each, relations, output
        self.attributes = each.relation.attributes
        self.span = each.relation.span
        self.columns = column_names(self.attributes)
        self.types = [output.types.type_of(attribute.type) for attribute in self.attributes]
        self.space = FreeNames(self.columns)
        self.row = tuple_type(self.types)

    def write(self) -> None:
        each = self.each
        if each.has("eqrel") or (each.subsumptions and each.domains):
            what, why = f"`{each.relation.name}`", "rows of it are kept by two rules at once"
            self.output.found.append(errors.CannotTranslate(what=what, why=why, span=self.span))
        elif each.subsumptions:
            self._undominated()
        else:
            self._chosen()

    # ------------------------------------------------------------------ rules

    def _rule(
        self, terms: Sequence[syntax.Atom], exprs: Sequence[syntax.Expr], row: Sequence[syntax.Expr]
    ) -> None:
        """Adds the rule for a row of the relation, from the rows that are offered."""
        head = atom(self.each.name, arguments(row), self.span)
        clauses = [syntax.Condition(each, self.span) for each in exprs]
        self.output.rule(head, [*terms, *clauses], self.span)

    def _picked(self, offers: Sequence[syntax.Atom], key: Sequence[int], function: str) -> None:
        """The rule that takes the rows that a function gives for a group of what is offered."""
        group, taken = self.space.fresh("rows"), self.space.fresh("row")
        grouped = self._grouped("$.group_by($)", self._offered(), key)
        chosen = tree(f"FlatMap({function}($))", name(group, self.span), at=self.span)
        exprs = [let(group, grouped, self.span), let(taken, chosen, self.span)]
        self._rule(offers, exprs, self._parts(taken))

    def _offered(self) -> syntax.Expr:
        """A row that is offered, as a value."""
        return items(*self._named(range(len(self.columns))), at=self.span)

    def _grouped(self, template: str, what: syntax.Expr, key: Sequence[int]) -> syntax.Expr:
        return tree(template, what, items(*self._named(key), at=self.span), at=self.span)

    def _named(self, columns: Iterable[int]) -> list[syntax.Expr]:
        return [name(self.columns[i], self.span) for i in columns]

    def _parts(self, row: str) -> list[syntax.Expr]:
        """The columns of a row that is a value."""
        whole = name(row, self.span)
        if len(self.columns) == 1:
            return [whole]
        return [syntax.GetItem(whole, i, self.span) for i in range(len(self.columns))]

    def _offers(self) -> syntax.Atom:
        return row(self.each.offers, self.columns, self.span)

    def _function(
        self, function: str, parameters: Mapping[str, syntax.Type], result: syntax.Type, *body: syntax.Expr
    ) -> None:
        """Adds a function."""
        at = self.span
        given = tuple(syntax.Parameter(each, of, False, (), at) for each, of in parameters.items())
        made = syntax.FunctionDecl(function, given, result, syntax.Block(body, at), (), at, at)
        self.output.made[function] = placed(made, at)

    def _group_type(self, key: syntax.Type, row: syntax.Type) -> syntax.Type:
        return syntax.NamedType("Group", (key, row), self.span)

    def _vector(self) -> syntax.Type:
        return syntax.NamedType("Vec", (self.row,), self.span)

    # ------------------------------------------------------------ subsumption

    def _undominated(self) -> None:
        pairs = [_Pair(clause) for s in self.each.subsumptions for clause in self._clauses_of(s)]
        kinds = [Kinds(pair.clause, self.relations.column_types, self.output.types) for pair in pairs]
        wrong = [error for each in kinds for error in each.found]
        if wrong or not pairs:
            self.output.found += wrong
            return
        key = [i for i in range(len(self.columns)) if all(i in pair.shared for pair in pairs)]
        if self.each.is_recursive:
            self.output.rule(self._offers(), [self._offers()], self.span)
            text = f"{self.each.name} is in a recursion: each round keeps the rows that none so far subsumes"
            self.output.remarks[text] = Remark(text, self.span)
        extreme = pairs[0].extreme(key) if len(pairs) == 1 else None
        if extreme is not None:
            column, function = extreme
            self._extreme(key, column, function)
        elif all(pair.is_pure for pair in pairs):
            self._compared(key, pairs, kinds)
        else:
            self._dominated(pairs)

    def _clauses_of(self, subsumption: ast.Subsumption) -> list[HornClause]:
        heads = subsumption.less, subsumption.more
        wanted = len(self.columns)
        for head in heads:
            if len(head.args) != wanted:
                wrong = errors.WrongNumber(
                    what=f"`{head.name}`", expected=f"{wanted} values", given=len(head.args), span=head.span
                )
                self.output.found.append(wrong)
                return []
        rule = ast.SouffleRule(subsumption.span, heads, subsumption.body)
        classes = set(map(type, nodes((heads, subsumption.body))))
        if ast.Counter in classes:
            what = "a counter in a subsumption"
            self.output.found.append(errors.CannotTranslate(what=what, span=subsumption.span))
            return []
        return clauses(rule, self.relations.columns, classes, self.output.found)

    def _extreme(self, key: Sequence[int], column: int, function: str) -> None:
        extreme = self.columns[column]
        result = self.space.fresh(f"{'least' if function == 'min' else 'most'}_{extreme}")
        found = self._grouped(f"$.group_by($).{function}()", name(extreme, self.span), key)
        kept = [name(result if each == extreme else each, self.span) for each in self.columns]
        self._rule([self._offers()], [let(result, found, self.span)], kept)

    def _compared(self, key: Sequence[int], pairs: Sequence[_Pair], kinds: Sequence[Kinds]) -> None:
        """All rows of a group are compared with each other, by a function for each subsumption."""
        title = small(self.each.name)
        tests = []
        for pair, known in zip(pairs, kinds, strict=True):
            test = self.output.fresh(f"{title}_subsumed")
            condition = self._condition(pair, known)
            if condition is None:
                return
            same = [tree(f"row.{i} == other.{i}", at=self.span) for i in sorted(pair.shared.difference(key))]
            self._function(
                test, {"row": self.row, "other": self.row}, BOOLEAN,
                *self._sides(pair), *self._holds([*same, *condition]),
            )  # fmt: skip
            tests.append(tree(f"{test}(row, other)"))
        function = self.output.fresh(f"{title}_kept")
        either = _joined("or", tests)
        by = tuple_type([self.types[i] for i in key])
        body = tree(_KEPT, self.row, either)
        assert isinstance(body, syntax.Block)
        self._function(function, {"rows": self._group_type(by, self.row)}, self._vector(), *body.items)
        self._picked([self._offers()], key, function)

    def _condition(self, pair: _Pair, kinds: Kinds) -> list[syntax.Expr] | None:
        uses = occurrences(pair.clause.heads, pair.clause.body)
        body = BodyWriter(self.output, kinds, self.each.name, uses, self.span, "subsumption")
        body.bound |= names_of(pair.clause.heads)
        if not body.arrange(pair.clause.body):
            return None
        self._names = {name: body.writer.naming.name(name) for name in sorted(names_of(pair.clause.heads))}
        return [part.expr for part in body.parts if isinstance(part, syntax.Condition)]

    def _holds(self, conditions: Sequence[syntax.Expr]) -> tuple[syntax.Expr, ...]:
        """Statements of which the last one says whether all conditions hold. A condition that takes a value
        apart binds variables for the conditions after it."""
        for i, each in enumerate(conditions):
            if isinstance(each, syntax.Assign):
                rest = self._holds(conditions[i + 1 :])
                if self.output.types.always_matches(each.target):
                    rest = (each, *rest)
                else:
                    then = _block(rest)
                    match = tree(
                        "match ($) {$ -> $, _ -> false}", each.value, each.target, then, at=each.span
                    )
                    rest = (match,)
                return rest if i == 0 else (_joined("and", [*conditions[:i], _block(rest)]),)
        return (_joined("and", conditions),)

    def _sides(self, pair: _Pair) -> Iterator[syntax.Expr]:
        """The assignments that take the two rows apart. A variable of both has the same value in both: they
        are of one group, or an equality says so."""
        used, seen = names_of(pair.clause.body), set[str]()
        for side, head in zip(("row", "other"), pair.clause.heads, strict=True):
            own = [arg.name for arg in head.args if isinstance(arg, ast.Named)]
            wanted = [each if each in used - seen else "" for each in own]
            seen |= set(own)
            if any(wanted):
                parts = [
                    syntax.VarDecl(self._names[each], self.span) if each else syntax.Wildcard(self.span)
                    for each in wanted
                ]
                yield syntax.Assign(items(*parts, at=self.span), name(side, self.span), self.span)

    def _dominated(self, pairs: Sequence[_Pair]) -> None:
        """A relation of the rows that others subsume, for a subsumption that reads relations. A recursion,
        which can have no negation, marks all rows with 0, and these with 1, too, in the same round and all
        later ones: what the other row was subsumed for may be gone by then."""
        output, recursive = self.output, self.each.is_recursive
        dominated = output.fresh(self.each.name + ("Marked" if recursive else "Subsumed"))
        marks = {self.space.fresh("mark"): output.types.type_of("number")} if recursive else {}
        columns = dict(zip(self.columns, self.types, strict=True)) | marks
        output.declare(dominated, columns.items(), self.span)
        types = self.relations.column_types
        own = types[self.each.relation.name]
        types = types | {f"%{dominated}": [*own, *("number" for _ in marks)], f"%{self.each.offers}": own}
        for pair in pairs:
            for clause in pair.as_clauses(f"%{dominated}", f"%{self.each.offers}"):
                (head,) = clause.heads
                heads = (
                    replace(head, args=(*head.args, *(ast.Number(head.span, 1, "", True) for _ in marks))),
                )
                known = Kinds(replace(clause, heads=heads), types, output.types)
                write_clause(heads, clause.body, known, output, output.head, clause.span)
        every = range(len(self.columns))
        if not recursive:
            subsumed = replace(row(dominated, columns, self.each.subsumptions[0].span), negated=True)
            self._rule([self._offers(), subsumed], [], self._named(every))
            return
        own_marks = (arguments([*self._named(every), integer(mark, self.span)]) for mark in (0, 1))
        unmarked, marked = (atom(dominated, each, self.span) for each in own_marks)
        output.rule(unmarked, [self._offers()], self.span)
        output.rule(marked, [marked], self.span)
        most = self.space.fresh("most")
        found = self._grouped("$.group_by($).max()", name(next(iter(marks)), self.span), every)
        exprs = [let(most, found, self.span), tree("$ == 0", name(most, self.span), at=self.span)]
        self._rule([row(dominated, columns, self.span)], exprs, self._named(every))

    # ----------------------------------------------------------------- choice

    def _chosen(self) -> None:
        places = {attribute.name: i for i, attribute in enumerate(self.attributes)}
        for qualifier in self.each.relation.qualifiers:
            unknown = (each for domain in qualifier.domains for each in domain if each not in places)
            for each in dict.fromkeys(unknown):
                self.output.found.append(unknown_name("column", each, places, qualifier.span))
                return
        domains = [[places[name] for name in domain] for domain in self.each.domains]
        text = f"which rows {self.each.name} keeps is arbitrary: here the least, column by column"
        self.output.remarks[text] = Remark(text, self.span)
        offers = [self._offers()]
        if self.each.is_chosen_in_rounds:
            kept = row(self.each.name, self.columns, self.span)
            self.output.rule(kept, [kept], self.span)
            offers += [self._taken(domain) for domain in domains]
        if len(domains) > 1:
            self._greedy(offers, domains)
        else:
            self._least(offers, domains[0])

    def _taken(self, domain: Sequence[int]) -> syntax.Atom:
        """The negated term: no row with the values of these columns was chosen in a round before."""
        columns = [
            name(each, self.span) if i in domain else syntax.Wildcard(self.span)
            for i, each in enumerate(self.columns)
        ]
        return replace(atom(self.each.name, arguments(columns), self.span, negated=True), delay=1)

    def _least(self, offers: Sequence[syntax.Atom], key: Sequence[int]) -> None:
        """For each key the least row is taken."""
        least = self.space.fresh("row")
        found = self._grouped("$.group_by($).min()", self._offered(), key)
        self._rule(offers, [let(least, found, self.span)], self._parts(least))

    def _greedy(self, offers: Sequence[syntax.Atom], domains: Sequence[Sequence[int]]) -> None:
        """Rows are taken in their order while their keys are free."""
        function = self.output.fresh(f"{small(self.each.name)}_chosen")
        own = self._parts("row")
        sets, free, take = [], [], []
        for i, domain in enumerate(domains, 1):
            key = items(*(own[at] for at in domain))
            of = tuple_type([self.types[at] for at in domain])
            sets.append(tree(f"var keys{i}: Set<$> = set_empty()", of))
            free.append(tree(f"not keys{i}.contains($)", key))
            take.append(tree(f"keys{i}.insert($)", key))
        take.append(tree("chosen.push($)", items(*own)))
        is_free = _joined("and", free)
        taken = syntax.Block(tuple(take), self.span)
        body = [
            tree("var chosen: Vec<$> = vec_empty()", self.row),
            *sets,
            tree("for ((row, _) in rows) { if ($) $ else { () } }", is_free, taken),
            name("chosen"),
        ]
        group = self._group_type(syntax.TupleType((), self.span), self.row)
        self._function(function, {"rows": group}, self._vector(), *body)
        self._picked(offers, (), function)


class _Pair:
    """A subsumption with variables in all columns: `clause` has the two rows as heads. `shared` are the
    columns in which both have one variable."""

    def __init__(self, clause: HornClause) -> None:
        less, more = clause.heads
        seen: dict[str, None] = {}
        equalities: list[Literal] = []
        rows: list[ast.Predicate] = []
        both = {
            i: arg.name
            for i, (arg, other) in enumerate(zip(less.args, more.args, strict=True))
            if isinstance(arg, ast.Named) and arg == other
        }
        for side, head in enumerate((less, more)):
            args: list[ast.Expr] = []
            for i, arg in enumerate(head.args):
                if isinstance(arg, ast.Named) and (
                    arg.name not in seen or (side and both.get(i) == arg.name)
                ):
                    seen[arg.name] = None
                    args.append(arg)
                    continue
                name = f"%{_hint(arg)}#{'lm'[side]}{i}"
                args.append(ast.Named(arg.span, name))
                if not isinstance(arg, ast.Unnamed):
                    equalities.append(ast.Compare(arg.span, "=", args[-1], arg))
            rows.append(replace(head, args=tuple(args)))
        self.shared = {i for i in both if rows[0].args[i] == rows[1].args[i]}
        self.equalities = equalities
        body = (each for each in clause.body if each not in clause.heads)  # the rows are there anyway
        self.clause = replace(clause, heads=tuple(rows), body=(*equalities, *body))
        self.is_pure = all(isinstance(each, ast.Compare | ast.Test) or _is_test(each) for each in clause.body)

    def extreme(self, key: Sequence[int]) -> tuple[int, str] | None:
        """The one column that differs, and `min` or `max`, if the row with that value subsumes the others."""
        less, more = self.clause.heads
        others = [i for i in range(len(less.args)) if i not in key]
        if len(others) != 1 or len(self.clause.body) != 1:
            return None
        one, other = less.args[others[0]], more.args[others[0]]
        match self.clause.body[0]:
            case ast.Compare(_, op, left, right) if op in _EXTREME and {left, right} == {one, other}:
                return others[0], _EXTREME[op if left == one else _OPPOSITE[op]]
        return None

    def as_clauses(self, subsumed: str, offers: str) -> Iterable[HornClause]:
        """The rows that others subsume: a clause for each column in which the two rows can differ, or one if
        the body says that they do."""
        less, more = self.clause.heads
        rows = replace(less, name=offers), replace(more, name=offers)
        head = (replace(less, name=subsumed),)
        body = (*rows, *self.clause.body)
        pairs = [
            (one, other)
            for i, (one, other) in enumerate(zip(less.args, more.args, strict=True))
            if i not in self.shared
        ]
        if any(self._says_different(one, other) for one, other in pairs):
            yield replace(self.clause, heads=head, body=body)
            return
        for one, other in pairs:
            different = ast.Compare(self.clause.span, "!=", one, other)
            yield replace(self.clause, heads=head, body=(*body, different))

    def _says_different(self, one: ast.Expr, other: ast.Expr) -> bool:
        return any(
            isinstance(each, ast.Compare) and each.op in _STRICT and {each.left, each.right} == {one, other}
            for each in self.clause.body
        )


def _is_test(literal: Literal) -> bool:
    return isinstance(literal, Negated) and isinstance(literal.term, ast.Test)


def _hint(arg: ast.Expr) -> str:
    return arg.name if isinstance(arg, ast.Named) else "value"


def _block(exprs: tuple[syntax.Expr, ...]) -> syntax.Expr:
    return exprs[0] if len(exprs) == 1 else syntax.Block(exprs, exprs[0].span)


def _joined(word: str, tests: Sequence[syntax.Expr]) -> syntax.Expr:
    """Conditions joined by `and` or `or`."""
    return reduce(lambda one, other: tree(f"$ {word} $", one, other), tests) if tests else tree("true")
