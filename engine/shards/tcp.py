"""Lines between processes that know the same key, by TCP. They are encrypted if it is a certificate."""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from .bootstrap import Address
from .tls import encrypted, is_certificate

_WAITING = 4096  # connections that wait to be taken; the system may allow fewer
_HANDSHAKE = 10.0  # seconds in which the other end shows that it knows the key
_SILENCE = 30  # seconds after which a machine that does not answer is gone


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
            with suppress(AuthenticationError, EOFError, OSError):  # a stranger
                return _line(taken, self._key, True)

    def close(self) -> None:
        """Takes no more connections."""
        self._socket.close()


def connected(address: Address, key: bytes, patience: float) -> Connection:
    """A line to the door at an address. Raises OSError, EOFError or AuthenticationError."""
    return _line(socket.create_connection(address, patience), key, False, patience)


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
