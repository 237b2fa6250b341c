"""Facts name no files: only commands, which a person writes, read the contents of one as a text."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddlog
from ddlog.errors.diagnostics import DDlogError

PROGRAM = ddlog.compile(
    "input relation Note(id: u8, texts: Vec<string>)\ninput relation Maybe(text: Option<string>)"
)


@pytest.mark.parametrize(("relation", "row"), [("Note", '1,"[%""{}""]"'), ("Maybe", '"Some{{%""{}""}}"')])
def test_a_cell_cannot_name_a_file(relation: str, row: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the password")
    (tmp_path / f"{relation}.csv").write_text(row.format(secret) + "\n")
    with PROGRAM.session() as session:
        try:
            session.load(tmp_path)
        except DDlogError as error:
            assert "only commands read files" in str(error)
        assert "the password" not in str(list(session[relation].tuples()))
