"""`ddlog run --follow DIR`: the files that appear in DIR/REL/ change the relation REL, batch by batch.

Spark finds the new files and passes them on in batches. Each batch is one epoch.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..errors import facts
from ..errors.diagnostics import DDlogError
from ..errors.nearest import nearest
from ..sessions.results import Changes
from ..sessions.session import Session
from .batches import Batches
from .epochfiles import EpochFiles
from .notes import Note
from .options import RunOptions
from .pauses import Pauses
from .sinks import LineSink, TextSink

if TYPE_CHECKING:
    from ..spark.streaming.epochs import Receiver, StreamEpochs

_STREAM = "follow"
_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_AGE = "36500d"  # by default Spark ignores files that are a week older than the newest
_POLL = 0.3


def check_follow(directory: str, inputs: Sequence[str]) -> None:
    """Looks at the followed directory before time is spent on facts. Raises DDlogError."""
    folder = Path(directory)
    if not folder.exists():
        raise DDlogError([facts.NoSuchDirectory(directory)])
    if not folder.is_dir():
        raise DDlogError([facts.NotADirectory(directory)])
    for path in sorted(each for each in folder.iterdir() if each.is_dir()):
        if path.name[:1].isupper() and path.name not in inputs:
            near = nearest(path.name, inputs)
            raise DDlogError([facts.MisnamedFile(path=str(path), relation=path.name, near=near)])


def follow(session: Session, first: Changes, options: RunOptions, names: Sequence[str], note: Note) -> None:
    """Follows a directory until Ctrl-C, an error, or, with `once`, the end of its present files.

    Gives out the changes of the relations `names`; `first` are the changes with which the session began. A
    session that is not on Spark keeps its state in this process, and Spark only finds the files. Raises
    DDlogError.
    """
    from ..spark.sessions.connect import open_session
    from ..spark.streaming.identity import facts_digest
    from ..spark.streaming.stream import Stream, epochs_of

    assert options.follow is not None
    spark = session.spark or open_session(conf=dict(options.engine.conf))
    epochs = epochs_of(session, spark, options.checkpoint)
    try:
        receiver = _receiver(session, epochs, options, names)
        if epochs.other_program:
            note("the program is not the one that began this checkpoint: its state was computed anew")
        if not epochs.begin(first, facts_digest(options.input), receiver):
            note(f"continuing after epoch {_last_epoch(epochs)} of {options.checkpoint}")
        stream = Stream(epochs, _STREAM, receiver)
        files = spark.readStream.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
        files = files.option("maxFileAge", _AGE)
        source = files.load(_source_url(options.follow)).select("path", "modificationTime", "length")
        batches = Batches(session, epochs, Path(options.follow).resolve(), note)
        stream.start(source, batches.changes, options.once, options.every)
        applied, pauses = 0, Pauses(session)
        with _interrupts() as pressed:
            while not stream.wait(_POLL):
                if stream.applied == applied and session.spark is None:
                    with stream.paused():
                        pauses.pause()
                applied = stream.applied
                if pressed():
                    note("stopping after this batch; Ctrl-C again gives it up")
                    stream.stop()
                    note(f"stopped: {_counted(stream.applied)} applied")
                    break
    finally:
        epochs.close()


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether Ctrl-C was pressed. The second Ctrl-C goes to Spark's own handler,
    which cancels all jobs at once."""
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


def _receiver(session: Session, epochs: StreamEpochs, options: RunOptions, names: Sequence[str]) -> Receiver:
    """The receiver of changes: standard output, or files."""
    from ..spark.streaming.epochs import Receiver

    if options.output is not None:
        files = EpochFiles(session, names, Path(options.output))
        files.continue_after(_last_epoch(epochs))
        return Receiver(
            lambda changes, batch: files.write(changes, batch + 1), lambda batch: files.publish(batch + 1)
        )
    if options.format is not None:
        lines = LineSink(session, names, options.format)
        return Receiver(lambda changes, batch: lines(changes))
    text = TextSink(names)
    return Receiver(lambda changes, batch: text(changes))


def _last_epoch(epochs: StreamEpochs) -> int:
    """The last recorded epoch, as the output counts them: 0 is before all batches. -1 if there is none."""
    checkpoint = epochs.checkpoint
    if checkpoint is None or checkpoint.last is None:
        return -1
    position = checkpoint.position(_STREAM)
    return position.batch + 1 if position is not None else 0
