"""`ddlog run --follow DIR`: the files that appear in DIR/REL/ change the relation REL, batch by batch.

Each batch is one epoch (`folderwatch.py`).
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

from ..durability.positions import FACTS
from ..errors import facts
from ..errors.checkpoints import CheckpointMismatch, CheckpointOfOtherFacts
from ..errors.diagnostics import DDlogError
from ..errors.nearest import nearest
from ..io.refusals import Refuse
from ..sessions.results.views import Changes
from ..sessions.session import Session
from ..sessions.transactions.durable_state import DurableState
from .epochfiles import EpochFiles, StateFiles
from .folderchanges import FolderChanges
from .folderwatch import FolderWatch, seconds_of
from .notes import Note
from .options import RunOptions
from .pauses import Pauses
from .progress import ProgressLine
from .sinks import printing_sink
from .statefile import check_input

_MOMENT = 0.3  # seconds between two looks for Ctrl-C


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
    home, durable = Path(os.path.realpath(options.follow or "")), session.state.durable
    once, interval = options.once, None if options.every is None else seconds_of(options.every)
    if durable is not None:
        _check_positions(durable)
        durable.keep_positions()
        if options.output is not None:
            StateFiles(session, names, Path(options.output), first=1 if options.checkpoint is None else 0)
    watch = FolderWatch(session, home)
    with progress:
        changes = _first_commit(session, options, note, refuse)
    receive = _receiver(session, options, names)
    if watch.batches:
        note(f"continuing after epoch {watch.batches} of {options.checkpoint or options.state}")
    elif receive is not None:
        receive(changes, -1)
    folder, pauses, applied = FolderChanges(session, home, note, refuse), Pauses(session), 0
    with _interrupts() as pressed:
        while not pressed():
            files = watch.take(at_once=once)
            if files:
                with progress:
                    changes = watch.advance(files, folder.apply)
                if receive is not None:
                    receive(changes, watch.batches - 1)
                applied += 1
            if once:
                return
            if not files:
                pauses.pause()
                watch.wait() if interval is None else _sleep(interval, pressed)
    note(f"stopped: {applied} batch{'' if applied == 1 else 'es'} applied")


def _check_positions(durable: DurableState) -> None:
    """Raises DDlogError for a state whose followed files Spark found: they would be read again."""
    if durable.positions.of("follow") is not None:
        problem = "another ddlog let Spark find the files, and it is not known which were read"
        raise DDlogError([CheckpointMismatch(durable.place, "follow", problem)])


def _sleep(seconds: float, pressed: Callable[[], bool]) -> None:
    """Sleeps for some seconds, or until Ctrl-C is pressed."""
    until = time.monotonic() + seconds
    while not pressed() and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _MOMENT))


def _first_commit(session: Session, options: RunOptions, note: Note, refuse: Refuse | None) -> Changes:
    """Begins a session with its facts, or with what its state holds: the facts are in it, if it began with
    them. Raises DDlogError."""
    durable, digest = session.state.durable, _digest(options.input)
    known = None if durable is None else durable.positions.of(FACTS)
    if durable is not None and session.resumed and not (options.replace or options.merge):
        if known is not None and known.query != digest:
            raise DDlogError([CheckpointOfOtherFacts(options.checkpoint or durable.place)])
        if known is not None or not options.input:
            return session.start()
        check_input(session, options)
    with nullcontext() if durable is None else durable.positions.advanced(FACTS, digest, 0):
        if not options.input:
            return session.start()
        return session.load(options.input, note=note, replace=options.replace, refuse=refuse)


def _digest(places: Sequence[str]) -> str:
    """A digest of fact files by their names, sizes and times of change; of places that are not on this
    machine by their names only."""
    digest = hashlib.sha256()
    for place in places:
        path = Path(place)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        digest.update(place.encode("utf-8", "surrogatepass"))
        for file in files:
            if file.is_file():
                stat = file.stat()
                digest.update(
                    f"{file}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode("utf-8", "surrogatepass")
                )
    return digest.hexdigest()


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether Ctrl-C was pressed. The second Ctrl-C goes to the handler that was
    there before, which ends the batch."""
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


def _receiver(
    session: Session, options: RunOptions, names: Sequence[str]
) -> Callable[[Changes, int], None] | None:
    """The receiver of the changes of a batch, and of its number: standard output, or files; None: the files
    are written with the state."""
    if options.output is not None:
        if session.state.durable is not None:
            return None
        files = EpochFiles(session, names, Path(options.output))
        files.continue_after(-1)

        def write(changes: Changes, batch: int) -> None:
            files.write(changes, batch + 1)
            files.publish(batch + 1)

        return write
    show = printing_sink(session, names, options.format)
    return lambda changes, batch: show(changes)
