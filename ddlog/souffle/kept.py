"""Relations that keep only some of the rows that their rules derive: by subsumption, or by choice.

The rules of such a relation `R` derive rows of another one, `RAll`; a rule of `R` picks from it.

    Best(x, c) <= Best(x, d) :- d < c.    Best(x, c) :- BestAll(x, c1), var c = c1.group_by(x).min().

Where `R` is in a recursion, its own rows are among those of `RAll`: so it gives up rows only for better ones,
and a choice once made stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..errors import souffle as errors
from ..errors.nearest import nearest
from . import syntax as ast
from .clauses import HornClause, Literal, Negated, names_of
from .infer import Kinds
from .names import Names, small
from .normal import clauses
from .relations import Declared, Relations
from .remarks import Remark
from .rules import BodyWriter, Dependency, Output, OutRelation, OutRule, occurrences, write_clause
from .types import column_names

_STRICT = ("<", ">", "!=")
_EXTREME = {"<": "max", "<=": "max", ">": "min", ">=": "min"}
_OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def keep_rows(relations: Relations, output: Output) -> None:
    """Adds what picks the rows of all relations that keep only some."""
    for each in relations.declared.values():
        if each.offers:
            _Kept(each, relations, output).write()


class _Kept:
    def __init__(self, each: Declared, relations: Relations, output: Output) -> None:
        self.each, self.relations, self.output = each, relations, output
        self.attributes = each.relation.attributes
        self.span = each.relation.span
        self.columns = column_names(self.attributes)
        self.types = [output.types.text(attribute.type) for attribute in self.attributes]
        self.space = Names(self.columns)

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

    def _rule(self, body: str, clauses: Sequence[str], row: Sequence[str], how: str) -> None:
        head = f"{self.each.name}({', '.join(row)})"
        read = Dependency(self.each.offers, how, self.span)
        self.output.rules.append(OutRule((self.each.name,), (head,), (body, *clauses), (read,)))

    def _picked(self, offers: str, key: Sequence[int], rows: str, function: str) -> None:
        """The rule that takes the rows that a function gives for a group."""
        group, row = self.space.fresh("rows"), self.space.fresh("row")
        grouped = f"var {group} = {rows}.group_by({_tuple([self.columns[i] for i in key])})"
        parts = [row] if len(self.columns) == 1 else [f"{row}.{i}" for i in range(len(self.columns))]
        self._rule(offers, (grouped, f"var {row} = FlatMap({function}({group}))"), parts, "grouped")

    def _offers(self) -> str:
        return f"{self.each.offers}({', '.join(self.columns)})"

    def _own_rows(self, first: str) -> None:
        """In a recursion, the rows of the relation are offered again."""
        columns = ", ".join(self.columns)
        name, offers = self.each.name, self.each.offers
        read = Dependency(name, "positive", self.span)
        body = f"{name}({columns})"
        self.output.rules.append(OutRule((offers,), (f"{offers}({first}{columns})",), (body,), (read,)))

    # ------------------------------------------------------------ subsumption

    def _undominated(self) -> None:
        pairs = [_Pair(clause) for s in self.each.subsumptions for clause in self._clauses_of(s)]
        kinds = [Kinds(pair.clause, self.relations.column_types(), self.output.types) for pair in pairs]
        wrong = [error for each in kinds for error in each.found]
        if wrong or not pairs:
            self.output.found += wrong
            return
        key = [i for i in range(len(self.columns)) if all(i in pair.shared for pair in pairs)]
        if self.each.is_recursive:
            self._own_rows("")
            text = f"{self.each.name} is in a recursion: each round keeps its rows that no other one subsumes"
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
        rule = ast.RuleDecl(subsumption.span, heads, subsumption.body)
        classes = ast.classes((heads, subsumption.body))
        return clauses(rule, self.relations.columns(), classes, self.output.found)

    def _extreme(self, key: Sequence[int], column: int, function: str) -> None:
        name = self.columns[column]
        by = _tuple([self.columns[i] for i in key])
        result = self.space.fresh(f"{'least' if function == 'min' else 'most'}_{name}")
        row = [result if i == column else each for i, each in enumerate(self.columns)]
        self._rule(self._offers(), (f"var {result} = {name}.group_by({by}).{function}()",), row, "grouped")

    def _compared(self, key: Sequence[int], pairs: Sequence[_Pair], kinds: Sequence[Kinds]) -> None:
        """All rows of a group are compared with each other, by a function for each subsumption."""
        title = small(self.each.name)
        tests = []
        for pair, known in zip(pairs, kinds, strict=True):
            test = self.output.function_name(f"{title}_subsumed")
            condition = self._condition(pair, known)
            if condition is None:
                return
            same = [f"row.{i} == other.{i}" for i in sorted(pair.shared.difference(key))]
            self.output.texts[test] = self._test_text(test, pair, [*same, *condition])
            tests.append(f"{test}(row, other)")
        name = self.output.function_name(f"{title}_kept")
        by = _tuple([self.types[i] for i in key])
        row = _tuple(self.types)
        self.output.texts[name] = (
            f"function {name}(rows: Group<{by}, {row}>): Vec<{row}> {{\n"
            f"    var kept: Vec<{row}> = vec_empty();\n"
            "    for ((row, _) in rows) {\n"
            "        var is_kept = true;\n"
            "        for ((other, _) in rows) {\n"
            f"            if (row != other and ({' or '.join(tests)})) {{ is_kept = false }} else {{ () }}\n"
            "        };\n"
            "        if (is_kept) { kept.push(row) } else { () }\n"
            "    };\n"
            "    kept\n"
            "}"
        )
        self._picked(self._offers(), key, _tuple(self.columns), name)

    def _condition(self, pair: _Pair, kinds: Kinds) -> list[str] | None:
        uses = occurrences(pair.clause.heads, pair.clause.body)
        body = BodyWriter(self.output, kinds, self.each.name, uses, "subsumption")
        body.bound |= names_of(pair.clause.heads)
        if not body.arrange(pair.clause.body):
            return None
        self._names = {name: body.writer.naming.name(name) for name in sorted(names_of(pair.clause.heads))}
        return [part for part in body.parts if isinstance(part, str)]

    def _test_text(self, name: str, pair: _Pair, condition: Sequence[str]) -> str:
        row = _tuple(self.types)
        used = names_of(pair.clause.body)
        lines = []
        # A variable of both rows has the same value in both: they are of one group, or an equality says so.
        seen: set[str] = set()
        for side, head in zip(("row", "other"), pair.clause.heads, strict=True):
            own = [arg.name for arg in head.args if isinstance(arg, ast.Var)]
            shown = [f"var {self._names[each]}" if each in used - seen else "_" for each in own]
            seen |= set(own)
            if any(each != "_" for each in shown):
                lines.append(f"    {_tuple(shown)} = {side};")
        test = " and ".join(f"({each})" for each in condition) or "true"
        heading = f"function {name}(row: {row}, other: {row}): bool {{"
        return "\n".join([heading, *lines, f"    {test}", "}"])

    def _dominated(self, pairs: Sequence[_Pair]) -> None:
        """A relation of the rows that others subsume, for a subsumption that reads relations."""
        output, dominated = self.output, self.output.fresh(self.each.name + "Subsumed")
        columns = tuple(zip(self.columns, self.types, strict=True))
        output.relations.append(OutRelation("", dominated, columns))
        types = self.relations.column_types()
        types |= {f"%{name}": types[self.each.relation.name] for name in (dominated, self.each.offers)}
        for pair in pairs:
            for clause in pair.as_clauses(f"%{dominated}", f"%{self.each.offers}"):
                write_clause(
                    clause.heads, clause.body, Kinds(clause, types, output.types), output, output.head
                )
        shown = ", ".join(self.columns)
        read = Dependency(dominated, "negated", self.span)
        body = (self._offers(), f"not {dominated}({shown})")
        head = f"{self.each.name}({shown})"
        output.rules.append(OutRule((self.each.name,), (head,), body, (read,)))

    # ----------------------------------------------------------------- choice

    def _chosen(self) -> None:
        places = {attribute.name: i for i, attribute in enumerate(self.attributes)}
        for qualifier in self.each.relation.qualifiers:
            unknown = (name for domain in qualifier.domains for name in domain if name not in places)
            for name in dict.fromkeys(unknown):
                wrong = errors.Unknown(
                    what="column", name=name, near=nearest(name, places), span=qualifier.span
                )
                self.output.found.append(wrong)
                return
        domains = [[places[name] for name in domain] for domain in self.each.domains]
        text = f"which rows {self.each.name} keeps is arbitrary: here the least, column by column"
        self.output.remarks[text] = Remark(text, self.span)
        if self.each.is_recursive:
            self._own_rows("false, ")
            self._greedy(domains, "is_new")
        elif len(domains) > 1:
            self._greedy(domains, "")
        else:
            self._least(domains[0])

    def _least(self, key: Sequence[int]) -> None:
        by = _tuple([self.columns[i] for i in key])
        row = self.space.fresh("row")
        parts = [row] if len(self.columns) == 1 else [f"{row}.{i}" for i in range(len(self.columns))]
        least = f"var {row} = {_tuple(self.columns)}.group_by({by}).min()"
        self._rule(self._offers(), (least,), parts, "grouped")

    def _greedy(self, domains: Sequence[Sequence[int]], mark: str) -> None:
        """Rows are taken in their order, after those of the round before, while their keys are free."""
        name = self.output.function_name(f"{small(self.each.name)}_chosen")
        offset = 1 if mark else 0
        own = [f"row.{i + offset}" for i in range(len(self.columns))]
        if len(self.columns) + offset == 1:
            own = ["row"]
        row, offered = _tuple(self.types), _tuple(["bool"] * offset + self.types)
        sets = [f"keys{i + 1}" for i in range(len(domains))]
        keys = [_tuple([own[i] for i in domain]) for domain in domains]
        key_types = [_tuple([self.types[i] for i in domain]) for domain in domains]
        lines = [f"    var {s}: Set<{t}> = set_empty();" for s, t in zip(sets, key_types, strict=True)]
        free = " and ".join(f"not {s}.contains({k})" for s, k in zip(sets, keys, strict=True))
        take = "; ".join(f"{s}.insert({k})" for s, k in zip(sets, keys, strict=True))
        self.output.texts[name] = "\n".join(
            [
                f"function {name}(rows: Group<(), {offered}>): Vec<{row}> {{",
                f"    var chosen: Vec<{row}> = vec_empty();",
                *lines,
                "    for ((row, _) in rows) {",
                f"        if ({free}) {{",
                f"            {take}; chosen.push({_tuple(own)})",
                "        } else { () }",
                "    };",
                "    chosen",
                "}",
            ]
        )
        marks = [self.space.fresh(mark)] if mark else []
        names = [*marks, *self.columns]
        self._picked(f"{self.each.offers}({', '.join(names)})", (), _tuple(names), name)


class _Pair:
    """A subsumption with variables in all columns: `clause` has the two rows as heads. `shared` are the
    columns in which both have one variable."""

    def __init__(self, clause: HornClause) -> None:
        less, more = clause.heads
        seen: dict[str, None] = {}
        equalities: list[Literal] = []
        rows: list[ast.Atom] = []
        both = {
            i: arg.name
            for i, (arg, other) in enumerate(zip(less.args, more.args, strict=True))
            if isinstance(arg, ast.Var) and arg == other
        }
        for side, head in enumerate((less, more)):
            args: list[ast.Expr] = []
            for i, arg in enumerate(head.args):
                if isinstance(arg, ast.Var) and (arg.name not in seen or (side and both.get(i) == arg.name)):
                    seen[arg.name] = None
                    args.append(arg)
                    continue
                name = f"%{_hint(arg)}#{'lm'[side]}{i}"
                args.append(ast.Var(arg.span, name))
                if not isinstance(arg, ast.Wildcard):
                    equalities.append(ast.Compare(arg.span, "=", args[-1], arg))
            rows.append(replace(head, args=tuple(args)))
        self.shared = {i for i in both if rows[0].args[i] == rows[1].args[i]}
        self.equalities = equalities
        self.clause = replace(clause, heads=tuple(rows), body=(*equalities, *clause.body))
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
    return arg.name if isinstance(arg, ast.Var) else "value"


def _tuple(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
