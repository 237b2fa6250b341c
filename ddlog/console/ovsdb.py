"""`ddlog import-ovsdb`: a schema of OVSDB becomes a module of relations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, CannotBeCombined
from ..io.write import replacing
from ..ovsdb.choices import Choices
from ..ovsdb.configuration import Configuration, configuration_text, read_configuration
from ..ovsdb.module import module_text
from ..ovsdb.schema import read_schema
from ..sessions.program import read_source


def import_ovsdb(
    schemas: Sequence[str],
    outputs: Sequence[str],
    output_file: str | None,
    choices: Choices,
    read: str | None = None,
    write: str | None = None,
) -> None:
    """Writes the module of a schema to a file or standard output, and its options to the file `write`. Those
    of the file `read` come before those that are given. Raises DDlogError.

    Of `outputs`, names with a dot are files: no table has one."""
    files = [each for each in outputs if "." in each] + ([output_file] if output_file else [])
    if len(files) > 1:
        raise DDlogError([CannotBeCombined(f"--output-file {files[-1]}", f"-o {files[0]}", "give one file")])
    tables = tuple(each for each in outputs if "." not in each)
    chosen = replace(choices, outputs=tables)
    given = Configuration(schemas[0] if schemas else None, files[0] if files else None, chosen)
    if read is not None:
        given = read_configuration(read_source(Path(read))).and_then(given)
    if len(schemas) > 1 or given.schema is None:
        named = " ".join(schemas) or "nothing"
        raise DDlogError([BadOptionValue("ddlog import-ovsdb", named, "one file, SCHEMA.ovsschema")])
    text = module_text(read_schema(read_source(Path(given.schema))), given.choices)
    if write is not None:
        with replacing(Path(write)) as out:
            out.write(configuration_text(given).encode())
    if given.output is not None:
        with replacing(Path(given.output)) as out:
            out.write(text.encode())
    else:
        sys.stdout.write(text)
