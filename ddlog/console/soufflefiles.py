"""The facts and results of a program of Soufflé that runs: its directives are carried out, in their order."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ..core import Relation
from ..core.program import needed
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.souffle import BadParameter, NoFactFile
from ..io.columns import Columns
from ..io.decompression import unpacked
from ..io.faults import FaultyFile
from ..io.formats import Row
from ..io.read import faulty_file, too_large
from ..io.write import make_directory, replacing
from ..sessions.program import Program
from ..sessions.session import Session
from ..souffle.files.databases import read_database, write_database
from ..souffle.files.facts import read_delimited_facts
from ..souffle.files.jsonforms import has_json, json_texts, read_json_facts
from ..souffle.files.results import delimited_texts, ordered
from ..souffle.files.transfers import FileForm, Transfer, Vocabulary, form_of
from ..souffle.translate import Translation
from .notes import Note

_NO_JSON = "another medium, since algebraic types have no form in JSON"
_GZIP = b"\x1f\x8b"

Source = tuple[Transfer, FileForm]
"""An input with its form."""


class SouffleFiles:
    """The files of a translated program. `fact_dir` and `output_dir` are the folders of relative names; the
    results go to standard output if `output_dir` is `-`."""

    def __init__(
        self, program: Program, translation: Translation, fact_dir: str, output_dir: str, note: Note
    ) -> None:
        self._program, self._note = program, note
        self._words = Vocabulary(
            program.checked.typedefs, translation.branches, translation.fields,
            translation.dialect == "flowlog",
        )  # fmt: skip
        self._fact_dir = Path(fact_dir)
        self._output_dir = None if output_dir == "-" else Path(output_dir)
        self._targets = _forms(
            [each for each in translation.transfers if each.what != "input"],
            lambda each: form_of(
                each, self._output_dir or Path(), note, to_console=output_dir == "-" and each.what == "output"
            ),
        )
        read = needed(program.checked, self.results)
        inputs = (each for each in translation.transfers if each.what == "input")
        self._inputs = [each for each in inputs if each.relation in read]

    @property
    def results(self) -> list[str]:
        """The relations that are written."""
        return sorted({transfer.relation for transfer, _ in self._targets})

    # ---------------------------------------------------------------- facts

    def sources(self, *, may_be_absent: bool) -> list[Source]:
        """The places of the facts that results need. Raises DDlogError for wrong parameters, and for absent
        files unless they `may_be_absent`."""
        if not self._fact_dir.is_dir():
            kind = errors.NotADirectory if self._fact_dir.exists() else errors.NoSuchDirectory
            raise DDlogError([kind(str(self._fact_dir))])
        forms = _forms(self._inputs, lambda each: form_of(each, self._fact_dir, self._note))
        sources = [source for source in forms if source[1].medium != "updates"]
        self._check_json(sources)
        absent = [s for s in sources if s[1].medium != "console" and not s[1].path.exists()]
        if absent and not may_be_absent:
            raise DDlogError([NoFactFile(path=str(f.path), relation=t.shown, span=t.span) for t, f in absent])
        return [source for source in sources if source not in absent]

    def facts(self, sources: Sequence[Source]) -> Iterator[tuple[str, Columns]]:
        """The facts at the places. Raises DDlogError with the errors in all of them."""
        wrong: list[Diagnostic] = []
        for transfer, form in sources:
            try:
                columns = self._read(form, self._program.relations[transfer.relation])
            except DDlogError as error:
                wrong += error.diagnostics
            else:
                yield transfer.relation, columns
        if wrong:
            raise DDlogError(wrong)

    def _read(self, form: FileForm, relation: Relation) -> Columns:
        if form.medium == "sqlite":
            return read_database(form, relation, self._words)
        shown = "<stdin>" if form.medium == "console" else str(form.path)
        try:
            data = sys.stdin.buffer.read() if form.medium == "console" else form.path.read_bytes()
            data = unpacked(data) if data.startswith(_GZIP) else data
            if form.medium == "json":
                return read_json_facts(data, form, relation, self._words)
            return read_delimited_facts(data, form, relation, self._words, self._note)
        except FaultyFile as faulty:
            raise faulty_file(shown, faulty) from None
        except MemoryError as error:
            raise DDlogError([errors.CannotRead(shown, too_large(error))]) from None
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DDlogError([errors.CannotRead(shown, reason)]) from None

    # -------------------------------------------------------------- results

    def check_targets(self) -> None:
        """Makes the folders of the results. Raises DDlogError if they cannot be written to, or a result has
        no form in its file."""
        self._check_json(self._targets)
        in_files = (
            form.path.parent for _, form in self._targets if form.medium in ("file", "json", "sqlite")
        )
        for folder in dict.fromkeys(in_files):
            make_directory(folder)

    def write(self, session: Session) -> None:
        """Writes all results, in the order of the directives. Raises DDlogError."""
        for transfer, form in self._targets:
            if form.medium == "size":
                sys.stdout.write(f"{form.name}\t{session.size(transfer.relation)}\n")
                continue
            rows = ordered(session[transfer.relation].stored, form)
            self._write(rows, form, self._program.relations[transfer.relation])
        sys.stdout.flush()

    def _write(self, rows: Iterable[Row], form: FileForm, relation: Relation) -> None:
        if form.medium == "sqlite":
            write_database(rows, form, relation, self._words)
            return
        texts = (json_texts if "json" in form.medium else delimited_texts)(rows, form, relation, self._words)
        if "console" in form.medium:
            sys.stdout.writelines(texts)
        else:
            _write_file(form, texts)

    def _check_json(self, sources: Iterable[Source]) -> None:
        """Raises DDlogError for columns that have no form in JSON."""
        wrong: list[Diagnostic] = []
        for transfer, form in sources:
            types = [column.type for column in self._program.relations[transfer.relation].columns]
            if "json" in form.medium and not all(has_json(type, self._words) for type in types):
                word = transfer.parameters["IO"]
                wrong.append(BadParameter(key="IO", value=word, expected=_NO_JSON, span=transfer.span))
        if wrong:
            raise DDlogError(wrong)


def _write_file(form: FileForm, texts: Iterable[str]) -> None:
    with replacing(form.path) as out:
        if not form.compressed:
            out.writelines(text.encode("utf-8") for text in texts)
            return
        with gzip.open(out, "wb", compresslevel=6) as packed:
            packed.writelines(text.encode("utf-8") for text in texts)


def _forms(transfers: Iterable[Transfer], form: Callable[[Transfer], FileForm]) -> list[Source]:
    """The forms of directives. Raises DDlogError with all errors."""
    forms: list[Source] = []
    wrong: list[Diagnostic] = []
    for transfer in transfers:
        try:
            forms.append((transfer, form(transfer)))
        except DDlogError as error:
            wrong += error.diagnostics
    if wrong:
        raise DDlogError(wrong)
    return forms
