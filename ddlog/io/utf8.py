"""The text of a file's bytes."""

from __future__ import annotations

from .faults import CellFault, FaultyFile

_HELP = "an option of the place names the encoding: `?encoding=cp1252` for many spreadsheets, or utf-16"

# What files that are no text begin with, and the names that are read as such files.
_BEGINNINGS = {
    b"\x1f\x8b": "compressed by gzip: end its name in .gz",
    b"PK\x03\x04": "a zip archive or a workbook: end its name in .zip or .xlsx",
    b"PAR1": "a file of Parquet: end its name in .parquet",
    b"ARROW1": "a file of Arrow: end its name in .arrow",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it first",
    b"BZh": "compressed by bzip2: unpack it first",
    b"\xfd7zXZ": "compressed by xz: unpack it first",
}


def decode(data: bytes, encoding: str = "utf-8") -> str:
    """Bytes as text. Raises FaultyFile with the place of the first byte that is wrong."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        known = next((what for begin, what in _BEGINNINGS.items() if data.startswith(begin)), None)
        if known is not None:
            raise FaultyFile([CellFault(f"the file is {known}", 0, 0, "")]) from None
        begin = data.rfind(b"\n", 0, error.start) + 1
        end = data.find(b"\n", error.start)
        line = data[begin : end if end >= 0 else len(data)].decode(encoding, errors="replace")
        column = len(data[begin : error.start].decode(encoding, errors="replace")) + 1
        number = data.count(b"\n", 0, begin) + 1
        message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not {encoding.upper()}"
        raise FaultyFile([CellFault(message, number, column, line, help=_HELP)]) from None
