"""A client of the protocol and the server, as an editor has them."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from ddlog.check.program import check_program
from ddlog.console.cli import main
from ddlog.errors.diagnostics import render
from ddlog.errors.explanations import explanations
from ddlog.errors.source import Source
from ddlog.formatting.program import formatted
from ddlog.lsp.analysis import Analysis
from ddlog.lsp.completion import candidates
from ddlog.lsp.fixes import fixes
from ddlog.lsp.profiles import join_orders, lenses

from ..bench.generated import generate

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
        (folder / "latin.dl").write_bytes(b"// \xe9")
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

    def open(self, name: str, language: str, text: str) -> lsp.PublishDiagnosticsParams:
        """Opens another document of the folder, and returns the errors of it."""
        uri = (self.folder / name).as_uri()

        async def open() -> lsp.PublishDiagnosticsParams:
            item = lsp.TextDocumentItem(uri, language, 1, text)
            self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
            while (told := await self.told.get()).uri != uri:
                pass
            return told

        found: lsp.PublishDiagnosticsParams = self.run(open)
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
            assert await self.client._server.wait() == 0
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


FIXED = {
    "DL0121", "DL0124", "DL0201", "DL0202", "DL0203", "DL0205", "DL0206", "DL0207", "DL0210", "DL0211",
    "DL0213", "DL0301", "DL0303", "DL0408", "DL0902", "DL1001",
}  # fmt: skip


def test_the_corrections_make_the_wrong_examples_right() -> None:
    found = set()
    for code, each in explanations().items():
        if each.example is None or each.example.language:
            continue
        text = each.example.wrong
        for error in check_program(Source("example.dl", text))[1]:
            for fix in fixes(error):
                lines, span = text.split("\n"), fix.span
                before = [*lines[: span.line - 1], lines[span.line - 1][: span.column - 1]]
                after = [lines[span.end_line - 1][span.end_column - 1 :], *lines[span.end_line :]]
                fixed = "\n".join(before) + fix.text + "\n".join(after)
                left = check_program(Source("example.dl", fixed))[1]
                if code == "DL0414":
                    assert "P{.x = 1, .y = y}" in fixed
                else:
                    assert not left, render(left)
                    found.add(code)
    assert found == FIXED


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
        found = ask(right, "completion", lsp.CompletionParams, right.document, place)
        return {each.label for each in found.items}

    assert labels("{.r", 2) == {"r"}
    assert {"w", "q", "z", "Edge", "Circle", "twice", "match"} <= labels("w < 10", 0)


def test_completion_knows_what_a_receiver_has_while_its_rule_cannot_be_read() -> None:
    def first(text: str, number: int) -> list[str]:
        analysis = Analysis(Source("p.dl", SHAPES + text))
        lines = (SHAPES + text).split("\n")
        found = candidates(analysis, len(lines), len(lines[-1]) + 1)
        return [each.name for each in found][:number]

    shape = "typedef Point = Point{x: u32, y: u32}\ninput relation At(name: string, p: Point)\n"
    assert first(shape + "relation R(x: u32)\nR(x) :- At(n, q), var x = q.", 2) == ["x", "y"]
    texts = first(shape + "R(x) :- At(n, q), var x = n.", 80)
    assert "string_len" in texts and "twice" not in texts
    assert "twice" in first("input relation N(n: u32)\nR(x) :- N(n), var x = n.", 80)
    assert first(shape + "R(x) :- At(", 2) == ["name", "p"]
    assert first(shape + "R(x) :- At(n, ", 2) == ["p", "name"]


JOINED = """\
relation Edge(from: u32, to: u32)
Edge(1, 2). Edge(2, 3). Edge(3, 4).
output relation Path(from: u32, to: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""


def test_lenses_and_the_order_of_joins_come_of_a_profile(tmp_path: Path) -> None:
    program, profile = tmp_path / "paths.dl", tmp_path / "paths.profile.json"
    program.write_text(JOINED)

    def titles() -> list[str]:
        return [each.title for each in lenses(Analysis(Source(str(program), JOINED)))]

    assert titles() == ["run", "explain a row", "explain a row"]
    assert main(["run", str(program), "--profile", str(profile)]) == 0
    shown = [re.sub(", .* ms", "", each) for each in titles()]
    assert shown == ["run", "order of joins", "3 rows", "explain a row", "6 rows", "explain a row"]
    moved = Analysis(Source(str(program), "// One more line.\n" + JOINED))
    assert [(span.text(), number) for span, number in join_orders(moved, 1, 9)] == [
        ("Path(x, y)", 1),
        ("Edge(y, z)", 2),
    ]
    assert not list(join_orders(moved, 1, 5))
    profile.write_text("{}")
    os.utime(profile, (1, 1))
    assert titles() == ["run", "explain a row", "explain a row"]


def test_the_server_has_lenses_and_shows_the_order_of_joins_on_demand(right: Editor) -> None:
    found = ask(right, "code_lens", lsp.CodeLensParams, right.document)
    [run] = [each for each in found if each.command.command == "ddlog.run"]
    assert list(run.command.arguments) == [str(right.folder / "main.dl")]
    assert run.range.start == right.at("Edge(a")
    refreshed: list[None] = []
    right.client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: refreshed.append(None))
    command = lsp.ExecuteCommandParams("ddlog.plans", [])
    right.run(lambda: right.client.workspace_execute_command_async(command))
    assert refreshed == [None]


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


