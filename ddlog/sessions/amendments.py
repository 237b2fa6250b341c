"""The text of a program with something added at its end, or with declarations and rules left out.

The lines of what stays keep their numbers, so that places in a program stay those in its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace

from .. import syntax
from ..errors.diagnostics import DDlogError, Diagnostic, moved
from ..errors.names import EmptyRelation, UnusedRelation
from ..errors.nearest import nearest
from ..errors.sessions import NothingToDrop, ProgramStays, RuleOfSeveral, StillUsed
from ..errors.source import Source, Span
from ..syntax.parser import parse_program
from .program import Program, compile_source, with_null

_NAME = re.compile(r"\s*([A-Za-z_][\w:]*)\s*;?\s*\Z")
_KINDS = (
    (syntax.RelationDecl, "relation"),
    (syntax.FunctionDecl, "function"),
    (syntax.IndexDecl, "index"),
    (syntax.TypeDecl | syntax.AliasDecl | syntax.ExternTypeDecl, "type"),
    (syntax.LoopDecl, "loop"),
    (syntax.TransformerDecl, "transformer"),
)
"""The kinds of declarations with names, and their words. A name that several have means the first kind."""


# ---------------------------------------------------------------- more


def extended(program: Program, text: str, name: str) -> Program:
    """The program with a text at its end; `name` names the text in errors. Its warnings are those about the
    text. Raises DDlogError."""
    with placed_in(program, text, name) as source:
        found = _joined(program, source, text)
        made = _again(program)(source) if found is None else found
    added = (each for each in made.warnings if not isinstance(each, UnusedRelation | EmptyRelation))
    before = ended(program.source).count("\n")
    placed = (_moved(each, source, Source(name, text), before) for each in added)
    warnings = tuple(each for each in placed if each.span is not None and each.span.source.text == text)
    made.warnings = warnings
    return made


def _joined(program: Program, source: Source, text: str) -> Program | None:
    """The program with a text, of which nothing else is read and checked; None where that is not enough."""
    from ..check.additions import check_added

    if getattr(program.again, "func", None) is not compile_source:
        return None
    # Places of the text are those in the source, which is blank before it.
    alone = replace(source, text="\n" * ended(program.source).count("\n") + text)
    tree = _tree_over(program, alone)
    found = None if tree is None else check_added(program.checked, source, tree)
    if found is None:
        return None
    checked = with_null(found[0]) if source.name.endswith(".sql") else found[0]
    return Program(source, checked, tuple(found[1]), program.again, lowered=program.lowered)


def _tree_over(program: Program, source: Source) -> syntax.Module | None:
    """The declarations of a text over those of a program; None for wrong ones."""
    if not source.name.endswith(".sql"):
        tree, errors = parse_program(source)
        return None if errors else tree
    from ..sql.attach import know_structs
    from ..sql.translate import translate

    know_structs(program.checked.typedefs)
    with suppress(DDlogError):
        return translate(source, program.relations, known=program.checked.typedefs)
    return None


@contextmanager
def placed_in(program: Program, text: str, name: str) -> Iterator[Source]:
    """The source of the program with a text at its end. Errors that are raised inside have places in that
    text alone, where they are about it."""
    head = ended(program.source)
    whole = replace(program.source, text=head + text)
    with below(head.count("\n"), whole, Source(name, text)):
        yield whole


def at_end(program: Program, text: str, name: str) -> AbstractContextManager[None]:
    """Errors that are raised inside have places in the text at the end of a program, where they are about
    it."""
    return below(program.source.text.count("\n") - text.count("\n"), program.source, Source(name, text))


@contextmanager
def below(lines: int, whole: Source, part: Source) -> Iterator[None]:
    """Errors that are raised inside have places in a part that comes after so many lines of a whole."""
    try:
        yield
    except DDlogError as error:
        raise DDlogError([_moved(each, whole, part, lines) for each in error.diagnostics]) from None


def imports_of(program: Program) -> list[str]:
    """The modules that the text of a program imports."""
    tree, _ = parse_program(program.source)
    return [each.module for each in tree.declarations if isinstance(each, syntax.ImportDecl)]


def ended(source: Source) -> str:
    """The text of a program, ended so that more can be added."""
    end = "\n;\n" if source.name.endswith(".sql") else "\n"
    return source.text.rstrip() + end if source.text.strip() else ""


def _moved(diagnostic: Diagnostic, whole: Source, added: Source, before: int) -> Diagnostic:
    """A diagnostic with places in the added text, which comes after so many lines of the whole."""
    lines = whole.text.count("\n")

    def in_part(span: Span) -> Span:
        # Of a text that was read alone, the source is blank where the program stands.
        is_of_whole = span.source.name == whole.name and span.source.text.count("\n") == lines
        if not is_of_whole or span.line <= before:
            return span
        return replace(span, source=added, line=span.line - before, end_line=span.end_line - before)

    return moved(diagnostic, in_part)


def _again(program: Program) -> Callable[[Source], Program]:
    if program.again is None:
        raise DDlogError([ProgramStays("it was not made from the text of a program")])
    return program.again


# ---------------------------------------------------------------- less


def without(program: Program, what: str) -> Program:
    """The program without the declarations of a name, and without the rules of a relation; or without the
    rules of a text. Raises DDlogError."""
    again = _again(program)
    if program.source.name.endswith(".sql"):
        raise DDlogError([ProgramStays("nothing can be dropped from a module of SQL")])
    tree, _ = parse_program(program.source)
    named = _NAME.fullmatch(what)
    gone = _declared(tree, named[1]) if named else _same(tree, what)
    left = [each for each in tree.declarations if each not in gone]
    try:
        made = again(replace(program.source, text=_blanked(program.source.text, gone)))
    except DDlogError as error:
        raise _still_used(what.strip().rstrip(";"), error, left) from None
    return Program(made.source, made.checked, (), made.again)


def _declared(tree: syntax.Module, name: str) -> list[syntax.Declaration]:
    """The declarations of a name, and the rules of a relation."""
    for kind, word in _KINDS:
        found = [each for each in tree.declarations if isinstance(each, kind) and each.name == name]
        if found:
            return [*found, *(_rules_of(tree, name) if word == "relation" else ())]
    names = (each.name for kind, _ in _KINDS for each in tree.declarations if isinstance(each, kind))
    raise DDlogError([NothingToDrop(f"declaration of {name}", nearest(name, names))])


def _rules_of(tree: syntax.Module, relation: str) -> Iterator[syntax.RuleDecl]:
    for each in tree.declarations:
        if isinstance(each, syntax.RuleDecl):
            heads = dict.fromkeys(head.relation for head in each.heads)
            if relation in heads:
                if len(heads) > 1:
                    others = " and ".join(head for head in heads if head != relation)
                    error = RuleOfSeveral(
                        relation, others, " ".join(each.span.text().split()), span=each.span
                    )
                    raise DDlogError([error])
                yield each


def _same(tree: syntax.Module, text: str) -> list[syntax.Declaration]:
    """The rules that a text has, as the program has them."""
    given, errors = parse_program(Source("<dropped>", text.strip().removesuffix(";")))
    if errors:
        raise DDlogError(errors)
    for each in given.declarations:
        if each not in tree.declarations:
            raise DDlogError([NothingToDrop(f"rule `{' '.join(each.span.text().split())}`")])
    return [each for each in tree.declarations if each in given.declarations]


def _still_used(name: str, error: DDlogError, left: Sequence[syntax.Declaration]) -> DDlogError:
    """The error of a program in which a name is missing, by the declarations that have it."""
    word = re.compile(rf"(?<![\w:]){re.escape(name)}(?![\w:])")
    users = dict.fromkeys(_described(each) for each in left if word.search(each.span.text()))
    if not users:
        return error
    return DDlogError([StillUsed(name, " and ".join(users), span=error.diagnostics[0].span)])


def _described(declaration: syntax.Declaration) -> str:
    if isinstance(declaration, syntax.RuleDecl):
        heads = dict.fromkeys(head.relation for head in declaration.heads)
        return f"the rule of {' and '.join(heads)}"
    for kind, word in _KINDS:
        if isinstance(declaration, kind):
            return f"the {word} {declaration.name}"
    return f"`{' '.join(declaration.span.text().split())}`"


def blanked(text: str, stretch: tuple[int, int]) -> str:
    """The text without a stretch of it; lines keep their numbers."""
    begin, end = stretch
    return text[:begin] + re.sub(r"[^\n]", "", text[begin:end]) + text[end:]


def _blanked(text: str, gone: Iterable[syntax.Declaration]) -> str:
    """The text without some declarations."""
    starts = _starts(text)
    for each in gone:
        begin = starts[each.span.line - 1] + each.span.column - 1
        for attribute in getattr(each, "attributes", ()):
            inside = starts[attribute.span.line - 1] + attribute.span.column - 1
            begin = min(begin, text.rfind("#[", 0, inside))
        end = starts[each.span.end_line - 1] + each.span.end_column - 1
        follows = text[end:].split("\n", 1)[0].strip()
        text = text[:begin] + re.sub(r"[^\n]", " " if follows else "", text[begin:end]) + text[end:]
        starts = _starts(text)
    return text


def _starts(text: str) -> list[int]:
    """The offset of each line."""
    return [0, *(found.end() for found in re.finditer("\n", text))]
