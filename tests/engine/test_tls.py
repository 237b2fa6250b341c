"""Lines between workers that are encrypted, and whom they take."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection

import pytest

from ddlog.engine.shards.bootstrap import Address
from ddlog.engine.shards.tcp import Door, connected
from ddlog.engine.shards.team import end_of
from ddlog.engine.shards.tls import new_certificate

CERTIFICATE = new_certificate()
KNOWN = b"known to both"


class Tap:
    """A port that passes what it gets on to another one, and back, and remembers it."""

    def __init__(self, behind: Address) -> None:
        self.seen, self._behind = bytearray(), behind
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address: Address = self._listening.getsockname()[:2]
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            came = self._listening.accept()[0]
            try:
                ends = came, socket.create_connection(self._behind)
            except OSError:  # nobody is behind it any more, or here: who comes would try again
                self._listening.close()
                came.close()
                return
            for source, sink in (ends, ends[::-1]):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while some := source.recv(1 << 16):
                self.seen += some
                sink.sendall(some)
        with suppress(OSError):  # also after an error: who waits for more would wait until its patience ends
            sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def door() -> Iterator[Door]:
    """A door of those who have the certificate."""
    found = Door("127.0.0.1", CERTIFICATE)
    yield found
    found.close()


def both(door: Door, key: bytes, address: Address) -> tuple[Connection, Connection]:
    """Both ends of a line to a door, by way of an address."""
    came: list[Connection] = []
    taking = threading.Thread(target=lambda: came.append(door.line(time.monotonic() + 9)))
    taking.start()
    line = connected(address, key, 9)
    taking.join()
    return line, came[0]


@pytest.mark.parametrize("key", [KNOWN, CERTIFICATE], ids=["plain", "encrypted"])
def test_both_ends_send_and_receive_at_once(key: bytes) -> None:
    """More than the system keeps for either; only a line with a certificate hides it."""
    door, secret = Door("127.0.0.1", key), b"what nobody else is to know"
    tap = Tap(door.address)
    here, there = both(door, key, tap.address)
    assert not there.poll(0)
    messages = [secret * 400_000, secret, b"", secret * 700]
    ends: list[list[bytes]] = []

    def hear(line: Connection) -> None:
        heard: list[bytes] = []
        ends.append(heard)
        with suppress(EOFError, OSError):
            while True:
                heard.append(line.recv())

    hearing = [threading.Thread(target=hear, args=(line,)) for line in (here, there)]
    sending = [threading.Thread(target=lambda e=e: [*map(e.send, messages)]) for e in (here, there)]  # type: ignore[misc]
    for thread in (*hearing, *sending):
        thread.start()
    for thread in sending:
        thread.join()
    while len(ends) < 2 or min(map(len, ends)) < len(messages):
        time.sleep(0.001)  # the test has a time limit
    end_of(here)
    for thread in hearing:
        thread.join()
    assert ends == [messages, messages]
    assert (secret in tap.seen) == (key == KNOWN)
    for line in (here, there):
        line.close()
    door.close()


def test_what_has_come_is_there_without_waiting(door: Door) -> None:
    here, there = both(door, CERTIFICATE, door.address)
    for number in range(3):
        here.send(number)  # in a record each
    for number in range(3):
        assert there.poll(9)
        assert there.recv() == number
    assert not there.poll(0)
    here.close()
    assert there.poll(9)
    with pytest.raises(EOFError):
        there.recv()
    there.close()


def without_certificate(address: Address) -> None:
    """Speaks TLS, and shows nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(address, 9)) as end:
        if not end.recv(1):
            raise EOFError


def of_old(address: Address) -> None:
    """Has the certificate, but no TLS that is new enough."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.wrap_socket(socket.create_connection(address, 9)).close()


def with_another(address: Address) -> None:
    """Has a certificate of its own."""
    connected(address, new_certificate(), 9).recv()


def with_a_key(address: Address) -> None:
    """Does not encrypt, though it knows all."""
    connected(address, CERTIFICATE[1:], 0.1).recv()


@pytest.mark.parametrize("come", [without_certificate, of_old, with_another, with_a_key])
def test_strangers_are_refused(door: Door, come: Callable[[Address], None]) -> None:
    refused: list[BaseException] = []

    def try_it() -> None:
        try:
            come(door.address)
        except (OSError, EOFError, AuthenticationError) as error:
            refused.append(error)

    coming = threading.Thread(target=try_it)
    coming.start()
    line = None
    with suppress(TimeoutError):
        line = door.line(time.monotonic() + 0.3)
    assert line is None
    coming.join()
    assert refused


def test_a_door_of_strangers_gets_nothing() -> None:
    stranger = Door("127.0.0.1", new_certificate())
    threading.Thread(target=stranger.line, args=(None,), daemon=True).start()
    with pytest.raises(ssl.SSLCertVerificationError):
        connected(stranger.address, CERTIFICATE, 9)
