"""`ddlog run --follow DIR`: the files that appear in DIR/REL/ change the relation REL, batch by batch.

Each batch is one epoch. A session in process looks at the folder itself (`folderwatch.py`). On Spark, and
where Spark knows what was read before, Spark finds the new files and passes them on in batches.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..durability.positions import FACTS, Position
from ..errors import facts
from ..errors.checkpoints import CheckpointOfOtherFacts
from ..errors.diagnostics import DDlogError
from ..errors.nearest import nearest
from ..io.refusals import Refuse
from ..sessions.results.views import Changes
from ..sessions.session import Session
from .batches import Batches
from .epochfiles import EpochFiles, StateFiles
from .folderchanges import FolderChanges
from .folderwatch import FolderWatch, seconds_of
from .notes import Note
from .options import RunOptions
from .pauses import Pauses
from .printer import printing_sink
from .progress import ProgressLine
from .sinks import TextSink
from .statefile import check_input

if TYPE_CHECKING:
    from ..spark.streaming.epochs import Receiver

_STREAM = "follow"
_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_AGE = "36500d"  # by default Spark ignores files that are a week older than the newest
_POLL = 0.3  # seconds between two looks at a stream on Spark


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


@dataclass(frozen=True, slots=True)
class _Following:
    """A run that follows a directory, and gives out the changes of the relations `names`."""

    session: Session
    options: RunOptions
    names: Sequence[str]
    note: Note
    progress: ProgressLine
    refuse: Refuse | None

    @property
    def home(self) -> Path:
        """The directory."""
        return Path(self.options.follow or "").resolve()

    def begin(self, batches: Callable[[], int]) -> Receiver | None:
        """Commits the facts, and gives out what follows from them if no batches came before. Returns the
        receiver of further changes. Raises DDlogError."""
        session, options = self.session, self.options
        if session.state.durable is not None and options.output is not None:
            since = 1 if options.checkpoint is None else 0
            StateFiles(session, self.names, Path(options.output), first=since)
        with self.progress:
            changes = _first_commit(self)
        receive, done = _receiver(session, options, self.names), batches()
        if done:
            self.note(f"continuing after epoch {done} of {options.checkpoint or options.state}")
        elif receive is not None:
            receive(changes, -1)
        return receive

    def stopped(self, applied: int) -> None:
        """Notes the end by Ctrl-C."""
        self.note(f"stopped: {applied} batch{'' if applied == 1 else 'es'} applied")


def follow(
    session: Session,
    options: RunOptions,
    names: Sequence[str],
    note: Note,
    progress: ProgressLine,
    refuse: Refuse | None = None,
) -> None:
    """Follows a directory until Ctrl-C, an error, or, with `once`, the end of its present files.

    Gives out the changes of the relations `names`. Raises DDlogError.
    """
    run = _Following(session, options, names, note, progress, refuse)
    if session.spark is None and not _known_to_spark(session):
        _watch(run)
    else:
        _stream(run)


def _known_to_spark(session: Session) -> bool:
    """Whether an earlier run left what it read in a checkpoint of Spark."""
    durable = session.state.durable
    return durable is not None and durable.positions.of(_STREAM) is not None


def _watch(run: _Following) -> None:
    """Follows a directory in this process. Raises DDlogError."""
    session, once, every = run.session, run.options.once, run.options.every
    interval = None if every is None else seconds_of(every)
    if session.state.durable is not None:
        session.state.durable.keep_positions()
    watch = FolderWatch(session, run.home)
    receive = run.begin(lambda: watch.batches)
    folder, pauses, applied = FolderChanges(session, run.home, run.note, run.refuse), Pauses(session), 0
    with _interrupts() as pressed:
        while not pressed():
            files = watch.take(at_once=once)
            if files:
                with run.progress:
                    changes = watch.advance(files, folder.apply)
                if receive is not None:
                    receive(changes, watch.batches - 1)
                applied += 1
            if once:
                return
            if not files:
                pauses.pause()
                watch.wait() if interval is None else time.sleep(interval)
    run.stopped(applied)


def _stream(run: _Following) -> None:
    """Follows a directory by a stream of Spark. Raises DDlogError."""
    from ..spark.sessions.connect import open_session
    from ..spark.streaming.changelog import file_url
    from ..spark.streaming.stream import SparkStream, epochs_of

    session, options = run.session, run.options
    spark = session.spark or open_session(conf=dict(options.engine.conf))
    epochs = epochs_of(session, spark, options.checkpoint)
    try:
        receive = run.begin(lambda: _after(epochs.position(_STREAM)))
        stream = SparkStream(epochs, _STREAM, receive)
        files = spark.readStream.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
        files = files.option("maxFileAge", _AGE)
        source = files.load(file_url(run.home, glob=True)).select("path", "modificationTime", "length")
        batches = Batches(session, epochs, run.home, run.note, run.refuse)
        stream.start(source, batches.changes, options.once, options.every)
        applied, pauses = 0, Pauses(session)
        with _interrupts() as pressed:
            while not stream.wait(_POLL):
                if stream.applied == applied and session.spark is None:
                    with stream.paused():
                        pauses.pause()
                applied = stream.applied
                if pressed():
                    run.note("stopping after this batch; Ctrl-C again gives it up")
                    stream.stop()
                    run.stopped(stream.applied)
                    break
    finally:
        epochs.close()


def _after(known: Position | None) -> int:
    """The number of batches up to a position."""
    return 0 if known is None else known.batch + 1


def _first_commit(run: _Following) -> Changes:
    """Begins a session with its facts, or with what its state holds: the facts are in it, if it began with
    them. Raises DDlogError."""
    from ..spark.streaming.identity import facts_digest

    session, options = run.session, run.options
    durable, digest = session.state.durable, facts_digest(options.input)
    if durable is None:
        return _facts(run)
    known = durable.positions.of(FACTS)
    if session.resumed and not (options.replace or options.merge):
        if known is not None and known.query != digest:
            raise DDlogError([CheckpointOfOtherFacts(options.checkpoint or durable.place)])
        if known is not None or not options.input:
            return session.start()
        check_input(session, options)
    with durable.positions.advanced(FACTS, digest, 0):
        return _facts(run)


def _facts(run: _Following) -> Changes:
    options = run.options
    if not options.input:
        return run.session.start()
    return run.session.load(options.input, note=run.note, replace=options.replace, refuse=run.refuse)


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


def _receiver(session: Session, options: RunOptions, names: Sequence[str]) -> Receiver | None:
    """The receiver of changes: standard output, or files; None: the files are written with the state."""
    if options.output is not None:
        if session.state.durable is not None:
            return None
        files = EpochFiles(session, names, Path(options.output))
        files.continue_after(-1)

        def write(changes: Changes, batch: int) -> None:
            files.write(changes, batch + 1)
            files.publish(batch + 1)

        return write
    if options.format is not None:
        lines = printing_sink(session, names, options.format)
        return lambda changes, batch: lines(changes)
    text = TextSink(names)
    return lambda changes, batch: text(changes)
