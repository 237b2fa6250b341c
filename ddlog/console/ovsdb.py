"""`ddlog import-ovsdb`: a schema of OVSDB becomes a module of relations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, CannotBeCombined
from ..ovsdb.choices import Choices
from ..ovsdb.module import module_text
from ..ovsdb.schema import read_schema
from ..sessions.program import read_source


def import_ovsdb(
    schemas: Sequence[str], outputs: Sequence[str], output_file: str | None, choices: Choices
) -> None:
    """Writes the module of a schema to a file or standard output. Raises DDlogError.

    Of `outputs`, names with a dot are files: no table has one."""
    if len(schemas) != 1:
        given = " ".join(schemas) or "nothing"
        raise DDlogError([BadOptionValue("ddlog import-ovsdb", given, "one file, SCHEMA.ovsschema")])
    files = [each for each in outputs if "." in each] + ([output_file] if output_file else [])
    if len(files) > 1:
        raise DDlogError([CannotBeCombined(f"--output-file {files[-1]}", f"-o {files[0]}", "give one file")])
    tables = tuple(each for each in outputs if "." not in each)
    text = module_text(read_schema(read_source(Path(schemas[0]))), replace(choices, outputs=tables))
    if files:
        Path(files[0]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
