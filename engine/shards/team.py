"""Workers that go through epochs in step: what they send each other, and how all give up when one does.

Each pair of workers has two lines. On the first, one message of each goes to the other at each meeting
(`swap`). On the second, one asks and the other answers (`ask`); a thread answers beside the work. Everything
carries the number of the attempt, so that what is left of an epoch that was given up disturbs no other one.
"""

from __future__ import annotations

import os
import pickle
import socket
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, Queue
from typing import Any, NamedTuple, TypeVar

from .. import interrupt

V = TypeVar("V")

PATIENCE = 0.2
"""Seconds after which a worker that waits for another one looks for a Ctrl-C."""

BETWEEN = -1
"""The moment of a request between epochs, which waits for nothing."""


class Aborted(Exception):
    """Another worker has given the epoch up, or is gone."""


class Lines(NamedTuple):
    """The lines of a worker to another one: for meetings, for asking it, and for its requests."""

    meet: Connection
    ask: Connection
    answer: Connection


class Team:
    """One worker's place among all."""

    def __init__(self, rank: int, lines: Mapping[int, Lines], first: int = 0) -> None:
        """`lines` are those to the other workers, by rank. Rows have owners from the rank `first` on, if
        there are so many; those that must be together with all others are on the first worker anyway."""
        self.rank, self.size, self._lines = rank, len(lines) + 1, lines
        self.owning = range(min(first, self.size - 1), self.size)
        # Not SimpleQueue: of Python 3.11 its `get` may wait for ever if a signal comes when the time is over.
        self._came: dict[int, Queue[tuple[int, str, Any]]] = {peer: Queue() for peer in lines}
        self._early: dict[
            int, tuple[int, str, Any]
        ] = {}  # messages of attempts that this worker has not begun
        self._serial = 0
        self._done = 0
        self._aborted = 0  # the last attempt that was given up
        self.lost = False
        """True once another worker has ended: no epoch goes through any more."""
        self.looks_into = ""
        """What the attempt looks into that ended the one before, by its name in accounts: a fault
        or a limit, which may not be one of rows that stay."""
        self._moved = threading.Condition()
        self._asking = threading.Lock()
        self._handle: Callable[[Any], Any] = lambda request: None
        self._threads: list[threading.Thread] = []

    def start(self, handle: Callable[[Any], Any]) -> None:
        """Begins to hear the others. `handle` answers their requests, in another thread."""
        self._handle = handle
        for peer, lines in self._lines.items():
            for act in (self._hear, self._serve):
                self._threads.append(threading.Thread(target=act, args=(peer, lines), daemon=True))
                self._threads[-1].start()

    def begin(self, serial: int, looks_into: str = "") -> None:
        """Begins the attempt of an epoch with this number; see `looks_into`."""
        with self._moved:
            self._serial, self._done, self.looks_into = serial, 0, looks_into
            self._moved.notify_all()

    def ready(self) -> None:
        """Says that the state is what a look-up of the next node is to see."""
        with self._moved:
            self._done += 1
            self._moved.notify_all()

    def check(self) -> None:
        """Raises Aborted if another worker has given the attempt up."""
        if self._aborted >= self._serial or self.lost:
            raise Aborted("another worker has given up")

    def abort(self) -> None:
        """Gives the attempt up, on all workers, if none of them has. A worker does so before it rolls its
        state back, as others may be reading it."""
        if self._aborted >= self._serial:
            return
        self._give_up(self._serial)
        for lines in self._lines.values():
            self._send(lines.meet, _pickled((self._serial, "abort", None)))

    def swap(self, messages: Sequence[Any], speaking: Collection[int] | None = None) -> list[Any]:
        """Sends each worker its message, by rank, and gives those that came from each, this one included; all
        speak, or only some, to each other. Holds no message longer than it takes to send it. Raises
        Aborted."""
        speak = range(self.size) if speaking is None else speaking
        own = messages[self.rank]
        if self.rank not in speak:
            return []
        self._tell(messages, speak)
        del messages
        return [own if peer == self.rank else self._next(peer) for peer in speak]

    def agree(self, message: Any, speaking: Collection[int] | None = None) -> list[Any]:
        """What each worker says that speaks, by rank. Raises Aborted."""
        return self.swap([message] * self.size, speaking) if self.size > 1 else [message]

    def relay(self, message: V, speaking: Collection[int]) -> V:
        """A message that all workers have who speak, also on the others: the first one tells them. Raises
        Aborted."""
        teller = min(speaking)
        if self.rank == teller:
            self._tell([message] * self.size, [peer for peer in self._lines if peer not in speaking])
        return message if self.rank in speaking else self._next(teller)

    def ask(self, requests: Mapping[int, Any], between: bool = False) -> dict[int, Any]:
        """The answers of other workers to requests, which see the state as it is after the nodes that this
        worker has done; `between` epochs, as it is. Raises Aborted."""
        moment = BETWEEN if between else self._done
        with self._asking:
            for peer, request in requests.items():
                self._send(self._lines[peer].ask, _pickled((self._serial, moment, request)))
            try:
                if not between and not self.rank:  # no other worker hears of a Ctrl-C
                    self._await(requests)
            except BaseException:
                self.abort()  # so that all answer soon
                raise
            finally:
                answers = {peer: self._answer(peer) for peer in requests}
        for right, answer in answers.values():
            if not right:
                raise Aborted(answer)
        return {peer: answer for peer, (_, answer) in answers.items()}

    def lose(self) -> None:
        """Notes that a worker has ended."""
        with self._moved:
            self.lost = True
            self._moved.notify_all()
        self._wake()

    def close(self) -> None:
        """Ends the lines, and then the threads that read them."""
        self.lose()
        every = [line for lines in self._lines.values() for line in lines]
        for line in every:
            end_of(line)
        for thread in self._threads:
            thread.join()
        for line in every:
            line.close()

    # ------------------------------------------------------------- behind it

    def _tell(self, messages: Sequence[Any], peers: Collection[int]) -> None:
        """Sends each of some other workers its message, by rank."""
        sent: dict[int, bytes] = {}  # a message to several workers is pickled once
        for peer, lines in self._lines.items():
            if peer not in peers:
                continue
            message = messages[peer]
            if id(message) not in sent:
                sent[id(message)] = _pickled((self._serial, "swap", message))
            self._send(lines.meet, sent[id(message)])

    def _send(self, line: Connection, message: bytes) -> None:
        try:
            line.send_bytes(message)
        except OSError:
            self.lose()

    def _await(self, peers: Collection[int]) -> None:
        """Waits until each of some workers has answered, or is gone. Acts on a Ctrl-C."""
        with suppress(OSError):  # the line is closed
            for peer in peers:
                while not self._lines[peer].ask.poll(PATIENCE):
                    interrupt.check()

    def _answer(self, peer: int) -> tuple[bool, Any]:
        try:
            answer: tuple[bool, Any] = self._lines[peer].ask.recv()
        except (EOFError, OSError):
            self.lose()
            return False, "a worker is gone"
        return answer

    def _next(self, peer: int) -> Any:
        """The next message of a worker in this attempt. Acts on a Ctrl-C."""
        while True:
            self.check()
            try:
                early = peer in self._early
                serial, kind, message = (
                    self._early.pop(peer) if early else self._came[peer].get(timeout=PATIENCE)
                )
            except Empty:
                interrupt.check()
                continue
            if serial == self._serial and kind == "swap":
                return message
            if serial > self._serial:
                self._early[peer] = serial, kind, message
                raise Aborted("another worker has given up")

    def _hear(self, peer: int, lines: Lines) -> None:
        came = self._came[peer]
        while True:
            try:
                serial, kind, message = lines.meet.recv()
            except (EOFError, OSError):
                self.lose()
                return
            if kind == "abort":
                self._give_up(serial)
            came.put((serial, kind, message))
            del message  # which may be large, and is taken before the next one comes

    def _give_up(self, serial: int) -> None:
        with self._moved:
            self._aborted = max(self._aborted, serial)
            self._moved.notify_all()
        self._wake()

    def _wake(self) -> None:
        for came in self._came.values():
            came.put((0, "wake", None))

    def _serve(self, peer: int, lines: Lines) -> None:
        while True:
            try:
                serial, moment, request = lines.answer.recv()
            except (EOFError, OSError):
                return
            try:
                self._wait(serial, moment)
                answer = True, self._handle(request)
                self._wait(serial, moment)  # the state may have been rolled back meanwhile
            except Aborted as error:
                answer = False, str(error)
            except Exception as error:
                answer = False, f"{type(error).__name__}: {error}"
            self._send(lines.answer, _pickled(answer))

    def _wait(self, serial: int, moment: int) -> None:
        """Waits until this worker has done as many nodes as the one that asks. Raises Aborted."""
        if moment == BETWEEN:
            return
        with self._moved:
            self._moved.wait_for(
                lambda: (
                    self.lost
                    or self._aborted >= serial
                    or self._serial > serial
                    or (self._serial == serial and self._done >= moment)
                )
            )
            if self.lost or self._aborted >= serial or self._serial > serial:
                raise Aborted("the epoch is given up")


def _pickled(message: Any) -> bytes:
    """A message as `Connection.recv` reads it: `send` makes a pickler of its own for each."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def end_of(line: Connection) -> None:
    """Lets whoever reads a line, at either end, come to its end."""
    with suppress(OSError), socket.socket(fileno=os.dup(line.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
