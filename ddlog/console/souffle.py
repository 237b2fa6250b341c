"""`ddlog import-souffle`: a program of Soufflé is translated, and with --run it runs as in Soufflé."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.options import OptionNeeded, OutputIsProgram
from ..io.write import replacing
from ..sessions.program import compile_source, read_source
from ..souffle.preprocess import PreprocessorSettings
from ..souffle.translate import translate
from ..syntax.stackroom import deep_recursion
from .notes import noting
from .progress import ProgressLine
from .soufflefiles import SouffleFiles


@dataclass(frozen=True, slots=True)
class SouffleOptions:
    """The options of `ddlog import-souffle`."""

    program: Path
    output: Path | None = None
    word: int | None = None
    preprocessor: PreprocessorSettings = field(default_factory=PreprocessorSettings)
    run: bool = False
    fact_dir: str | None = None
    output_dir: str | None = None
    jobs: str | None = None
    no_warn: bool = False
    max_iterations: int | None = None
    dialect: str = "souffle"


def import_souffle(options: SouffleOptions) -> None:
    """Translates a program to a file or standard output, or runs it. Raises DDlogError."""
    _check(options)
    note = noting(options.no_warn)
    source = read_source(options.program)
    with deep_recursion():
        word = options.word or (64 if options.dialect == "flowlog" else 32)
        translation = translate(source, word, options.preprocessor, options.dialect)
    for remark in translation.caveats if options.run else translation.remarks:
        note(remark)
    if options.output is not None:
        with replacing(options.output) as out:
            out.write(translation.text.encode())
    elif not options.run:
        sys.stdout.write(translation.text)
    if not options.run:
        return
    program = compile_source(source, tree=translation.module)
    files = SouffleFiles(program, translation, options.fact_dir or ".", options.output_dir or ".", note)
    sources = files.sources(may_be_absent=options.no_warn)
    files.check_targets()
    progress = ProgressLine(options.no_warn)
    with (
        deep_recursion(),  # for the values of facts
        progress,
        program.session(
            relations=files.results, max_iterations=options.max_iterations, engine="in-process",
            progress=progress,
        ) as session,
    ):  # fmt: skip
        session.load_columns(files.facts(sources))
        files.write(session)


def _check(options: SouffleOptions) -> None:
    output = options.output
    if output is not None and os.path.realpath(output) == os.path.realpath(options.program):
        raise DDlogError([OutputIsProgram(str(output))])
    running = {
        "-F": options.fact_dir,
        "-D": options.output_dir,
        "-j": options.jobs,
        "--max-iterations": options.max_iterations,
    }
    reason = "a program that is only translated reads and writes no facts"
    needed = [OptionNeeded(option, "--run", reason) for option, value in running.items() if value is not None]
    if needed and not options.run:
        raise DDlogError(needed)
