"""Encrypted lines: TLS 1.3 between processes that show the same certificate, the only one that they trust."""

from __future__ import annotations

import select
import socket
import ssl
import tempfile
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

_RECORD = 1 << 14  # bytes that TLS encrypts together


def new_certificate() -> bytes:
    """A private key and a certificate that it signs itself, as PEM. Needs the package `cryptography`."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ddlog workers")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))  # clocks differ
        .not_valid_after(now + timedelta(days=3650))  # it is good for as long as its workers run
        .sign(key, hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(pem, form, serialization.NoEncryption()) + certificate.public_bytes(pem)


def is_certificate(key: bytes) -> bool:
    """Whether ends that know this key encrypt what they say."""
    return key.startswith(b"-----BEGIN")


def encrypted(end: socket.socket, certificate: bytes, is_door: bool) -> Connection:
    """A line over a socket, within the time limit of which the other end shows the same certificate. Raises
    OSError."""
    return _Encrypted(_context(certificate, is_door).wrap_socket(end, is_door))


@lru_cache(8)
def _context(certificate: bytes, is_door: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_door else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # whoever has the key may be anywhere
    context.verify_mode = ssl.CERT_REQUIRED
    if is_door:
        context.num_tickets = 0  # a line that has something to read has a message
    with tempfile.NamedTemporaryFile() as file:  # OpenSSL reads a key from a file alone; only this user may
        file.write(certificate)
        file.flush()
        context.load_cert_chain(file.name)
        context.load_verify_locations(file.name)
    return context


class _Encrypted(Connection):
    """One thread may receive while another one sends: OpenSSL does one thing at a time, and nobody waits for
    the network within it."""

    def __init__(self, end: ssl.SSLSocket) -> None:
        end.setblocking(False)
        super().__init__(end.fileno())
        self._end, self._alone = end, threading.Lock()
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(end, select.POLLIN)
        self._writable.register(end, select.POLLOUT)

    def _has_some(self) -> bool:
        """Whether there is a part of a record that nobody has taken."""
        with self._alone:
            return self._end.pending() > 0

    def _some(self, _: int, most: int) -> bytes:
        while True:
            if not self._has_some():
                self._readable.poll()
            with self._alone, suppress(ssl.SSLWantReadError):
                return self._end.recv(min(most, _RECORD))

    def _give(self, _: int, some: Any) -> int:
        while True:
            with self._alone, suppress(ssl.SSLWantWriteError):
                return self._end.send(some)
            self._writable.poll()

    # The way in which `Connection` reads, writes and closes its file.

    def _send(self, buf: Any, write: Any = None) -> None:
        super()._send(buf, self._give)  # type: ignore[misc]

    def _recv(self, size: int, read: Any = None) -> Any:
        return super()._recv(size, self._some)  # type: ignore[misc]

    def _poll(self, timeout: float | None) -> bool:
        return self._has_some() or super()._poll(timeout)  # type: ignore[misc]

    def _close(self) -> None:
        self._end.close()
