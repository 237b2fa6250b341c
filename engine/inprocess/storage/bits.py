"""Sets of pairs of small numbers: as lists, or as bit matrices.

Both can be multiplied, as relations: the pairs (i, k) for which there is a j with (i, j) and (j, k). A
product is made in the cheapest of these ways, by what they cost:

    a list by a list        each pair is followed to its targets, if that gives few pairs
    a matrix by a list      each bit (i, j) is followed to the targets of j; or for each pair (j, k)
                            column j is ored into column k, as a row of the matrix turned
    anything by a matrix    for each (i, j), row j is ored into row i; or the same of both turned
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ... import interrupt, thresholds
from ...memory import reserve
from ...schema import Array
from ..kernels import bits as kernels

_FOLLOWED, _TURNED = 16, 10  # words of a row that are ored while a pair is followed, and one is turned


class PairList:
    """A list of pairs of numbers below `height` and `width`."""

    def __init__(self, left: Array, right: Array, height: int, width: int) -> None:
        self.left, self.right, self.height, self.width = left, right, height, width

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.left)

    @cached_property
    def turned(self) -> PairList:
        """The pairs the other way round."""
        return PairList(self.right, self.left, self.width, self.height)

    @cached_property
    def targets(self) -> tuple[Array, Array]:
        """The right numbers by the left ones, and where those of each left number begin."""
        first = np.zeros(self.height + 1, np.int64)
        np.cumsum(np.bincount(self.left, minlength=self.height), out=first[1:])
        return first, self.right[np.argsort(self.left, kind="stable")]

    @cached_property
    def bits(self) -> BitMatrix:
        """The same as a matrix."""
        words = no_bits(self.height, self.width)
        kernels.set_bits(words, self.left, self.right)
        return BitMatrix(words, self.width)


class BitMatrix:
    """A matrix of bits."""

    def __init__(self, words: Array, width: int) -> None:
        self.words, self.height, self.width = words, words.shape[0], width

    @cached_property
    def count(self) -> int:
        """The number of bits that are set."""
        return kernels.count_bits(self.words)

    @cached_property
    def turned(self) -> BitMatrix:
        """The matrix with its rows as columns."""
        words = no_bits(self.width, self.height)
        kernels.transpose(self.words, words)
        return BitMatrix(words, self.height)

    def pairs(self) -> PairList:
        """The same as a list, row by row."""
        room = self.count + 64 * self.words.shape[1]
        reserve(16 * room)
        left, right = np.empty(room, np.int64), np.empty(room, np.int64)
        _, found = kernels.list_bits(self.words, 0, left, right)
        return PairList(left[:found], right[:found], self.height, self.width)

    def filter(self, true: Callable[[Array, Array], Array]) -> None:
        """Clears the bits of the pairs for which a condition is not true; it is asked of many at once."""
        room = max(thresholds.CHUNK, 64 * self.words.shape[1])
        reserve(16 * room)
        row, left, right = 0, np.empty(room, np.int64), np.empty(room, np.int64)
        while row < self.height:
            interrupt.check()
            row, found = kernels.list_bits(self.words, row, left, right)
            some = left[:found], right[:found]
            kernels.keep_bits(self.words, *some, true(*some))


Pairs: TypeAlias = PairList | BitMatrix


def no_bits(height: int, width: int) -> Array:
    """The words of a matrix without bits."""
    reserve(height * -(-width // 64) * 8)
    return np.zeros((height, -(-width // 64)), np.uint64)


def product(a: Pairs, b: Pairs) -> Pairs:
    """The pairs (i, k) for which there is a j with (i, j) in `a` and (j, k) in `b`; a list of them may have
    pairs more than once."""
    size = a.height * -(-b.width // 64)
    if isinstance(a, PairList) and isinstance(b, PairList):
        first, targets = b.targets
        found = int((first[a.right + 1] - first[a.right]).sum())
        if found * _FOLLOWED <= size:
            left, right = np.empty(found, np.int64), np.empty(found, np.int64)
            kernels.follow_pairs(a.left, a.right, first, targets, left, right)
            return PairList(left, right, a.height, b.width)
        a = a.bits
    if isinstance(b, BitMatrix):
        if a.count * -(-b.width // 64) <= b.count * -(-a.height // 64):
            return _rows_ored(a, b)
        return _turned(_rows_ored(b.turned, a.bits.turned if isinstance(a, PairList) else a.turned))
    assert isinstance(a, BitMatrix)
    follow = a.count * b.count // max(1, b.height) * _FOLLOWED
    if follow > b.count * -(-a.height // 64) + _TURNED * (size + a.words.size):
        return _turned(_rows_ored(b.turned, a.turned))
    out = no_bits(a.height, b.width)
    first, targets = b.targets
    for start, stop in _parts(a.height, follow):
        kernels.follow_bits(a.words, start, stop, first, targets, out)
    return BitMatrix(out, b.width)


def _turned(matrix: BitMatrix) -> BitMatrix:
    """A matrix turned, which knows the other one. (If both knew each other, they would outlive their use.)"""
    found = matrix.turned
    found.turned = matrix
    del matrix.turned
    return found


def _rows_ored(a: Pairs, b: BitMatrix) -> BitMatrix:
    """The product by rows."""
    out = no_bits(a.height, b.width)
    work = a.count * b.words.shape[1]
    if isinstance(a, PairList):
        for start, stop in _parts(a.count, work):
            kernels.or_rows(a.left, a.right, start, stop, b.words, out)
    else:
        for start, stop in _parts(a.height, work):
            kernels.or_rows_of_bits(a.words, start, stop, b.words, out)
    return BitMatrix(out, b.width)


def _parts(length: int, work: int) -> Iterator[tuple[int, int]]:
    """Parts of some work, with a look at an interrupt before each."""
    step = max(1, length * thresholds.DENSE_WORK // max(1, work))
    for at in range(0, length, step):
        interrupt.check()
        yield at, min(at + step, length)
