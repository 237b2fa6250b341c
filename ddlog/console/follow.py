"""`ddlog run --follow DIR`: the files that appear in DIR/REL/ change the relation REL, batch by batch.

Spark finds the new files, and hands them over in batches, each of which is one epoch. What a file holds is
decided here: facts come; changes come and go, in the order of the rows, and of the files by time and name.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..core import Relation
from ..errors import facts
from ..errors import stream as errors
from ..errors.diagnostics import DDlogError
from ..errors.nearest import nearest
from ..errors.usage import BadOptions
from ..io.files import split_name
from ..sessions.gaps import Ability, HostKind, refused
from ..sessions.results import Changes
from ..sessions.session import Session
from ..values.rows import Row
from .changesinks import LineSink, TextSink
from .epochfiles import EpochFiles
from .followedfiles import OP, changes_in, facts_in, is_columnar, spark_reads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..spark.streaming.epochs import Epochs, Receiver
    from ..spark.streaming.inputchange import InputChange

Note = Callable[[str], None]

_STREAM = "follow"
_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_AGE = "36500d"  # Spark passes over files that are a week older than the newest, if it is not told otherwise
_POLL = 0.3
_LARGE = 16 << 20  # bytes from which on Spark reads a file of facts


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """What to follow, and where the changes of which relations go. `input` is what the session began with."""

    directory: str
    relations: tuple[str, ...]
    checkpoint: str | None = None
    output: str | None = None
    format: str | None = None
    input: tuple[str, ...] = ()
    once: bool = False
    every: str | None = None
    conf: Sequence[tuple[str, str]] = ()


def check_follow(options: FollowOptions, inputs: Sequence[str]) -> None:
    """Sees what can be seen before time is spent on facts. Raises DDlogError."""
    folder = Path(options.directory)
    if not folder.exists():
        raise DDlogError([facts.NoSuchDirectory(str(folder))])
    if not folder.is_dir():
        raise DDlogError([facts.NotADirectory(str(folder))])
    if options.output is not None and re.match(r"table:|[A-Za-z][\w+.-]+:/", options.output):
        raise DDlogError([BadOptions("--follow writes its changes to a local directory")])
    if options.output is not None and options.format not in (None, "jsonl"):
        raise DDlogError(
            [BadOptions("--follow writes changes to --output as JSON lines (--format jsonl) only")]
        )
    if options.format == "parquet":
        raise DDlogError([BadOptions("--follow prints changes as text: --format parquet is none")])
    for path in sorted(each for each in folder.iterdir() if each.is_dir()):
        if path.name[:1].isupper() and path.name not in inputs:
            near = nearest(path.name, inputs)
            raise DDlogError([facts.MisnamedFile(path=str(path), relation=path.name, near=near)])


def follow(session: Session, first: Changes, options: FollowOptions, note: Note) -> None:
    """Follows a directory until Ctrl-C, an error, or, with `once`, until its files are done. `first` are the
    changes with which the session began. A session that is not on Spark keeps its state in this process, and
    Spark only finds the files. Raises DDlogError."""
    from ..spark.sessions.connect import is_connect, open_session
    from ..spark.streaming.identity import facts_digest
    from ..spark.streaming.stream import Stream, epochs_of

    spark = session.spark or open_session(conf=dict(options.conf))
    if is_connect(spark):
        raise refused(HostKind.CONNECT, Ability.STREAM)
    epochs = epochs_of(session, spark, options.checkpoint)
    try:
        receiver = _receiver(session, epochs, options)
        if epochs.other_program:
            note("the program is not the one that began this checkpoint: its state was computed anew")
        if not epochs.begin(first, facts_digest(options.input), receiver):
            note(f"continuing after epoch {_last_epoch(epochs)} of {options.checkpoint}")
        stream = Stream(epochs, _STREAM, receiver)
        files = spark.readStream.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
        files = files.option("maxFileAge", _AGE)
        source = files.load(_source_url(options.directory)).select("path", "modificationTime", "length")
        batches = _Batches(session, epochs, Path(options.directory).resolve(), note)
        stream.start(source, batches.changes, options.once, options.every)
        with _interrupts() as pressed:
            while not stream.wait(_POLL):
                if pressed():
                    note("stopping after this batch; Ctrl-C again gives it up")
                    stream.stop()
                    note(f"stopped: {_counted(stream.applied)} applied")
                    break
    finally:
        epochs.close()


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Notes the first Ctrl-C, and gives what tells of it; Spark's own handler, which takes all jobs down in
    the midst of whatever is asked of it, gets the second."""
    pressed = False
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed and callable(before):
            before(number, frame)
        pressed = True

    signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _counted(batches: int) -> str:
    return f"{batches} batch{'' if batches == 1 else 'es'}"


def _source_url(directory: str) -> str:
    from ..spark.streaming.changelog import file_url

    return file_url(Path(directory).resolve(), glob=True)


