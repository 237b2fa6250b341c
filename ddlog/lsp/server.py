"""The protocol: requests of an editor to answers."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from array import array
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ..errors.codes import code_of
from ..errors.diagnostics import DDlogError, Diagnostic, InternalError, in_order
from ..errors.installation import version
from ..errors.source import Source
from ..formatting.commandfiles import formatted_commands
from ..formatting.program import formatted
from . import calls, completion, hover, navigation, occurrences, outline, profiles
from .analysis import Analysis, NameDeclaration
from .documents import Documents
from .fixes import fixes
from .quickcheck import differing
from .tokens import LEGEND, edit, tokens

_SOON, _WAIT = 0.02, 0.2  # seconds without a key before an edit is checked, and before the program is
_GARBAGE = 2_000_000  # objects that may wait until nobody types
_LARGE = 3_000  # lines of a program whose edits are checked by themselves first, and which waits longer
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
_LEGEND = lsp.SemanticTokensLegend(LEGEND, ["declaration"])
_CHECKED = (".dl", ".sql", ".dat")
_MOST = 200  # names that are listed at once: an editor asks again when more letters are there; and errors


def serve(folders: Sequence[Path]) -> None:
    """Answers an editor on standard input and output until it ends the server."""
    made, documents = server(folders)
    gc.set_threshold(_GARBAGE)
    try:
        # it closes what it writes to at its end, and the process then flushes standard output
        made.start_io(stdout=os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    finally:
        documents.checker.end()


def server(folders: Sequence[Path] = ()) -> tuple[LanguageServer, Documents]:
    """A server that an editor can be connected to. `folders` are those where modules are looked for."""
    made = LanguageServer("ddlog", version())
    documents = Documents(made, folders)
    for name, answer in _ANSWERS.items():
        made.feature(name)(partial(answer, documents))
    for each in (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE, lsp.TEXT_DOCUMENT_DID_SAVE):
        made.feature(each)(partial(_changed, documents))

    async def show_plans(*_: Any) -> None:
        await _show_plans(documents)

    made.command(profiles.PLANS)(show_plans)
    made.feature(lsp.INITIALIZED)(partial(_begun, documents))
    made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(partial(_closed, documents))
    for name, answer in _OF_TOKENS.items():
        made.feature(name, _LEGEND)(partial(answer, documents))
    made.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", ":"])
    )(partial(_completion, documents))  # fmt: skip
    made.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ",", "{"])
    )(partial(_signature, documents))  # fmt: skip
    return made, documents


# ---- errors


async def _begun(documents: Documents, _: lsp.InitializedParams) -> None:
    """Starts the process that checks before there is something to check."""
    await documents.checker.start()


def _changed(documents: Documents, params: Any) -> None:
    """Checks a document, and those that import it, when no key was pressed for a while, and tells the
    errors."""
    uri = params.text_document.uri
    documents.version += 1
    for each in (uri, *_importers(documents, uri)):
        before = documents.waiting.pop(each, None)
        if before is not None:
            before.cancel()
        documents.waiting[each] = asyncio.create_task(_check_soon(documents, each, each == uri))


def _importers(documents: Documents, uri: str) -> list[str]:
    """The other open documents that import one."""
    file = Path(uris.to_fs_path(uri) or uri).resolve()
    others = [(each, documents.known[each][1]) for each in documents.server.workspace.text_documents
              if each != uri and each in documents.known]  # fmt: skip
    return [each for each, known in others if any(path.resolve() == file for path in known.modules.files)]


async def _check_soon(documents: Documents, uri: str, edited: bool) -> None:
    """Tells at once what is wrong with the declarations that an edit of a large program changed, and later,
    if no key comes, what is wrong with the program."""
    if not uri.endswith(_CHECKED):
        return
    await asyncio.sleep(_SOON)
    wait = _WAIT
    if documents.lines(uri) > _LARGE:
        wait += _WAIT * documents.lines(uri) / _LARGE
        if edited and uri in documents.told:
            analysis = documents.analysis(uri)
            soon = differing(*documents.told[uri], analysis)
            if soon is not None:
                _publish(documents, uri, analysis, soon)
    await asyncio.sleep(wait)
    analysis = documents.analysis(uri)
    try:
        found = await documents.checker.find(analysis.source, analysis.folders, analysis.unsaved)
    except InternalError as error:
        message = lsp.ShowMessageParams(lsp.MessageType.Error, str(error))
        documents.server.window_show_message(message)
        return
    if documents.analysis(uri).source.text == analysis.source.text:
        analysis.learn(found)
        _publish(documents, uri, analysis, found.diagnostics)
        _tidy()


def _tidy() -> None:
    """Frees garbage now, while no key is pressed. What is there the first time stays out of it from then on:
    a large program has millions of objects."""
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()
    gc.collect()


def _publish(documents: Documents, uri: str, analysis: Analysis, found: Sequence[Diagnostic]) -> None:
    """Tells errors and warnings; of very many the first, errors before warnings: each key sends all again."""
    own = [each for each in found if each.span is None or each.span.source.name == analysis.source.name]
    told = sorted(in_order(own), key=lambda each: not each.is_error)[:_MOST]
    documents.told[uri] = analysis, told
    shown = [_told(documents, uri, each) for each in told]
    if len(told) == _MOST:
        place, first = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)), lsp.DiagnosticSeverity.Information
        text = f"These are the first {_MOST} errors and warnings; `ddlog check` prints all."
        shown.append(lsp.Diagnostic(place, text, severity=first, source="ddlog"))
    version = documents.server.workspace.get_text_document(uri).version
    documents.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))


def _told(documents: Documents, uri: str, diagnostic: Diagnostic) -> lsp.Diagnostic:
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    words = [diagnostic.message, diagnostic.marked, diagnostic.hint and f"help: {diagnostic.hint}"]
    notes = [(note.text, documents.location(note.span)) for note in diagnostic.notes if note.span is not None]
    related = [lsp.DiagnosticRelatedInformation(place, text) for text, place in notes if place is not None]
    known = [(each.title, documents.range(each.span), each.text) for each in fixes(diagnostic)]
    return lsp.Diagnostic(
        whole if diagnostic.span is None else documents.range(diagnostic.span),
        "\n".join(filter(None, words)),
        severity=_SEVERITIES[diagnostic.severity],
        code=code_of(type(diagnostic)),
        source="ddlog",
        related_information=related,
        data=[
            {"title": title, "line": [place.start.line, place.end.line],
             "character": [place.start.character, place.end.character], "text": text}
            for title, place, text in known
        ],
    )  # fmt: skip


def _closed(documents: Documents, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    documents.version += 1
    waiting = documents.waiting.pop(uri, None)
    if waiting is not None:
        waiting.cancel()
    documents.known.pop(uri, None)
    documents.told.pop(uri, None)
    documents.tokens.pop(uri, None)
    documents.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _fixes(documents: Documents, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    found = []
    for told in params.context.diagnostics:
        for fix in told.data if isinstance(told.data, list) else ():
            begin, end = (lsp.Position(*each) for each in zip(fix["line"], fix["character"], strict=True))
            change = lsp.TextEdit(lsp.Range(begin, end), fix["text"])
            found.append(
                lsp.CodeAction(
                    fix["title"],
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[told],
                    edit=lsp.WorkspaceEdit({params.text_document.uri: [change]}),
                    is_preferred=True,
                )
            )
    return found


# ---- navigation


def _hover(documents: Documents, params: lsp.HoverParams) -> lsp.Hover | None:
    analysis, found = documents.at(params)
    text = None if found is None else hover.described(analysis, found)
    if found is None or text is None:
        return None
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, text), documents.range(analysis.placed(found.span))
    )


def _definition(documents: Documents, params: lsp.DefinitionParams) -> lsp.Location | None:
    analysis, found = documents.at(params)
    span = None if found is None else navigation.definition(analysis, found)
    return None if span is None else documents.location(span)


def _type_definition(documents: Documents, params: lsp.TypeDefinitionParams) -> lsp.Location | None:
    analysis, found = documents.at(params)
    span = None if found is None else navigation.type_definition(analysis, found)
    return None if span is None else documents.location(span)


def _references(documents: Documents, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    analysis, found = documents.at(params)
    if found is None:
        return None
    spans = navigation.references(documents.all(analysis), found)
    return documents.locations(spans)


def _highlights(
    documents: Documents, params: lsp.DocumentHighlightParams
) -> list[lsp.DocumentHighlight] | None:
    analysis, found = documents.at(params)
    if found is None:
        return None
    return [lsp.DocumentHighlight(documents.range(each)) for each in navigation.references([analysis], found)]


async def _rename(documents: Documents, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    analysis, found = documents.at(params)
    if found is None:
        return None
    try:
        spans = await asyncio.to_thread(navigation.renamed, documents.all(analysis), found, params.new_name)
    except DDlogError as error:
        raise JsonRpcInvalidParams(error.diagnostics[0].message) from None
    edits: dict[str, list[lsp.TextEdit]] = {}
    for place in documents.locations(spans):
        edits.setdefault(place.uri, []).append(lsp.TextEdit(place.range, params.new_name))
    return lsp.WorkspaceEdit(changes=edits)


# ---- calls: rules read relations


def _prepare_calls(
    documents: Documents, params: lsp.CallHierarchyPrepareParams
) -> list[lsp.CallHierarchyItem] | None:
    analysis, found = documents.at(params)
    declared = None if found is None else calls.can_call(analysis, found)
    return None if found is None or declared is None else _items(documents, found.kind, declared)


def _items(documents: Documents, kind: str, declared: NameDeclaration) -> list[lsp.CallHierarchyItem]:
    place = documents.location(declared.span)
    if place is None:
        return []
    detail = declared.owner.name or None
    return [
        lsp.CallHierarchyItem(
            declared.span.text(), _SYMBOLS[kind], place.uri, place.range, place.range, detail=detail
        )
    ]


def _incoming(
    documents: Documents, params: lsp.CallHierarchyIncomingCallsParams
) -> list[lsp.CallHierarchyIncomingCall]:
    found = []
    for use in _uses(documents, params.item, calls.users):
        for item in _items(documents, use.kind, use.declared):
            for source in dict.fromkeys(each.source.name for each in use.places):
                places = [documents.range(each) for each in use.places if each.source.name == source]
                found.append(lsp.CallHierarchyIncomingCall(item, places))
    return found


def _outgoing(
    documents: Documents, params: lsp.CallHierarchyOutgoingCallsParams
) -> list[lsp.CallHierarchyOutgoingCall]:
    return [
        lsp.CallHierarchyOutgoingCall(item, [documents.range(each) for each in use.places])
        for use in _uses(documents, params.item, calls.used)
        for item in _items(documents, use.kind, use.declared)
    ]


def _uses(documents: Documents, item: lsp.CallHierarchyItem, ask: Any) -> list[calls.Use]:
    analysis = documents.analysis(item.uri)
    name = analysis.at(*documents.place(analysis, item.selection_range.start))
    declared = None if name is None else calls.can_call(analysis, name)
    return [] if name is None or declared is None else ask(documents.all(analysis), declared, name.kind)


# ---- the outline


def _symbols(documents: Documents, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    analysis = documents.analysis(params.text_document.uri)
    return [_symbol(documents, each) for each in outline.symbols(analysis)]


def _symbol(documents: Documents, symbol: outline.Symbol) -> lsp.DocumentSymbol:
    parts = [_symbol(documents, each) for each in symbol.parts]
    place, name = documents.range(symbol.span), documents.range(symbol.name_span)
    return lsp.DocumentSymbol(symbol.name, _SYMBOLS[symbol.kind], place, name, symbol.detail, children=parts)


def _workspace_symbols(
    documents: Documents, params: lsp.WorkspaceSymbolParams
) -> list[lsp.SymbolInformation]:
    """The declarations of all programs whose names have the letters that are asked for, in this order."""
    found: list[lsp.SymbolInformation] = []
    for analysis in documents.all():
        for symbol in outline.flat(outline.symbols(analysis)):
            place = (
                documents.location(symbol.name_span)
                if occurrences.has_letters(symbol.name, params.query)
                else None
            )
            if place is not None:
                file = Path(analysis.source.name).name
                kind = _SYMBOLS[symbol.kind]
                found.append(lsp.SymbolInformation(place, symbol.name, kind, container_name=file))
            if len(found) == _MOST:
                return found
    return found


def _folds(documents: Documents, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    analysis = documents.analysis(params.text_document.uri)
    return [lsp.FoldingRange(first - 1, last - 1) for first, last in outline.folds(analysis)]


def _hints(documents: Documents, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    analysis = documents.analysis(params.text_document.uri)
    first, last = params.range.start.line + 1, params.range.end.line + 1
    found = [
        lsp.InlayHint(documents.range(span).end, f": {text}", kind=lsp.InlayHintKind.Type)
        for span, text in outline.types_of_variables(analysis, first, last)
    ]
    if documents.plans:
        found += [
            lsp.InlayHint(documents.range(span).start, f"{number}:", padding_right=True)
            for span, number in profiles.join_orders(analysis, first, last)
        ]
    return found


def _lenses(documents: Documents, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    analysis = documents.analysis(params.text_document.uri)
    return [
        lsp.CodeLens(
            documents.range(each.span), lsp.Command(each.title, each.command, arguments=each.arguments)
        )
        for each in profiles.lenses(analysis)
    ]


async def _show_plans(documents: Documents) -> None:
    """Shows the order of joins in rules, or hides it again."""
    documents.plans = not documents.plans
    await documents.server.workspace_inlay_hint_refresh_async(None)


def _tokens(documents: Documents, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    name, data = _numbers(documents, params.text_document.uri)
    return lsp.SemanticTokens(list(data), result_id=name)


def _numbers(documents: Documents, uri: str) -> tuple[str, array[int]]:
    data = tokens(documents.analysis(uri), documents.units)
    before = documents.tokens.get(uri)
    name = str(1 if before is None else int(before[0]) + 1)
    documents.tokens[uri] = name, data
    return name, data


def _changed_tokens(
    documents: Documents, params: lsp.SemanticTokensDeltaParams
) -> lsp.SemanticTokens | lsp.SemanticTokensDelta:
    before = documents.tokens.get(params.text_document.uri)
    name, now = _numbers(documents, params.text_document.uri)
    if before is None or before[0] != params.previous_result_id:
        return lsp.SemanticTokens(list(now), result_id=name)
    start, count, data = edit(before[1], now)
    edits = [lsp.SemanticTokensEdit(start, count, list(data))] if count or data else []
    return lsp.SemanticTokensDelta(edits, name)


def _tokens_of_lines(documents: Documents, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
    analysis = documents.analysis(params.text_document.uri)
    shown = analysis.pieces_of(params.range.start.line + 1, params.range.end.line + 1)
    return lsp.SemanticTokens(list(tokens(analysis, documents.units, shown)))


# ---- writing


def _completion(documents: Documents, params: lsp.CompletionParams) -> lsp.CompletionList:
    analysis = documents.analysis(params.text_document.uri)
    found = completion.candidates(analysis, *documents.place(analysis, params.position))
    items = [
        lsp.CompletionItem(each.name, kind=_COMPLETIONS[each.kind], detail=each.detail)
        for each in found[:_MOST]
    ]
    return lsp.CompletionList(is_incomplete=len(found) > _MOST, items=items)


def _signature(documents: Documents, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
    analysis = documents.analysis(params.text_document.uri)
    call = completion.call_around(analysis, *documents.place(analysis, params.position))
    if call is None:
        return None
    parameters = [lsp.ParameterInformation(each) for each in call.parameters]
    text = lsp.MarkupContent(lsp.MarkupKind.Markdown, call.text) if call.text else None
    shown = lsp.SignatureInformation(call.name, text, parameters)
    return lsp.SignatureHelp([shown], 0, min(call.active, max(0, len(parameters) - 1)))


def _format(documents: Documents, params: Any) -> list[lsp.TextEdit] | None:
    """The text as `ddlog fmt` writes it; no change where it has errors."""
    document = documents.server.workspace.get_text_document(params.text_document.uri)
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
    lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: _prepare_calls,
    lsp.CALL_HIERARCHY_INCOMING_CALLS: _incoming,
    lsp.CALL_HIERARCHY_OUTGOING_CALLS: _outgoing,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _symbols,
    lsp.WORKSPACE_SYMBOL: _workspace_symbols,
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: _folds,
    lsp.TEXT_DOCUMENT_INLAY_HINT: _hints,
    lsp.TEXT_DOCUMENT_CODE_LENS: _lenses,
    lsp.TEXT_DOCUMENT_FORMATTING: _format,
    lsp.TEXT_DOCUMENT_RANGE_FORMATTING: _format,
}
_OF_TOKENS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: _tokens,
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: _changed_tokens,
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: _tokens_of_lines,
}
