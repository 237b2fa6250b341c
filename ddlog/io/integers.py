"""Fact files of integers only, read by a compiled loop over the bytes, in two threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_LONGEST = 18  # digits that cannot overflow


@numba.njit(cache=True, nogil=True)
def _count_lines(data, start, stop):  # type: ignore[no-untyped-def]
    lines = 0
    for position in range(start, stop):
        lines += data[position] == 10
    return lines


@numba.njit(cache=True, nogil=True)
def _parse(data, start, stop, separator, low, high, out, row):  # type: ignore[no-untyped-def]
    """Fills out[:, row:] from the bytes; the number of rows, or -1 at the first thing unexpected."""
    columns = out.shape[0]
    first = row
    position = start
    while position < stop:
        if data[position] == 10:
            position += 1
            continue
        for column in range(columns):
            negative = position < stop and data[position] == 45
            if negative:
                position += 1
            value = 0
            begin = position
            while position < stop:
                digit = data[position] - 48
                if digit < 0 or digit > 9:
                    break
                value = value * 10 + digit
                position += 1
            if position == begin or position - begin > _LONGEST:
                return -1
            if negative:
                value = -value
            if value < low[column] or value > high[column]:
                return -1
            out[column, row] = value
            if column + 1 < columns:
                if position >= stop or data[position] != separator:
                    return -1
                position += 1
        if position < stop and data[position] == 13:
            position += 1
        if position < stop:
            if data[position] != 10:
                return -1
            position += 1
        row += 1
    return row - first


def read_integers(
    data: bytes, start: int, separator: str, bounds: list[tuple[int, int]]
) -> list[Ints] | None:
    """The columns of a delimited text from byte `start` on. None when the text holds anything but plain
    decimal numbers within the bounds of their columns."""
    array = np.frombuffer(data, dtype=np.uint8)
    low = np.array([max(bound[0], -(10**_LONGEST)) for bound in bounds], dtype=np.int64)
    high = np.array([min(bound[1], 10**_LONGEST) for bound in bounds], dtype=np.int64)
    middle = data.find(b"\n", start + (len(data) - start) // 2) + 1 or len(data)
    parts = [(start, middle), (middle, len(data))]
    with ThreadPoolExecutor(2) as pool:
        lines = list(pool.map(lambda part: int(_count_lines(array, part[0], part[1])), parts))
        out = np.empty((len(bounds), sum(lines) + 1), dtype=np.int64)
        rows = list(
            pool.map(
                lambda part, row: int(_parse(array, part[0], part[1], ord(separator), low, high, out, row)),
                parts,
                (0, lines[0]),
            )
        )
    if min(rows) < 0:
        return None
    if rows[0] < lines[0]:
        out[:, rows[0] : rows[0] + rows[1]] = out[:, lines[0] : lines[0] + rows[1]].copy()
    return [column[: sum(rows)] for column in out]
