"""`ddlog run --follow DIR`: the files that appear in DIR/REL/ change the relation REL, batch by batch.

Each batch is one epoch. A session in process looks at the folder itself (`watching.py`). On Spark, and where
Spark knows what was read before, Spark finds the new files and passes them on in batches.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..durability.positions import FACTS
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
from .notes import Note
from .options import RunOptions
from .pauses import Pauses
from .printing import printing_sink
from .progress import ProgressLine
from .sinks import TextSink
from .statefile import check_input
from .watching import Watch, seconds_of

if TYPE_CHECKING:
    from ..spark.streaming.epochs import Receiver

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
    if session.spark is None and not _known_to_spark(session, options):
        _watch(session, options, names, note, progress, refuse)
    else:
        _stream(session, options, names, note, progress, refuse)


def _known_to_spark(session: Session, options: RunOptions) -> bool:
    """Whether an earlier run left what it read in a checkpoint of Spark."""
    durable = session.state.durable
    return _has_old_log(session, options) or (
        durable is not None and durable.positions.of(_STREAM) is not None
    )


def _watch(
    session: Session,
    options: RunOptions,
    names: Sequence[str],
    note: Note,
    progress: ProgressLine,
    refuse: Refuse | None,
) -> None:
    """Follows a directory in this process. Raises DDlogError."""
    interval = seconds_of(options.every, _POLL)
    durable, home = session.state.durable, Path(options.follow or "").resolve()
    if durable is not None:
        durable.keep_positions()
        if options.output is not None:
            StateFiles(session, names, Path(options.output), first=1 if options.checkpoint is None else 0)
    with progress:
        first = _first_commit(session, options, note, refuse)
    receive, watch = _receiver(session, options, names), Watch(session, home)
    if watch.batches:
        note(f"continuing after epoch {watch.batches} of {options.checkpoint or options.state}")
    elif receive is not None:
        receive(first, -1)
    folder, pauses, applied = FolderChanges(session, home, note, refuse), Pauses(session), 0
    with _interrupts() as pressed:
        while not pressed():
            files = watch.take(at_once=options.once)
            if files:
                with progress:
                    changes = watch.advance(files, folder.apply)
                if receive is not None:
                    receive(changes, watch.batches - 1)
                applied += 1
            if options.once:
                return
            if not files:
                pauses.pause()
                time.sleep(interval)
    note(f"stopped: {_counted(applied)} applied")


def _stream(
    session: Session,
    options: RunOptions,
    names: Sequence[str],
    note: Note,
    progress: ProgressLine,
    refuse: Refuse | None,
) -> None:
    """Follows a directory by a stream of Spark. Raises DDlogError."""
    from ..spark.sessions.connect import open_session
    from ..spark.streaming.stream import Stream, epochs_of

    assert options.follow is not None
    spark = session.spark or open_session(conf=dict(options.engine.conf))
    first = _first_of_old(session, options, note, refuse) if _has_old_log(session, options) else None
    epochs = epochs_of(session, spark, options.checkpoint)
    try:
        if session.state.durable is not None and options.output is not None:
            StateFiles(session, names, Path(options.output), first=1 if options.checkpoint is None else 0)
        with progress:
            first = first or _first_commit(session, options, note, refuse)
        receive, known = _receiver(session, options, names), epochs.position(_STREAM)
        if known is not None:
            place = options.checkpoint or options.state
            note(f"continuing after epoch {known.batch + 1} of {place}")
        elif receive is not None:
            receive(first, -1)
        stream = Stream(epochs, _STREAM, receive)
        files = spark.readStream.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
        files = files.option("maxFileAge", _AGE)
        source = files.load(_source_url(options.follow)).select("path", "modificationTime", "length")
        batches = Batches(session, epochs, Path(options.follow).resolve(), note, refuse)
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


def _first_commit(session: Session, options: RunOptions, note: Note, refuse: Refuse | None) -> Changes:
    """Begins a session with its facts, or with what its state holds: the facts are in it, if it began with
    them. Raises DDlogError."""
    from ..spark.streaming.identity import facts_digest

    durable, digest = session.state.durable, facts_digest(options.input)
    if durable is None:
        return _facts(session, options, note, refuse)
    known = durable.positions.of(FACTS)
    if session.resumed and not (options.replace or options.merge):
        if known is not None and known.query != digest:
            raise DDlogError([CheckpointOfOtherFacts(options.checkpoint or durable.place)])
        if known is not None or not options.input:
            return session.start()
        check_input(session, options)
    with durable.positions.advanced(FACTS, digest, 0):
        return _facts(session, options, note, refuse)


def _facts(session: Session, options: RunOptions, note: Note, refuse: Refuse | None) -> Changes:
    if not options.input:
        return session.start()
    return session.load(options.input, note=note, replace=options.replace, refuse=refuse)


def _has_old_log(session: Session, options: RunOptions) -> bool:
    return options.checkpoint is not None and session.state.durable is None


def _first_of_old(session: Session, options: RunOptions, note: Note, refuse: Refuse | None) -> Changes:
    """Begins a session whose checkpoint is of an earlier version, which does not hold the facts. Raises
    DDlogError if it began with others."""
    from ..spark.streaming.identity import facts_digest
    from ..spark.streaming.oldcheckpoint import OldLog, set_aside
    from ..spark.streaming.places import local_path

    log = OldLog(set_aside(local_path(options.checkpoint or "")), session.program)
    if log.entries and log.entries[-1].facts != facts_digest(options.input):
        raise DDlogError([CheckpointOfOtherFacts(str(options.checkpoint))])
    return _facts(session, options, note, refuse)


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
