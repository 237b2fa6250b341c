"""A client of the protocol and the server, as an editor has them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from ddlog.errors.source import Source
from ddlog.formatting.program import formatted

SHAPES = """\
// A shape that is drawn.
typedef Shape = Circle{r: u32} | Square

// Twice a number.
function twice(n: u32): u32 { var m = n; m + n }
"""
MAIN = """\
import shapes
input relation Edge(a: u32, s: Shape)
output relation P(x: u32)
P(w) :- Edge(q, Circle{.r = z}), var w = twice(z) + q, w < 10.
P(1) :- Edgee(_, _).
// 😀 two lines
// of comment
P(q) :- Edge(q, _), not P2(q, "😀", q).
relation P2(x: u32, y: string, z: u32)
P2(1, "", 2).
"""


class Editor:
    """A client with the documents main.dl, open and with a changed text, and shapes.dl on disk."""

    def __init__(self, folder: Path) -> None:
        self.runner = asyncio.Runner()
        self.client, self.folder, self.version = LanguageClient("test", "1"), folder, 1
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        (folder / "shapes.dl").write_text(SHAPES)
        (folder / "main.dl").write_text("not saved yet")
        self.uri, self.text = (folder / "main.dl").as_uri(), MAIN
        self.document = lsp.TextDocumentIdentifier(self.uri)
        self.run(self._start)

    async def _start(self) -> None:
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: self.told.put_nowait(params)
        )
        await self.client.start_io(sys.executable, "-m", "ddlog", "lsp")
        workspace = [lsp.WorkspaceFolder(self.folder.as_uri(), "w")]
        await self.client.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), workspace_folders=workspace)
        )
        self.client.initialized(lsp.InitializedParams())
        item = lsp.TextDocumentItem(self.uri, "ddlog", 1, self.text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def run(self, act: Callable[[], Awaitable[Any]]) -> Any:
        async def limited() -> Any:
            return await asyncio.wait_for(act(), 120)

        return self.runner.run(limited())

    def change(self, text: str) -> lsp.PublishDiagnosticsParams:
        """Changes the text, and returns the errors of it."""
        self.text, self.version = text, self.version + 1

        async def change() -> lsp.PublishDiagnosticsParams:
            self.client.text_document_did_change(
                lsp.DidChangeTextDocumentParams(
                    lsp.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri),
                    [lsp.TextDocumentContentChangeWholeDocument(text)],
                )
            )
            while (told := await self.told.get()).version != self.version:
                pass
            return told

        found: lsp.PublishDiagnosticsParams = self.run(change)
        return found

    def at(self, words: str, offset: int = 0) -> lsp.Position:
        """The position of words in the text, in units of UTF-16."""
        at = self.text.index(words) + offset
        line = self.text.count("\n", 0, at)
        before = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return lsp.Position(line, len(before.encode("utf-16-le")) // 2)

    def close(self) -> None:
        async def end() -> None:
            await self.client.shutdown_async(None)
            self.client.exit(None)
            await self.client.stop()

        self.run(end)
        self.runner.close()


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    made = Editor(tmp_path_factory.mktemp("editor"))
    yield made
    made.close()


@pytest.fixture
def right(editor: Editor) -> Editor:
    """The editor with a text without errors."""
    text = MAIN.replace("Edgee", "Edge")
    if editor.text != text:
        assert not editor.change(text).diagnostics
    return editor


def ask(editor: Editor, name: str, kind: Any, *rest: Any) -> Any:
    method = getattr(editor.client, f"text_document_{name}_async")
    return editor.run(lambda: method(kind(*rest)))


def test_errors_come_with_codes_and_corrections(editor: Editor) -> None:
    [error] = editor.change(MAIN + "\n").diagnostics
    assert (error.code, error.range.start) == ("DL0206", editor.at("Edgee"))
    assert "did you mean `Edge`?" in error.message
    context = lsp.CodeActionContext([error])
    [fix] = ask(editor, "code_action", lsp.CodeActionParams, editor.document, error.range, context)
    [edit] = fix.edit.changes[editor.uri]
    assert (edit.new_text, edit.range) == ("Edge", error.range)


def test_hover_tells_types_comments_and_rules(right: Editor) -> None:
    def hover(words: str, offset: int = 0) -> str:
        found = ask(right, "hover", lsp.HoverParams, right.document, right.at(words, offset))
        return str(found.contents.value)

    assert hover("var w", 4) == "```ddlog\nw: bit<32>\n```"
    assert "function twice(n: u32): u32\n```\n\nTwice a number." in hover("twice")
    assert "output relation P" in hover("P(w)") and "P(1) :- Edge(_, _)." in hover("P(w)")


def test_definitions_are_found_in_other_files(right: Editor) -> None:
    found = ask(right, "definition", lsp.DefinitionParams, right.document, right.at("Circle"))
    assert found.uri.endswith("shapes.dl") and found.range.start == lsp.Position(1, 16)
    own = ask(right, "definition", lsp.DefinitionParams, right.document, right.at("w < 10"))
    assert own.range.start == right.at("var w", 4)


def test_references_and_highlights_count_in_the_units_of_the_client(right: Editor) -> None:
    context = lsp.ReferenceContext(True)
    found = ask(right, "references", lsp.ReferenceParams, context, right.document, right.at("P2(x"))
    assert [each.range.start for each in found] == [right.at(each) for each in ("P2(q", "P2(x", "P2(1")]
    after = right.at('"😀", q', 5)
    same = ask(right, "document_highlight", lsp.DocumentHighlightParams, right.document, after)
    assert after in [each.range.start for each in same] and len(same) == 4


def test_names_are_renamed_across_files_if_the_program_stays_right(right: Editor) -> None:
    def rename(words: str, name: str) -> Any:
        return ask(right, "rename", lsp.RenameParams, right.document, right.at(words), name)

    changes = rename("twice", "doubled").changes
    assert {Path(uri).name: len(edits) for uri, edits in changes.items()} == {"main.dl": 1, "shapes.dl": 1}
    for words, name, reason in (
        ("P(w)", "Edge", "another meaning"),
        ("w < 10", "q", "another meaning"),
        ("P(w)", "lower", "cannot be"),
        ("import", "x", ""),
    ):
        if words == "import":
            assert rename(words, name) is None
        else:
            with pytest.raises(Exception, match=reason):
                rename(words, name)


def test_completion_knows_columns_variables_and_names(right: Editor) -> None:
    def labels(words: str, offset: int) -> set[str]:
        place = right.at(words, offset)
        return {each.label for each in ask(right, "completion", lsp.CompletionParams, right.document, place)}

    assert labels("{.r", 2) == {"r"}
    assert {"w", "q", "z", "Edge", "Circle", "twice", "match"} <= labels("w < 10", 0)


def test_signatures_are_shown_with_the_parameter_at_the_place(right: Editor) -> None:
    place = right.at("Circle{")
    found = ask(right, "signature_help", lsp.SignatureHelpParams, right.document, place)
    assert (found.signatures[0].label, found.active_parameter) == ("Edge(a: u32, s: Shape)", 1)


def test_the_outline_hints_folds_and_tokens(right: Editor) -> None:
    symbols = ask(right, "document_symbol", lsp.DocumentSymbolParams, right.document)
    assert [each.name for each in symbols] == ["Edge", "P", "P2"]
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(20, 0))
    hints = ask(right, "inlay_hint", lsp.InlayHintParams, right.document, whole)
    assert [(each.label, each.position) for each in hints] == [(": bit<32>", right.at("w = twice", 1))]
    folds = ask(right, "folding_range", lsp.FoldingRangeParams, right.document)
    assert [(each.start_line, each.end_line) for each in folds] == [(5, 6)]
    tokens = ask(right, "semantic_tokens_full", lsp.SemanticTokensParams, right.document)
    assert len(tokens.data) % 5 == 0 and list(tokens.data[:3]) == [0, 7, 6]


def test_formatting_is_that_of_the_command(right: Editor) -> None:
    options = lsp.FormattingOptions(4, True)
    [edit] = ask(right, "formatting", lsp.DocumentFormattingParams, right.document, options)
    assert edit.new_text == formatted(Source("main.dl", right.text))
