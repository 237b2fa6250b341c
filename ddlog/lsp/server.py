"""The protocol: requests of an editor to answers. Positions are converted here, and nowhere else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ..errors.codes import code_of
from ..errors.diagnostics import DDlogError, Diagnostic, in_order
from ..errors.installed import version
from ..errors.source import Source, Span
from ..formatting.commandfiles import formatted_commands
from ..formatting.program import formatted
from . import completion, hover, navigation, occurrences, outline
from .analysis import Analysis
from .occurrences import Occurrence

_WAIT = 0.2  # seconds without a key before a program is checked
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_SYMBOLS = {
    occurrences.RELATION: lsp.SymbolKind.Struct,
    occurrences.TYPE: lsp.SymbolKind.Class,
    occurrences.CONSTRUCTOR: lsp.SymbolKind.Constructor,
    occurrences.FUNCTION: lsp.SymbolKind.Function,
    occurrences.INDEX: lsp.SymbolKind.Key,
    outline.LOOP: lsp.SymbolKind.Namespace,
}
_COMPLETIONS = {
    occurrences.RELATION: lsp.CompletionItemKind.Struct,
    occurrences.TYPE: lsp.CompletionItemKind.Class,
    occurrences.CONSTRUCTOR: lsp.CompletionItemKind.Constructor,
    occurrences.FUNCTION: lsp.CompletionItemKind.Function,
    occurrences.VARIABLE: lsp.CompletionItemKind.Variable,
    occurrences.FIELD: lsp.CompletionItemKind.Field,
    completion.KEYWORD: lsp.CompletionItemKind.Keyword,
}
_TOKENS = {
    occurrences.RELATION: "struct",
    occurrences.TYPE: "type",
    occurrences.CONSTRUCTOR: "enumMember",
    occurrences.FUNCTION: "function",
    occurrences.VARIABLE: "variable",
    occurrences.FIELD: "property",
    occurrences.MODULE: "namespace",
    occurrences.INDEX: "struct",
}
_LEGEND = lsp.SemanticTokensLegend(sorted(set(_TOKENS.values())), ["declaration"])


@dataclass
class Documents:
    """The documents that an editor holds, and what is known of their last versions."""

    folders: Sequence[Path] = ()
    known: dict[str, tuple[int | None, Analysis]] = field(default_factory=dict)
    waiting: dict[str, asyncio.Task[None]] = field(default_factory=dict)


def serve(folders: Sequence[Path]) -> None:
    """Answers an editor on standard input and output until it ends the server."""
    server(folders).start_io()


def server(folders: Sequence[Path] = ()) -> LanguageServer:
    """A server that an editor can be connected to. `folders` are those where modules are looked for."""
    made = LanguageServer("ddlog", version())
    documents = Documents(folders)
    for name, answer in _ANSWERS.items():
        _register(made, documents, name, answer)
    for each in (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE, lsp.TEXT_DOCUMENT_DID_SAVE):
        made.feature(each)(partial(_changed, made, documents))
    made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(partial(_closed, made, documents))
    made.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)(partial(_tokens, made, documents))
    made.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", ":"])
    )(partial(_completion, made, documents))  # fmt: skip
    made.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ",", "{"])
    )(partial(_signature, made, documents))  # fmt: skip
    return made


def _register(made: LanguageServer, documents: Documents, name: str, answer: Any) -> None:
    made.feature(name)(partial(answer, made, documents))


# ---- documents and positions


def _analysis(made: LanguageServer, documents: Documents, uri: str) -> Analysis:
    """The analysis of the present version of a document."""
    document = made.workspace.get_text_document(uri)
    found = documents.known.get(uri)
    if found is None or found[0] != document.version or found[1].source.text != document.source:
        unsaved = {
            Path(path).resolve(): each.source.encode()
            for each in made.workspace.text_documents.values()
            if each.uri != uri and (path := uris.to_fs_path(each.uri)) is not None
        }
        name = uris.to_fs_path(uri) or uri
        analysis = Analysis(Source(name, document.source), documents.folders, unsaved)
        found = documents.known[uri] = (document.version, analysis)
    return found[1]


def _lines(source: Source) -> list[str]:
    return source.text.splitlines(keepends=True)


def _range(made: LanguageServer, span: Span) -> lsp.Range:
    codec = made.workspace.position_codec
    begin = lsp.Position(span.line - 1, span.column - 1)
    end = lsp.Position(span.end_line - 1, span.end_column - 1)
    return codec.range_to_client_units(_lines(span.source), lsp.Range(begin, end))


def _place(made: LanguageServer, analysis: Analysis, position: lsp.Position) -> tuple[int, int]:
    """The line and column of a position, both from 1 on."""
    found = made.workspace.position_codec.position_from_client_units(_lines(analysis.source), position)
    return found.line + 1, found.character + 1


def _location(made: LanguageServer, span: Span) -> lsp.Location | None:
    uri = uris.from_fs_path(str(Path(span.source.name).resolve()))
    return None if uri is None else lsp.Location(uri, _range(made, span))


def _at(made: LanguageServer, documents: Documents, params: Any) -> tuple[Analysis, Occurrence | None]:
    analysis = _analysis(made, documents, params.text_document.uri)
    return analysis, analysis.at(*_place(made, analysis, params.position))


# ---- errors


async def _changed(made: LanguageServer, documents: Documents, params: Any) -> None:
    """Checks a document when no key was pressed for a while, and tells its errors."""
    uri = params.text_document.uri
    before = documents.waiting.pop(uri, None)
    if before is not None:
        before.cancel()
    documents.waiting[uri] = asyncio.create_task(_check_soon(made, documents, uri))


async def _check_soon(made: LanguageServer, documents: Documents, uri: str) -> None:
    await asyncio.sleep(_WAIT)
    if not uri.endswith(".dl"):
        return
    analysis = _analysis(made, documents, uri)
    _, found = await asyncio.to_thread(lambda: analysis.checked)
    if _analysis(made, documents, uri) is analysis:
        _publish(made, uri, analysis, found)


def _publish(made: LanguageServer, uri: str, analysis: Analysis, found: Sequence[Diagnostic]) -> None:
    own = [each for each in in_order(found) if each.span is None or _is_own(analysis, each.span)]
    told = [_told(made, each) for each in own]
    version = made.workspace.get_text_document(uri).version
    made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, told, version))


def _is_own(analysis: Analysis, span: Span) -> bool:
    return span.source.name == analysis.source.name


def _told(made: LanguageServer, diagnostic: Diagnostic) -> lsp.Diagnostic:
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    words = [diagnostic.message, diagnostic.marked, diagnostic.hint and f"help: {diagnostic.hint}"]
    notes = [(note.text, _location(made, note.span)) for note in diagnostic.notes if note.span is not None]
    related = [lsp.DiagnosticRelatedInformation(place, text) for text, place in notes if place is not None]
    return lsp.Diagnostic(
        whole if diagnostic.span is None else _range(made, diagnostic.span),
        "\n".join(filter(None, words)),
        severity=_SEVERITIES[diagnostic.severity],
        code=code_of(type(diagnostic)),
        source="ddlog",
        related_information=related,
        data=_correction(diagnostic),
    )


def _correction(diagnostic: Diagnostic) -> str | None:
    """The name that was perhaps meant."""
    found = re.search(r"did you mean `([^`]+)`", diagnostic.hint)
    return found[1] if found and diagnostic.span is not None else None


def _closed(made: LanguageServer, documents: Documents, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    documents.known.pop(uri, None)
    made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _fixes(made: LanguageServer, documents: Documents, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    return [
        lsp.CodeAction(
            f"Write `{each.data}`",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[each],
            edit=lsp.WorkspaceEdit({params.text_document.uri: [lsp.TextEdit(each.range, each.data)]}),
            is_preferred=True,
        )
        for each in params.context.diagnostics
        if isinstance(each.data, str)
    ]


# ---- navigation


def _hover(made: LanguageServer, documents: Documents, params: lsp.HoverParams) -> lsp.Hover | None:
    analysis, found = _at(made, documents, params)
    text = None if found is None else hover.described(analysis, found)
    if found is None or text is None:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), _range(made, found.span))


def _definition(
    made: LanguageServer, documents: Documents, params: lsp.DefinitionParams
) -> lsp.Location | None:
    analysis, found = _at(made, documents, params)
    span = None if found is None else navigation.definition(analysis, found)
    return None if span is None else _location(made, span)


def _type_definition(
    made: LanguageServer, documents: Documents, params: lsp.TypeDefinitionParams
) -> lsp.Location | None:
    analysis, found = _at(made, documents, params)
    span = None if found is None else navigation.type_definition(analysis, found)
    return None if span is None else _location(made, span)


def _references(
    made: LanguageServer, documents: Documents, params: lsp.ReferenceParams
) -> list[lsp.Location] | None:
    analysis, found = _at(made, documents, params)
    if found is None:
        return None
    spans = navigation.references(_all(made, documents, analysis), found)
    return _located(made, spans)


def _located(made: LanguageServer, spans: Iterable[Span]) -> list[lsp.Location]:
    return [place for span in spans if (place := _location(made, span)) is not None]


def _highlights(
    made: LanguageServer, documents: Documents, params: lsp.DocumentHighlightParams
) -> list[lsp.DocumentHighlight] | None:
    analysis, found = _at(made, documents, params)
    if found is None:
        return None
    return [lsp.DocumentHighlight(_range(made, each)) for each in navigation.references([analysis], found)]


def _rename(made: LanguageServer, documents: Documents, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    analysis, found = _at(made, documents, params)
    if found is None:
        return None
    try:
        spans = navigation.renamed(_all(made, documents, analysis), found, params.new_name)
    except DDlogError as error:
        raise JsonRpcInvalidParams(error.diagnostics[0].message) from None
    edits: dict[str, list[lsp.TextEdit]] = {}
    for place in _located(made, spans):
        edits.setdefault(place.uri, []).append(lsp.TextEdit(place.range, params.new_name))
    return lsp.WorkspaceEdit(changes=edits)


def _all(made: LanguageServer, documents: Documents, first: Analysis) -> list[Analysis]:
    """The document, and all other programs in the folders that the editor has open, or else in that of the
    document."""
    roots = [uris.to_fs_path(each) for each in made.workspace.folders]
    folders = [Path(each) for each in roots if each] or [Path(first.source.name).parent]
    open_ones = {
        Path(path).resolve(): each
        for each in made.workspace.text_documents
        if (path := uris.to_fs_path(each)) is not None
    }
    found = [first]
    for file in dict.fromkeys(each.resolve() for folder in folders for each in folder.rglob("*.dl")):
        if file == Path(first.source.name).resolve() or any(part.startswith(".") for part in file.parts):
            continue
        uri = open_ones.get(file) or uris.from_fs_path(str(file))
        if uri is not None:
            found.append(_analysis(made, documents, uri))
    return found


# ---- the outline


def _symbols(
    made: LanguageServer, documents: Documents, params: lsp.DocumentSymbolParams
) -> list[lsp.DocumentSymbol]:
    analysis = _analysis(made, documents, params.text_document.uri)
    return [_symbol(made, each) for each in outline.symbols(analysis)]


def _symbol(made: LanguageServer, symbol: outline.Symbol) -> lsp.DocumentSymbol:
    parts = [_symbol(made, each) for each in symbol.parts]
    place, name = _range(made, symbol.span), _range(made, symbol.name_span)
    return lsp.DocumentSymbol(symbol.name, _SYMBOLS[symbol.kind], place, name, symbol.detail, children=parts)


def _folds(
    made: LanguageServer, documents: Documents, params: lsp.FoldingRangeParams
) -> list[lsp.FoldingRange]:
    analysis = _analysis(made, documents, params.text_document.uri)
    return [lsp.FoldingRange(first - 1, last - 1) for first, last in outline.folds(analysis)]


def _hints(made: LanguageServer, documents: Documents, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    analysis = _analysis(made, documents, params.text_document.uri)
    first, last = params.range.start.line + 1, params.range.end.line + 1
    return [
        lsp.InlayHint(_range(made, span).end, f": {text}", kind=lsp.InlayHintKind.Type)
        for span, text in outline.types_of_variables(analysis, first, last)
    ]


def _tokens(
    made: LanguageServer, documents: Documents, params: lsp.SemanticTokensParams
) -> lsp.SemanticTokens:
    analysis = _analysis(made, documents, params.text_document.uri)
    data: list[int] = []
    line = column = 0
    for each in analysis.occurrences:
        place = _range(made, each.span)
        if (place.start.line, place.start.character) < (line, column) or place.end.line != place.start.line:
            continue
        same = place.start.line == line
        begin = place.start.character - column if same else place.start.character
        kind = _LEGEND.token_types.index(_TOKENS[each.kind])
        length = place.end.character - place.start.character
        data += [place.start.line - line, begin, length, kind, int(each.declares)]
        line, column = place.start.line, place.start.character
    return lsp.SemanticTokens(data)


# ---- writing


def _completion(
    made: LanguageServer, documents: Documents, params: lsp.CompletionParams
) -> list[lsp.CompletionItem]:
    analysis = _analysis(made, documents, params.text_document.uri)
    found = completion.candidates(analysis, *_place(made, analysis, params.position))
    return [lsp.CompletionItem(each.name, kind=_COMPLETIONS[each.kind], detail=each.detail) for each in found]


def _signature(
    made: LanguageServer, documents: Documents, params: lsp.SignatureHelpParams
) -> lsp.SignatureHelp | None:
    analysis = _analysis(made, documents, params.text_document.uri)
    call = completion.call_around(analysis, *_place(made, analysis, params.position))
    if call is None:
        return None
    parameters = [lsp.ParameterInformation(each) for each in call.parameters]
    text = lsp.MarkupContent(lsp.MarkupKind.Markdown, call.text) if call.text else None
    shown = lsp.SignatureInformation(call.name, text, parameters)
    return lsp.SignatureHelp([shown], 0, min(call.active, max(0, len(parameters) - 1)))


def _format(made: LanguageServer, documents: Documents, params: Any) -> list[lsp.TextEdit] | None:
    """The text as `ddlog fmt` writes it; no change where it has errors."""
    document = made.workspace.get_text_document(params.text_document.uri)
    lines: tuple[int, int] | None = None
    if isinstance(params, lsp.DocumentRangeFormattingParams):
        lines = (params.range.start.line + 1, params.range.end.line + 1)
    try:
        if document.uri.endswith(".dat"):
            text = formatted_commands(document.source)
        else:
            text = formatted(Source(document.uri, document.source), lines=lines)
    except DDlogError:
        return None
    if text == document.source:
        return []
    end = lsp.Position(len(document.lines) + 1, 0)
    return [lsp.TextEdit(lsp.Range(lsp.Position(0, 0), end), text)]


_ANSWERS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: _fixes,
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
    lsp.TEXT_DOCUMENT_TYPE_DEFINITION: _type_definition,
    lsp.TEXT_DOCUMENT_REFERENCES: _references,
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: _highlights,
    lsp.TEXT_DOCUMENT_RENAME: _rename,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _symbols,
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: _folds,
    lsp.TEXT_DOCUMENT_INLAY_HINT: _hints,
    lsp.TEXT_DOCUMENT_FORMATTING: _format,
    lsp.TEXT_DOCUMENT_RANGE_FORMATTING: _format,
}