def test_calls_are_rules_that_read_relations(right: Editor) -> None:
    [item] = ask(
        right, "prepare_call_hierarchy", lsp.CallHierarchyPrepareParams, right.document, right.at("Edge(")
    )
    client = right.client
    users = right.run(
        lambda: client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(item))
    )
    assert [each.from_.name for each in users] == ["P"]
    places = [right.at("Edge(q, C"), right.at("Edge(_, _)"), right.at("Edge(q, _)")]
    assert [each.start for each in users[0].from_ranges] == places
    used = right.run(
        lambda: client.call_hierarchy_outgoing_calls_async(
            lsp.CallHierarchyOutgoingCallsParams(users[0].from_)
        )
    )
    assert {each.to.name for each in used} == {"Edge", "twice", "P2"}
    assert [each.to.uri for each in used if each.to.name == "twice"] == [
        (right.folder / "shapes.dl").as_uri()
    ]


def test_symbols_of_the_workspace_have_the_letters_that_are_asked_for(right: Editor) -> None:
    found = right.run(lambda: right.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("ce")))
    assert {(each.name, each.container_name) for each in found} == {
        ("Circle", "shapes.dl"),
        ("twice", "shapes.dl"),
    }


def test_tokens_change_by_edits(right: Editor) -> None:
    before = ask(right, "semantic_tokens_full", lsp.SemanticTokensParams, right.document)
    assert not right.change(right.text.replace("P2(1,", "// one\nP2(1,")).diagnostics
    told = ask(
        right, "semantic_tokens_full_delta", lsp.SemanticTokensDeltaParams, right.document, before.result_id
    )
    [edit] = told.edits
    data = [*before.data[: edit.start], *edit.data, *before.data[edit.start + edit.delete_count :]]
    now = ask(right, "semantic_tokens_full", lsp.SemanticTokensParams, right.document)
    assert list(now.data) == data and len(edit.data) < 5
    lines = lsp.Range(right.at("import"), right.at("import"))
    part = ask(right, "semantic_tokens_range", lsp.SemanticTokensRangeParams, right.document, lines)
    assert list(part.data[:3]) == [0, 7, 6]


def test_command_files_and_modules_of_sql_have_errors(editor: Editor) -> None:
    (editor.folder / "paths.dl").write_text(
        "input relation Edge(a: u32)\noutput relation P(a: u32)\nP(a) :- Edge(a)."
    )
    [first, second] = editor.open(
        "paths.dat", "ddlog-commands", 'start;\ninsert Edge("a");\ncomit;\n'
    ).diagnostics
    assert (first.range.start, second.code) == (lsp.Position(1, 12), "DL2403")
    [error] = editor.open(
        "views.sql", "sql", "CREATE TABLE t (a INTEGER);\nCREATE VIEW v AS SELECT b FROM t;"
    ).diagnostics
    assert (error.code, error.range.start.line) == ("DL2603", 1)


def test_a_change_of_a_module_is_told_in_the_programs_that_import_it(editor: Editor) -> None:
    editor.change(MAIN.replace("Edgee", "Edge"))
    ask(editor, "hover", lsp.HoverParams, editor.document, editor.at("twice"))
    editor.open("shapes.dl", "ddlog", SHAPES.replace("twice", "double"))

    async def told() -> lsp.PublishDiagnosticsParams:
        while (found := await editor.told.get()).uri != editor.uri:
            pass
        return found

    [error] = editor.run(told).diagnostics
    assert "Unknown function `twice`" in error.message


def test_no_answer_waits_for_a_check_and_a_change_ends_it(editor: Editor) -> None:
    uri, text = (editor.folder / "large.dl").as_uri(), generate(2000)
    document, line = lsp.TextDocumentIdentifier(uri), text[: text.index("\nrelation ")].count("\n") + 1

    async def act() -> tuple[list[str], lsp.PublishDiagnosticsParams]:
        item = lsp.TextDocumentItem(uri, "ddlog", 1, text)
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        place = lsp.HoverParams(document, lsp.Position(line, 10))
        assert await editor.client.text_document_hover_async(place) is not None
        await asyncio.sleep(0.4)  # now it is checked
        assert await editor.client.text_document_hover_async(place) is not None
        before = [(await editor.told.get()).uri for _ in range(editor.told.qsize())]
        change = lsp.TextDocumentContentChangePartial(
            lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)), "x\n"
        )
        version = lsp.VersionedTextDocumentIdentifier(version=2, uri=uri)
        editor.client.text_document_did_change(lsp.DidChangeTextDocumentParams(version, [change]))
        while (told := await editor.told.get()).uri != uri:
            pass
        return before, told

    before, told = editor.run(act)
    assert uri not in before and told.version == 2
    assert told.diagnostics[0].range.start.line == 0 and told.diagnostics[0].code == "DL0119"
