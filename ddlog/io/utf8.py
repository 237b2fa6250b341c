"""The text of a file's bytes."""

from __future__ import annotations

from .faults import CellFault, FaultyFile

_HELP = "an option of the place names the encoding: `?encoding=cp1252` for many spreadsheets, or utf-16"


def decode(data: bytes, encoding: str = "utf-8") -> str:
    """Bytes as text. Raises FaultyFile with the place of the first byte that is wrong."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        begin = data.rfind(b"\n", 0, error.start) + 1
        end = data.find(b"\n", error.start)
        line = data[begin : end if end >= 0 else len(data)].decode(encoding, errors="replace")
        column = len(data[begin : error.start].decode(encoding, errors="replace")) + 1
        number = data.count(b"\n", 0, begin) + 1
        message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not {encoding.upper()}"
        raise FaultyFile([CellFault(message, number, column, line, help=_HELP)]) from None