def _receiver(session: Session, epochs: Epochs, options: FollowOptions) -> Receiver:
    """Where changes go: to standard output as they come, or to files."""
    from ..spark.streaming.epochs import Receiver

    if options.output is not None:
        files = EpochFiles(session, options.relations, Path(options.output))
        files.continue_after(_last_epoch(epochs))
        return Receiver(
            lambda changes, batch: files.write(changes, batch + 1), lambda batch: files.publish(batch + 1)
        )
    if options.format is not None:
        lines = LineSink(session, options.relations, options.format)
        return Receiver(lambda changes, batch: lines(changes, True))
    text = TextSink(options.relations)
    return Receiver(lambda changes, batch: text(changes, True))


def _last_epoch(epochs: Epochs) -> int:
    """The last recorded epoch, as the output counts them: 0 is before all batches. -1 if there is none."""
    checkpoint = epochs.checkpoint
    if checkpoint is None or checkpoint.last is None:
        return -1
    position = checkpoint.position(_STREAM)
    return position.batch + 1 if position is not None else 0


class _Batches:
    """Makes changes of the files that Spark has found."""

    def __init__(self, session: Session, epochs: Epochs, home: Path, note: Note) -> None:
        self._session, self._epochs, self._home, self._note = session, epochs, home, note
        self._inputs = session.program.names("input")
        self._passed: set[tuple[str, str]] = set()

    @contextmanager
    def changes(self, frame: DataFrame) -> Iterator[list[InputChange]]:
        """The changes of one batch. Raises DDlogError."""
        from ..spark.streaming.inputchange import RowsChange

        found = sorted((row.modificationTime, _local(row.path), row.length) for row in frame.collect())
        changes: list[InputChange] = []
        rows: dict[str, list[tuple[Row, int]]] = {}

        def gathered() -> Iterator[InputChange]:
            yield from (RowsChange(relation, each) for relation, each in rows.items() if each)
            rows.clear()

        for _, name, length in found:
            path = Path(name)
            relation = self._relation(path)
            if relation is None:
                continue
            program = self._session.program
            if length >= _LARGE and is_columnar(path):
                changes += [*gathered(), self._columnar(relation, path)]
                continue
            signed = changes_in(path, relation, program.relations, self._session.typedefs)
            if signed is not None:
                for changed, row, op in signed:
                    self._check_input(path, changed)
                    rows.setdefault(changed, []).append((row, op))
            elif length >= _LARGE and spark_reads(path):
                changes += [*gathered(), self._large(relation, path)]
            else:
                come = facts_in(path, relation, self._session.typedefs)
                rows.setdefault(relation.name, []).extend((row, 1) for row in come)
        yield [*changes, *gathered()]

    def _relation(self, path: Path) -> Relation | None:
        """The relation that a file is for; None if it is for none, which is noted once for each folder."""
        inside = path.relative_to(self._home).parts if path.is_relative_to(self._home) else ()
        folder = inside[0] if len(inside) > 1 else path.name
        if len(inside) > 1 and folder in self._inputs and split_name(path) is not None:
            return self._session.program.relations[folder]
        reason = f"{folder} is no input relation" if len(inside) > 1 else "it is in no relation's folder"
        if folder in self._inputs:
            reason = "its ending is no format's"
        if (folder, reason) not in self._passed:
            self._passed.add((folder, reason))
            self._note(f"{path} is not followed: {reason}")
        return None

    def _check_input(self, path: Path, relation: str) -> None:
        if relation not in self._inputs:
            raise DDlogError([errors.NotOfThisFolder(str(path), relation)])

    def _large(self, relation: Relation, path: Path) -> InputChange:
        """A change of a file of facts that Spark reads itself."""
        from ..spark.files.listing import SparkFile
        from ..spark.files.read import Reader
        from ..spark.streaming.changelog import as_change, file_url
        from ..spark.streaming.inputchange import FrameChange

        named = split_name(path)
        assert named is not None
        columns = self._epochs.columns(relation.name)
        reader = Reader(self._epochs.spark, columns.codec, self._session.typedefs)
        rows = reader.files(relation, [SparkFile(file_url(path, glob=True), named[1], path)])
        return FrameChange(relation.name, as_change(rows, columns, 1), (1,))

    def _columnar(self, relation: Relation, path: Path) -> InputChange:
        """A change of a Parquet file that Spark reads itself, which may say of each row whether it goes."""
        from ..spark.streaming.changelog import file_url
        from ..spark.streaming.inputchange import typed_change

        rows = self._epochs.spark.read.parquet(file_url(path, glob=True))
        columns = self._epochs.columns(relation.name)
        return typed_change(self._epochs.spark, rows, columns, self._session.typedefs, OP, str(path))


def _local(url: str) -> str:
    """The path of a file that Spark lists: as it is, without escapes."""
    return re.sub(r"\Afile:/+", "/", url)
