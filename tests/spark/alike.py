"""The same program on both runtimes: what they print, and what each commit changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any

import pytest
from hypothesis import Phase, settings

import ddlog
from ddlog.commands.commands import Commit, Rollback, Start
from ddlog.commands.interpreter import Command, Interpreter
from ddlog.commands.updatefiles import update_commands
from ddlog.engine.maintenance import Mode
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from ..programs.test_corpus import CORPUS
from ..trying import longer, trying


def sampled(examples: int) -> settings:
    """So many random programs, which are not shrunk: that takes hours."""
    return trying(examples, phases=[Phase.generate], database=None)


def printed(program: Program, session: Session, commands: Iterable[Command]) -> list[str]:
    """All that commands print, and what their commits change."""
    lines: list[str] = []
    interpreter = Interpreter(
        session, lines.append, lambda changes, _: lines.append(str(changes)), program.names("output")
    )
    interpreter.run(commands)
    interpreter.flush()
    return lines


def update_file(program: Program, session: Session, path: object) -> Iterable[Command]:
    """The commands of a file of updates."""
    return update_commands(str(path), program.relations, session.typedefs, program.indexes)


def merged(commands: Iterable[Command]) -> Iterator[Command]:
    """The commands with several transactions in one, unless they are rolled back, as an epoch takes seconds:
    three transactions in the long form, else so many that about three are left."""
    parts: list[list[Command]] = [[]]
    for command in commands:
        parts[-1].append(command)
        if isinstance(command.action, Commit | Rollback):
            parts.append([])
    number = longer(max(3, -(-sum(map(_is_transaction, parts)) // 3)), 3)
    for whole, some in groupby(parts, _is_transaction):
        while one := list(islice(some, number)):
            if whole:
                one = [[one[0][0], *(each for part in one for each in part[1:-1]), one[-1][-1]]]
            yield from (each for part in one for each in part)


def _is_transaction(part: list[Command]) -> bool:
    """Whether commands begin a transaction and commit it."""
    return bool(part) and isinstance(part[0].action, Start) and isinstance(part[-1].action, Commit)


def corpus_alike(
    name: str,
    options: SparkOptions,
    spark: Any,
    change: Callable[[Iterable[Command]], Iterable[Command]] = iter,
) -> None:
    """Runs a program of the corpus, its commands changed, on both runtimes and compares what they print."""
    program = ddlog.compile(CORPUS / f"{name}.dl")
    with (
        program.session() as here,
        program.session(spark=spark, spark_options=options, maintain="always") as there,
    ):
        wanted, got = (
            printed(program, session, change(update_file(program, session, CORPUS / f"{name}.dat")))
            for session in (here, there)
        )
        assert got == wanted


def follow(
    text: str | Program,
    stream: list[list[tuple[str, Any, int]]],
    options: SparkOptions,
    spark: Any,
    maintain: Mode = "always",
) -> None:
    """Commits the transactions on both runtimes and compares every change and what is there at the end."""
    program = ddlog.compile(text) if isinstance(text, str) else text
    with (
        program.session() as here,
        program.session(spark=spark, spark_options=options, maintain=maintain) as there,
    ):
        for transaction in stream:
            for relation, row, sign in transaction:
                for session in (here, there):
                    (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            try:
                wanted = here.commit()
            except ddlog.DDlogError as unsettled:
                with pytest.raises(ddlog.DDlogError) as raised:
                    there.commit()
                assert str(raised.value) == str(unsettled)
                here.rollback()
                there.rollback()
                continue
            got = there.commit()
            assert {name: got.rows(name) for name in got} == {name: wanted.rows(name) for name in wanted}
        for relation in program.relations:
            assert list(there[relation].weighted()) == list(here[relation].weighted()), relation
            assert there.size(relation) == here.size(relation)
