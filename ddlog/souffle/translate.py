"""Soufflé programs to programs of this language.

Text, preprocessed (`preprocess`), becomes a tree (`parser`), without components (`components`). Types and
relations get names here (`types`, `relations`). Rules become clauses (`normal`), without those of relations
that cannot be computed (`inline`); their variables get kinds (`infer`), their literals an order (`rules`,
`aggregates`). A construct that has another meaning here, or none, is an error; a construct that
changes no result, or is expressed elsewhere, is a remark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from .. import syntax
from ..errors import souffle as errors
from ..errors.diagnostics import DDlogError, Diagnostic, in_order
from ..errors.source import Source, Span
from ..lowering.stratify import strongly_connected
from ..syntax.lexer import Places
from ..syntax.walk import nodes
from . import syntax as ast
from .aggregates import relation_of
from .clauses import HornClause, atoms_of
from .components import instantiate
from .counters import shares, write_number
from .files.transfers import Transfer
from .functors import function
from .infer import Kinds, without_idle_casts
from .inline import carry_inline
from .limits import RecursionLimits
from .names import global_names
from .normal import clauses, without_ordinals
from .parser import parse
from .preprocess import PreprocessorSettings
from .printer import program_text
from .relations import Relations
from .remarks import Remark, remark_line
from .rounds import in_rounds
from .rules import TranslationOutput, write_clause
from .subsumption import keep_rows
from .types import SouffleTypes
from .witnesses import with_witnesses

_PLAIN = PreprocessorSettings()


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated program, whose places are those of the text of Soufflé, and the remarks on what it leaves
    out, a line each; `caveats` are those remarks that concern its results. `transfers` are the directives on
    files. `branches` and `fields` are the branches of Soufflé's program, and the fields of its records, by
    the constructors that they become."""

    source: Source
    module: syntax.Module
    remarks: tuple[str, ...]
    caveats: tuple[str, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    branches: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dialect: str = "souffle"

    @property
    def text(self) -> str:
        """The program as text, with the remarks at its top."""
        return program_text(self.source.name, self.remarks, self.module)


def translate(
    source: Source, word: int = 32, settings: PreprocessorSettings = _PLAIN, dialect: str = "souffle"
) -> Translation:
    """The program as one of this language, for numbers of 32 or 64 bits. `settings` are those of the
    preprocessor, `dialect` is souffle or flowlog. Raises DDlogError with all errors."""
    try:
        items, found = parse(source, settings, dialect)
        _stop_at(found)
        plain, found = instantiate(items)
        _stop_at(found)
        return replace(_Translator(source, plain, word).run(), dialect=dialect)
    except DDlogError as error:
        is_width = all(isinstance(each, errors.ConstantTooLarge) for each in error.diagnostics)
        if dialect != "flowlog" and not is_width and _is_flowlog(source, settings):
            raise DDlogError([errors.ProgramOfFlowlog(source.name)]) from None
        raise


def _is_flowlog(source: Source, settings: PreprocessorSettings) -> bool:
    with suppress(DDlogError):
        return bool(translate(source, 64, settings, "flowlog"))
    return False


def _stop_at(found: Sequence[Diagnostic]) -> None:
    if found:
        raise DDlogError(in_order(dict.fromkeys(found)))


class _Translator:
    def __init__(self, source: Source, items: Sequence[ast.Item], word: int) -> None:
        self.source, self.items = source, without_ordinals(items)
        self.found: list[Diagnostic] = []
        self.types = SouffleTypes(items, word)
        self.relations = Relations(self.items, self.types, self.found)
        self.space = global_names()
        self.classes: set[type] = set()  # of the nodes in rules
        names = self._relation_name, self._head, self.space.fresh
        self.output = TranslationOutput(self.types, *names, relation_of, write_number, self.found)

    def run(self) -> Translation:
        self.relations.name_all(self.space)
        self.types.name_all(self.space)
        self.found += self.types.found
        _stop_at(self.found)
        columns = self.relations.column_types
        plain = self._without_inline(self._clauses(), columns)
        typed = [self._typed(clause, columns) for clause in plain]
        typed = [(clause, kinds) for clause, kinds in typed if not kinds.found]
        self.relations.allow_nil_in_facts()
        self._find_recursion(plain)
        limits = RecursionLimits(self.relations, self.output)
        self.output.shares = shares(plain, list(map(self._is_recursive, plain)))
        for clause, kinds in typed:
            self._mark_nil(clause, kinds)
        for clause, kinds in typed:
            self._write(clause, kinds, limits)
        limits.write()
        keep_rows(self.relations, self.output)
        _stop_at(self.found)
        rules = [*self.relations.rules(), *self.output.rules]
        self._check_strata(rules)
        _stop_at(self.found)
        return self._translation(rules)

    def _write(self, clause: HornClause, kinds: Kinds, limits: RecursionLimits) -> None:
        recursive = self._is_recursive(clause)
        head = self.output.head
        if recursive and limits.is_limited(clause):
            self.found += limits.check(clause)
            head = limits.head
        write_clause(clause.heads, clause.body, kinds, self.output, head, clause.span, recursive)

    def _relation_name(self, name: str) -> str:
        """The name here; one that the translation itself has given has a `%` before it."""
        return name[1:] if name.startswith("%") else self.relations.declared[name].name

    def _head(self, name: str) -> str:
        return name[1:] if name.startswith("%") else self.relations.declared[name].head

    def _clauses(self) -> list[HornClause]:
        """The clauses of all rules in which nothing is wrong so far."""
        columns, result = self.relations.columns, []
        for rule in self.items:
            if isinstance(rule, ast.SouffleRule):
                found: list[Diagnostic] = []
                classes = set(map(type, nodes((rule.heads, rule.body))))
                made = clauses(rule, columns, classes, found)
                self.found += found
                if not found:
                    self.classes |= classes
                    result += [each for clause in made for each in with_witnesses(clause)]
        return result

    def _without_inline(
        self, plain: list[HornClause], columns: Mapping[str, Sequence[str]]
    ) -> list[HornClause]:
        """The clauses, with inline relations carried into those that use them."""
        declared = self.relations.declared
        inline = {name for name, each in declared.items() if each.has("inline")}
        alone = {name for name in inline if declared[name].is_plain}
        carried, names = carry_inline(plain, inline, alone, self.found)
        for name in names:
            declared[name].is_carried = True
            if any(map(declared[name].has, ("input", "output", "printsize"))):
                what, why = f"`{name}`", "it is `inline`, and rows that it would have in a file are open"
                span = declared[name].relation.span
                self.found.append(errors.CannotTranslate(what=what, why=why, span=span))
        for clause in plain:
            if names.issuperset(head.name for head in clause.heads):
                self._typed(clause, columns)  # its own errors, whoever uses it
        return carried

    def _typed(self, clause: HornClause, columns: Mapping[str, Sequence[str]]) -> tuple[HornClause, Kinds]:
        """The clause and its kinds, without casts of variables to the kind that they have."""
        kinds = Kinds(clause, columns, self.types)
        plain = without_idle_casts(clause, kinds) if ast.TypeCast in self.classes else clause
        if plain is not clause:
            kinds = Kinds(plain, columns, self.types)
        self.found += kinds.found
        return plain, kinds

    def _mark_nil(self, clause: HornClause, kinds: Kinds) -> None:
        """Notes the record types of which the clause has a `nil`."""
        if ast.Nil not in self.classes:
            return
        for nil in (each for each in nodes((clause.heads, clause.body)) if isinstance(each, ast.Nil)):
            kind = kinds.of(nil)
            if kind in self.types.records:
                self.types.optional.add(kind)
            else:
                self.found.append(errors.UnknownShape(what="nil", span=nil.span))

    def _translation(self, rules: Sequence[syntax.RuleDecl]) -> Translation:
        remarks = [*self.relations.remarks(), *self._further_remarks()]
        whole = Places(self.source).span(0, len(self.source.text))
        names = self.output.functions
        imports = sorted(name.removeprefix("import ") for name in names if name.startswith("import "))
        named = (each.partition(" as ") for each in imports)
        declarations: list[syntax.Declaration] = [
            syntax.ImportDecl(module, alias or None, whole) for module, _, alias in named
        ]
        declarations += self.types.typedefs()
        declarations += [self._function(name) for name in names if not name.startswith("import ")]
        declarations += self.output.made.values()
        relations = [*self.relations.declarations(), *self.output.relations]
        chosen = [each.name for each in self.relations.declared.values() if each.is_chosen_in_rounds]
        declarations += in_rounds(chosen, relations, list(dict.fromkeys(rules)), self.space)
        caveats = tuple(remark_line(remark) for remark in remarks if not remark.of_text)
        return Translation(
            self.source,
            syntax.Module(tuple(declarations), whole),
            tuple(map(remark_line, remarks)),
            caveats,
            tuple(self.relations.transfers(self.items)),
            self.types.branch_names(),
            self.types.field_names(),
        )

    def _function(self, name: str) -> syntax.Declaration:
        """The declaration of a function that the program uses; `@` marks the functors of its own."""
        return self.types.functor(name[1:]) if name[0] == "@" else function(name, self.types.word)

    def _functor_remarks(self) -> Iterator[Remark]:
        for name, functor in self.types.functors.items():
            if f"@{name}" not in self.output.functions:
                yield Remark(f"the functor @{name} is not used, and left out", functor.span, of_text=True)
                continue
            if functor.is_stateful:
                yield Remark(f"@{name} may be called once for several equal calls", functor.span)
            short = self.types.functor_names[name]
            text = f"@{name} is the function {short} of a Python module that has the name of the program"
            yield Remark(text, functor.span)

    def _further_remarks(self) -> list[Remark]:
        ignored = (item for item in self.items if isinstance(item, ast.Ignored))
        remarks = [Remark(item.what, item.span, of_text=True) for item in ignored]
        remarks += self._functor_remarks()
        remarks += self.output.remarks.values()
        plans = [item.plan for item in self.items if isinstance(item, ast.SouffleRule)]
        text = "the plan is left out: joins are ordered at run time"
        remarks += [Remark(text, plan, of_text=True) for plan in plans if plan is not None]
        return remarks

    def _find_recursion(self, plain: Sequence[HornClause]) -> None:
        """Notes the relations that depend on themselves."""
        declared = self.relations.declared
        successors: dict[str, dict[str, None]] = {name: {} for name in declared}
        for clause in plain:
            for read in atoms_of(clause.body):
                if read.name in declared:
                    heads = (head.name for head in clause.heads if head.name in declared)
                    successors[read.name] |= dict.fromkeys(heads)
        for each in declared.values():
            reads = (
                read for one in each.subsumptions for read in atoms_of(one.body) if read.name in declared
            )
            for read in reads:
                successors[read.name][each.relation.name] = None
        for number, group in enumerate(strongly_connected(successors), 1):
            for name in group:
                if len(group) > 1 or name in successors[name]:
                    declared[name].cycle = number

    def _is_recursive(self, clause: HornClause) -> bool:
        """Whether the clause is a part of a recursion."""
        declared = self.relations.declared
        cycles = {declared[head.name].cycle for head in clause.heads if head.name in declared} - {0}
        return any(
            read.name in declared and declared[read.name].cycle in cycles for read in atoms_of(clause.body)
        )

    def _check_strata(self, rules: Sequence[syntax.RuleDecl]) -> None:
        """Reports negations and aggregates inside a recursion."""
        aggregates = set(self.output.summaries.values())
        written = {each.name for each in self.relations.declared.values()}
        successors: dict[str, dict[str, None]] = {}
        negations: list[tuple[syntax.Atom, str]] = []
        for rule in rules:
            reads = [each for each in rule.body if isinstance(each, syntax.Atom)]
            for head in rule.heads:
                successors.setdefault(head.relation, {})
                for read in reads:
                    successors.setdefault(read.relation, {})[head.relation] = None
            negated = (each for each in reads if each.negated and each.delay is None)
            negations += [(each, rule.heads[0].relation) for each in negated]
        groups = strongly_connected(successors)
        number = {name: i for i, group in enumerate(groups) for name in group}
        reported: dict[Span, Diagnostic] = {}
        for read, name in negations:
            if number[read.relation] == number[name]:
                what = "aggregate" if read.relation in aggregates else "negation"
                cycle = ", ".join(sorted(groups[number[name]] & written))
                reported.setdefault(read.span, errors.Unstratified(what=what, cycle=cycle, span=read.span))
        self.found += reported.values()
