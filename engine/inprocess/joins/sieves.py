"""Sieves: bits that tell of most words that a table does not hold them.

A search for a word that is not there reads its place in the slots of the table, anywhere in many megabytes.
A sieve has eight bits for each word, so that much more of it lies in the caches. It pays where a run searches
a large table for many words, of which few are there. (Bloom: Space/time trade-offs in hash coding with
allowable errors, 1970; with one hash.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import thresholds
from ...memory import reserve
from ...schema import Array
from ..kernels import expansion
from ..storage.layout import PackedLayout
from ..storage.table import RowTable

_BITS_OF_A_WORD = 8
_NOTHING: Array = np.empty(0, np.int64)


class Sieve(NamedTuple):
    """The bits of some words: 2**bits of them; 0 bits let every word through."""

    marks: Array
    bits: int


ALL = Sieve(_NOTHING, 0)
"""A sieve through which every word goes."""


class Sieves:
    """The sieves of the tables that a run of a join searches."""

    def __init__(self) -> None:
        self._made: dict[RowTable, tuple[Sieve, int, PackedLayout | None]] = {}

    def of(self, table: RowTable) -> Sieve:
        """The sieve of a table, or one of all words. It is of no use any more when the table has changed."""
        made = self._made.get(table)
        if made is None or made[1] != table.size or made[2] is not table.layout:
            return ALL
        return made[0]

    def consider(self, table: RowTable, searched: int, found: int, to_come: float) -> None:
        """Makes a sieve if that pays: so many words were searched for and found, and more are to come."""
        few = found * thresholds.SIEVED_LOSS <= searched
        large = len(table.slots()[0]) >= thresholds.SIEVED_SLOTS
        if few and large and to_come > table.size and table.layout is not None and table not in self._made:
            bits = max(6, (_BITS_OF_A_WORD * table.size).bit_length())
            reserve(1 << (bits - 3))
            marks = np.zeros(1 << (bits - 6), np.int64)
            expansion.fill_sieve(table.words, table.size, marks, bits)
            self._made[table] = Sieve(marks, bits), table.size, table.layout
