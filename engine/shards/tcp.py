"""Lines between processes that know the same key, by TCP. They are encrypted if it is a certificate."""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from ssl import SSLEOFError

from .bootstrap import Address
from .tls import encrypted, is_certificate

_WAITING = 4096  # connections that wait to be taken; the system may allow fewer
_HANDSHAKE = 10.0  # seconds in which the other end shows that it knows the key
_SILENCE = 30  # seconds after which a machine that does not answer is gone
_PAUSE = 0.05  # seconds after which a door is tried again
_TAKEN = b"taken"


class Door:
    """A port of this process, at which others connect that know the key."""

    def __init__(self, host: str, key: bytes) -> None:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        self._socket = socket.create_server((host, 0), family=family, backlog=_WAITING)
        self._key = key
        self.address: Address = self._socket.getsockname()[:2]

    def line(self, deadline: float | None) -> Connection:
        """The line of the next process that comes before a moment of `time.monotonic`, or ever. Raises
        TimeoutError."""
        while True:
            self._socket.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
            taken, _ = self._socket.accept()
            with suppress(AuthenticationError, EOFError, OSError):  # a stranger, or one that was too slow
                line = _line(taken, self._key, True)
                line.send_bytes(_TAKEN)
                return line

    def close(self) -> None:
        """Takes no more connections."""
        self._socket.close()


def connected(address: Address, key: bytes, patience: float) -> Connection:
    """A line to the door at an address, which is tried again within `patience` seconds if it takes the line
    no longer: on a loaded machine it may have waited in vain. Raises OSError or AuthenticationError."""
    deadline = time.monotonic() + patience
    while (left := deadline - time.monotonic()) > 0:
        end = socket.create_connection(address, left)
        with suppress(EOFError, ConnectionError, SSLEOFError):
            line = _line(end, key, False, left)
            try:
                if line.poll(left) and line.recv_bytes() == _TAKEN:
                    return line
            except BaseException:
                line.close()
                raise
            line.close()
        time.sleep(_PAUSE)
    raise TimeoutError(f"nobody took a line at {address[0]}:{address[1]} within {patience:g} seconds")


def own_host(line: Connection) -> str:
    """The address of this machine by which the other end of a line reaches it."""
    with socket.socket(fileno=os.dup(line.fileno())) as end:
        host: str = end.getsockname()[0]
    return host


def _line(end: socket.socket, key: bytes, asks_first: bool, patience: float = _HANDSHAKE) -> Connection:
    with end:
        end.settimeout(None)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small messages are waited for
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", _SILENCE // 2), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if is_certificate(key):
            end.settimeout(patience)
            return encrypted(end, key, asks_first)
        _limit(end, patience)
        line = Connection(os.dup(end.fileno()))
        try:
            for act in (deliver_challenge, answer_challenge)[:: 1 if asks_first else -1]:
                act(line, key)
        except BaseException:
            line.close()
            raise
        _limit(end, 0)
        return line


def _limit(end: socket.socket, seconds: float) -> None:
    """Limits how long each reading waits; 0: for ever."""
    whole = int(seconds)
    end.setsockopt(
        socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", whole, int((seconds - whole) * 1e6))
    )
