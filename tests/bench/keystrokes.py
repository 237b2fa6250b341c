"""Processor time of the editor's server for each key that is typed into a large program.

python -m tests.bench.keystrokes [lines] [keys]

Each key is followed by the questions that an editor asks at once: names that can stand there, colors as a
change, and a hover; and, where the server tells errors before the program is checked as a whole, by those.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from .generated import generate

_PAUSE = 0.12  # seconds between two keys
_TYPED = ("not Local0_0(_, name1, _, _),\n    ", "var x9 = 1 + 2,\n    ", 'name1 != "a",\n    ')


def main() -> None:
    """Prints the median and the 95th percentile of the milliseconds that a key takes."""
    lines, keys = (*map(int, sys.argv[1:]), 30_000, 300)[:2] if len(sys.argv) > 2 else (30_000, 300)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_type(Path(folder), generate(lines), keys))


async def _type(folder: Path, text: str, keys: int) -> None:
    (folder / "main.dl").write_text(text)
    client, told = LanguageClient("bench", "1"), asyncio.Event()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda _: told.set())
    await client.start_io(sys.executable, "-m", "ddlog", "lsp")
    workspace = [lsp.WorkspaceFolder(folder.as_uri(), "w")]
    await client.initialize_async(
        lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), workspace_folders=workspace)
    )
    client.initialized(lsp.InitializedParams())
    uri = (folder / "main.dl").as_uri()
    document = lsp.TextDocumentIdentifier(uri)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "ddlog", 1, text)))
    tokens = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
    await told.wait()
    server = client._server.pid
    taken, waited, version = [], [], 1
    for place, key in _keys(text, keys):
        version += 1
        told.clear()
        before, start = _seconds(server), time.perf_counter()
        change = lsp.TextDocumentContentChangePartial(lsp.Range(place, place), key)
        identifier = lsp.VersionedTextDocumentIdentifier(version=version, uri=uri)
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))
        after = lsp.Position(place.line, place.character + 1)
        await client.text_document_completion_async(lsp.CompletionParams(document, after))
        delta = lsp.SemanticTokensDeltaParams(document, tokens.result_id)
        tokens = await client.text_document_semantic_tokens_full_delta_async(delta)
        await client.text_document_hover_async(lsp.HoverParams(document, place))
        answered = time.perf_counter() - start
        with suppress(TimeoutError):
            await asyncio.wait_for(told.wait(), _PAUSE)
        taken.append(_seconds(server) - before)
        waited.append(answered)
        await asyncio.sleep(max(0.0, _PAUSE - (time.perf_counter() - start)))
    for name, each in (("processor", taken), ("answers, by the clock", waited)):
        print(f"{name}: median {1000 * median(each):.0f} ms, 95 % {1000 * quantiles(each, n=20)[-1]:.0f} ms")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def _keys(text: str, keys: int) -> Iterator[tuple[lsp.Position, str]]:
    """Keys that write conditions into rules, first of their bodies, and the places of the keys."""
    chance, lines = random.Random(0), text.split("\n")
    starts = [at for at, line in enumerate(lines) if re.search(r":-$", line)]
    count, inserted = 0, []
    while True:
        at = chance.choice(starts)
        line = at + 1 + sum(each < at for each in inserted)
        inserted.append(at)
        column = 4
        for key in chance.choice(_TYPED):
            yield lsp.Position(line, column), key
            count += 1
            if count == keys:
                return
            line, column = (line + 1, 0) if key == "\n" else (line, column + 1)


def _seconds(process: int) -> float:
    """The processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
