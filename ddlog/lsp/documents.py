"""The documents that an editor holds, and places as the protocol has them. Positions are converted here, and
nowhere else."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from ..errors.diagnostics import Diagnostic
from ..errors.source import Source, Span
from .analysis import Analysis
from .checkprocess import Checker
from .occurrences import Occurrence


@dataclass
class Documents:
    """The documents that an editor holds, what is known of their last versions, the last errors that it was
    told, with their version, and who waits to check them. `version` counts the changes of all. `plans`: the
    order of joins is shown."""

    server: LanguageServer
    folders: Sequence[Path] = ()
    version: int = 0
    known: dict[str, tuple[int, Analysis]] = field(default_factory=dict)
    told: dict[str, tuple[Analysis, Sequence[Diagnostic]]] = field(default_factory=dict)
    waiting: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    tokens: dict[str, tuple[str, array[int]]] = field(default_factory=dict)
    plans: bool = False
    checker: Checker = field(default_factory=Checker)

    def analysis(self, uri: str) -> Analysis:
        """The analysis of the present version of a document."""
        document = self.server.workspace.get_text_document(uri)
        version, found = self.known.get(uri, (-1, None))
        if found is None or version != self.version or found.source.text != document.source:
            unsaved = {
                Path(path).resolve(): each.source.encode()
                for each in self.server.workspace.text_documents.values()
                if each.uri != uri and (path := uris.to_fs_path(each.uri)) is not None
            }
            source = Source(uris.to_fs_path(uri) or uri, document.source)
            found = Analysis(source, self.folders, unsaved, found)
            self.known[uri] = self.version, found
        return found

    def lines(self, uri: str) -> int:
        """The lines of a document."""
        source: str = self.server.workspace.get_text_document(uri).source
        return source.count("\n")

    def at(self, params: Any) -> tuple[Analysis, Occurrence | None]:
        """The analysis of a document, and the name at the place of a question."""
        analysis = self.analysis(params.text_document.uri)
        return analysis, analysis.at(*self.place(analysis, params.position))

    def all(self, first: Analysis | None = None) -> list[Analysis]:
        """A document, and all other programs in the folders that the editor has open, or else in that of the
        document."""
        roots = [uris.to_fs_path(each) for each in self.server.workspace.folders]
        beside = [] if first is None else [Path(first.source.name).parent]
        folders = [Path(each) for each in roots if each] or beside
        open_ones = {
            Path(path).resolve(): each
            for each in self.server.workspace.text_documents
            if (path := uris.to_fs_path(each)) is not None
        }
        own = None if first is None else Path(first.source.name).resolve()
        found = [] if first is None else [first]
        for file in dict.fromkeys(each.resolve() for folder in folders for each in folder.rglob("*.dl")):
            uri = open_ones.get(file) or uris.from_fs_path(str(file))
            if uri is not None and file != own and not any(part.startswith(".") for part in file.parts):
                with suppress(OSError, UnicodeDecodeError):  # no program of ours
                    found.append(self.analysis(uri))
        return found

    def units(self, text: str) -> int:
        """The number of units of the client in a text."""
        count: int = self.server.workspace.position_codec.client_num_units(text)
        return count

    def range(self, span: Span) -> lsp.Range:
        """A place as the protocol has it."""
        return lsp.Range(
            self._position(span.source, span.line, span.column),
            self._position(span.source, span.end_line, span.end_column),
        )

    def _position(self, source: Source, line: int, column: int) -> lsp.Position:
        return lsp.Position(line - 1, self.units(source.line(line)[: column - 1]))

    def place(self, analysis: Analysis, position: lsp.Position) -> tuple[int, int]:
        """The line and column of a position, both from 1 on."""
        line = position.line + 1
        own = lsp.Position(0, position.character)
        codec = self.server.workspace.position_codec
        found = codec.position_from_client_units([f"{analysis.source.line(line)}\n"], own)
        return line, found.character + 1

    def location(self, span: Span) -> lsp.Location | None:
        """A place with its file."""
        uri = uris.from_fs_path(str(Path(span.source.name).resolve()))
        return None if uri is None else lsp.Location(uri, self.range(span))

    def locations(self, spans: Iterable[Span]) -> list[lsp.Location]:
        """The places that are in files."""
        return [place for span in spans if (place := self.location(span)) is not None]
