"""The relations of a program: their declarations here, and where their facts come from and go to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .. import syntax
from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..errors.unknown import unknown_name
from . import syntax as ast
from .files.transfers import Transfer
from .names import FreeNames, assigned
from .remarks import Remark
from .rules import relation, row, rule
from .types import PRIMITIVE, SouffleTypes, column_names


@dataclass
class DeclaredRelation:
    """A relation and its directives. `name` is its name here. `input_name` is the name of the relation that
    holds its facts, if they are apart from the derived rows. A relation that `is_carried` into the rules that
    use it is no relation here. Relations that depend on each other have the same `cycle`, which is not 0.
    `offers` names the relation of all rows that rules derive if not all are kept."""

    relation: ast.SouffleRelation
    directives: list[ast.Directive] = field(default_factory=list)
    derived: bool = False
    is_carried: bool = False
    name: str = ""
    input_name: str = ""
    offers: str = ""
    cycle: int = 0
    subsumptions: list[ast.Subsumption] = field(default_factory=list)

    @property
    def is_recursive(self) -> bool:
        """Whether the relation depends on itself."""
        return self.cycle > 0

    @property
    def domains(self) -> list[tuple[str, ...]]:
        """The choice domains: for each, rows with equal values in these columns are not kept together."""
        return [domain for each in self.relation.qualifiers for domain in each.domains]

    @property
    def head(self) -> str:
        """The relation here of which its rules derive rows."""
        return self.offers or self.name

    @property
    def is_chosen_in_rounds(self) -> bool:
        """Whether the rows that its rules offer to a choice depend on the rows that were chosen before."""
        return self.is_recursive and bool(self.domains)

    @property
    def is_plain(self) -> bool:
        """Whether the relation holds just what its rules derive, and no directive is about it."""
        words = {each.word for each in self.relation.qualifiers} - {"inline", "brie", "btree", "btree_delete"}
        return not self.directives and not self.subsumptions and not words

    def has(self, what: str) -> bool:
        """Whether the relation has a directive or a qualifier of this name."""
        said = (each.what for each in self.directives)
        return what in said or any(each.word == what for each in self.relation.qualifiers)


_SILENT = ("input", "output", "printsize", "overridable", "eqrel", "choice-domain")
_PARAMETERS_OF_FILES = {("IO", "file"), ("IO", "stdout"), ("delimiter", "\t"), ("rfc4180", "true")}


class Relations:
    """The declared relations by name."""

    def __init__(self, items: Sequence[ast.Item], types: SouffleTypes, found: list[Diagnostic]) -> None:
        self.types, self.found = types, found
        self.declared: dict[str, DeclaredRelation] = {}
        for item in items:
            if isinstance(item, ast.SouffleRelation):
                self._declare(item)
        for item in items:
            if isinstance(item, ast.Directive):
                self._directive(item)
            elif isinstance(item, ast.SouffleRule):
                for head in item.heads:
                    if head.name in self.declared and item.body is not None:
                        self.declared[head.name].derived = True
            elif isinstance(item, ast.Subsumption):
                self._subsumption(item)

    def name_all(self, space: FreeNames) -> None:
        """Chooses the names here."""
        for name, short in assigned(self.declared, space, upper=True).items():
            self.declared[name].name = short
        for each in self.declared.values():
            if each.subsumptions or each.domains:
                each.offers = space.fresh(each.name + "All")
            changed = each.derived or each.offers
            if each.has("input") and (changed or any(map(each.has, ("output", "printsize", "eqrel")))):
                each.input_name = space.fresh(each.name + "Input")

    def allow_nil_in_facts(self) -> None:
        """Makes the record types of inputs optional."""
        for each in self.declared.values():
            for attribute in each.relation.attributes if each.has("input") else ():
                self.types.allow_nil(self.types.kind(attribute.type))

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The names of the columns of each relation."""
        return {name: [a.name for a in each.relation.attributes] for name, each in self.declared.items()}

    @cached_property
    def column_types(self) -> dict[str, list[str]]:
        """The types of the columns of each relation."""
        return {name: [a.type for a in each.relation.attributes] for name, each in self.declared.items()}

    # ---------------------------------------------------------- declarations

    def _declare(self, relation: ast.SouffleRelation) -> None:
        if relation.name in self.declared:
            twice = errors.DeclaredTwice(what="relation", name=relation.name, span=relation.span)
            self.found.append(twice)
            return
        self.declared[relation.name] = DeclaredRelation(relation)
        names: set[str] = set()
        for attribute in relation.attributes:
            self.types.check(attribute.type, attribute.span)
            if attribute.name in names:
                twice = errors.DeclaredTwice(what="column", name=attribute.name, span=attribute.span)
                self.found.append(twice)
            names.add(attribute.name)
        for qualifier in relation.qualifiers:
            if qualifier.word == "eqrel" and len(relation.attributes) != 2:
                what, given = "an `eqrel`", len(relation.attributes)
                wrong = errors.WrongNumber(what=what, expected="2 columns", given=given, span=relation.span)
                self.found.append(wrong)

    def _subsumption(self, item: ast.Subsumption) -> None:
        if self._is_declared(item.less.name, item.less.span):
            self.declared[item.less.name].subsumptions.append(item)

    def _directive(self, directive: ast.Directive) -> None:
        if self._is_declared(directive.relation, directive.span):
            self.declared[directive.relation].directives.append(directive)

    def _is_declared(self, name: str, span: Span) -> bool:
        """True if there is a relation of the name; without one, an error is reported."""
        if name not in self.declared:
            self.found.append(unknown_name("relation", name, self.declared, span))
        return name in self.declared

    # ---------------------------------------------------------------- output

    def declarations(self) -> Iterator[syntax.RelationDecl]:
        """The declarations here."""
        for each in self.declared.values():
            if each.is_carried:
                continue
            attributes, at = each.relation.attributes, each.relation.span
            types = [self.types.type_of(attribute.type) for attribute in attributes]
            columns = list(zip(column_names(attributes), types, strict=True))
            if each.input_name:
                yield relation("input", each.input_name, columns, at)
            if each.offers:
                yield relation("internal", each.offers, columns, at)
            given_out = each.has("output") or each.has("printsize")
            given_in = each.has("input") and not each.input_name
            yield relation(
                "output" if given_out else "input" if given_in else "internal", each.name, columns, at
            )

    def rules(self) -> Iterator[syntax.RuleDecl]:
        """The rules that declarations stand for: of inputs that are also derived, of equivalences."""
        for each in self.declared.values():
            at = each.relation.span
            if each.input_name:
                columns = column_names(each.relation.attributes)
                yield rule([row(each.head, columns, at)], [row(each.input_name, columns, at)], at)
            if each.has("eqrel") and len(each.relation.attributes) == 2:
                xy, yx, yz, xz = (row(each.name, two, at) for two in ("xy", "yx", "yz", "xz"))
                yield rule([yx], [xy], at)
                yield rule([xz], [xy, yz], at)

    def transfers(self, items: Iterable[ast.Item]) -> Iterator[Transfer]:
        """The files of facts and results, in the order of the program."""
        for item in items:
            if isinstance(item, ast.Directive):
                yield from self._transfer(item.relation, item.what, dict(item.parameters), item.span)
            elif isinstance(item, ast.SouffleRelation):
                for qualifier in item.qualifiers:
                    yield from self._transfer(item.name, qualifier.word, {}, qualifier.span)

    def _transfer(
        self, name: str, what: str, parameters: Mapping[str, str], span: Span
    ) -> Iterator[Transfer]:
        each = self.declared[name]
        if what in ("input", "output", "printsize") and not each.is_carried:
            here = (each.input_name if what == "input" else "") or each.name
            columns = tuple(attribute.name for attribute in each.relation.attributes)
            yield Transfer(what, name, here, columns, parameters, span)

    # --------------------------------------------------------------- remarks

    def remarks(self) -> Iterator[Remark]:
        """The remarks on declarations and directives that are translated differently, or not at all."""
        kept = {name: each for name, each in self.declared.items() if not each.is_carried}
        changed = [(name, each.name) for name, each in kept.items() if each.name != name]
        if changed:
            listed = ", ".join(f"{old} is {new}" for old, new in changed)
            yield _of_text(f"names of relations begin with a capital letter: {listed}")
        others = ", ".join(f"{old} is {new}" for old, new in self.types.renamed())
        if others:
            yield _of_text(f"types and branches with other names: {others}")
        for each in self.declared.values():
            for qualifier in each.relation.qualifiers:
                if qualifier.word not in _SILENT:
                    text = f"`{qualifier.word}` of {each.relation.name} has no meaning here and is left out"
                    if each.is_carried and qualifier.word == "inline":
                        text = f"{each.relation.name} is carried into the rules that use it"
                    yield _of_text(text, qualifier.span)
            yield from self._of_directives(each)

    def _of_directives(self, each: DeclaredRelation) -> Iterator[Remark]:
        for directive in each.directives:
            match directive.what:
                case "input":
                    yield from self._of_input(each, directive)
                case "output":
                    yield from _of_output(each, directive)
                case "limitsize" if not each.is_recursive:
                    text = f"the limit of {each.name} is left out: only recursions end early by it"
                    yield _of_text(text, directive.span)
                case "printsize":
                    text = f"the size of {each.name} is printed by `--sizes --relation {each.name}`"
                    yield _of_text(text, directive.span)
        if each.has("input") and not any(d.what == "input" for d in each.directives):
            yield from self._of_input(
                each, ast.Directive(each.relation.span, "input", each.relation.name, ())
            )

    def _of_input(self, each: DeclaredRelation, directive: ast.Directive) -> Iterator[Remark]:
        parameters, span = dict(directive.parameters), directive.span
        name = each.input_name or each.name
        if parameters.get("IO") == "command":
            yield Remark(f"the rows of {name} come from updates, not from a file", span)
            return
        if parameters.get("IO", "file") != "file":
            yield _of_text(f"{name} is read from a file, not by IO={parameters['IO']}", span)
            return
        if each.input_name:
            yield _of_text(f"the facts of {each.name}, which is also derived or an output, are {name}", span)
        file = parameters.get("filename") or parameters.get("name") or f"{each.relation.name}.facts"
        if file not in (f"{name}.facts", f"{name}.csv", f"{name}.tsv"):
            yield _of_text(f"the facts of {name} are given by `--input {name}={file}`", span)
        yield from _of_delimiter(name, file, parameters.get("delimiter", "\t"), span)
        for key, value in directive.parameters:
            if key not in ("filename", "name", "delimiter") and (key, value) not in _PARAMETERS_OF_FILES:
                yield _of_text(f"{key}={value} of the input {name} is left out", span)
        if any(self.types.kind(a.type) not in PRIMITIVE for a in each.relation.attributes):
            form = '`[1, "a"]`, with quotes and with `null` for nil, branches as `Name{1, "a"}`'
            yield _of_text(f"records in the facts of {name} are read as {form}", span)


def _of_text(text: str, span: Span | None = None) -> Remark:
    return Remark(text, span, of_text=True)


def _of_delimiter(name: str, file: str, delimiter: str, span: Span) -> Iterator[Remark]:
    delimiter = delimiter.replace("\\t", "\t")
    plain = file.removesuffix(".gz")
    if delimiter == "," and not plain.endswith(".csv"):
        yield _of_text(f"the facts of {name} have commas: the name of their file must end in .csv", span)
    elif delimiter == "\t" and plain.endswith(".csv"):
        yield _of_text(f"the facts of {name} have tabs: the name of their file must end in .facts", span)
    elif delimiter not in (",", "\t"):
        yield _of_text(f"the facts of {name} must have tabs or commas, not {delimiter!r}", span)


def _of_output(each: DeclaredRelation, directive: ast.Directive) -> Iterator[Remark]:
    kept: Iterable[tuple[str, str]] = (p for p in directive.parameters if p not in _PARAMETERS_OF_FILES)
    listed = ", ".join(f"{key}={value}" for key, value in kept)
    if listed:
        text = f"`--output DIR --format csv` writes {each.name} to DIR/{each.name}.csv; left out: {listed}"
        yield _of_text(text, directive.span)
