"""The types of the arguments that kernels are given, as far as they are known before a program runs.

Kernels for these can be compiled ahead (`ahead`). A call with other types compiles its kernel when it comes.
Those that most programs with many rows need come first, and those that take long to compile before others.
"""

from __future__ import annotations

import re
from typing import Any

_SHORT = {
    "n": "int64",
    "I": "array(int64, 1d, C)",
    "i": "array(int32, 1d, C)",
    "c": "array(int8, 1d, C)",
    "M": "array(int64, 2d, C)",
    "C": "array(int8, 2d, C)",
    "B": "array(uint64, 2d, C)",
    "8": "array(uint8, 2d, C)",
    "16": "array(uint16, 2d, C)",
    "(term)": "UniTuple(Tuple({M}, {M}, {I}, {i}, int64, {I}) x 1)",
    "(look-ups)": (  # of a recursion with one linear rule
        "UniTuple(Tuple({M}, {I}, {i}, int64, bool, {I}, {i}, {i}, {I}, bool, {I}, {M}, {M}) x 4)"
    ),
}
_ITEM = re.compile(r"(?:readonly )?\w+(?:\((?:[^()]|\([^()]*\))*\))?")  # in a tuple
_SIGNATURES = """
following.follow_rounds I I i n n n n M I i n bool I i i I bool I M M (term) I n n
hashing.insert_words I n I I n n
packing.pack I I n n n
hashing.number_words I i n I n n
hashing.rehash_words I n I n
hashing.number_new_words I i n I I n I n n
expansion.expand_found I I i i n I I M I i n I I I n n n I n
postings.scatter i I I i
postings.count i I
packing.unpack_at I I n n n
packing.unpack I n n n
hashing.find_words I i n I
postings.total_matches I i
postings.expand I I i i n n
expansion.expand_new I I i i n I I M I n I n n n
expansion.fill_sieve I n I n
addition.add_weights I I I
addition.net_presence I I I c
postings.link i I I i i i n I
hashing.spread_words I i n n n
hashing.most_displaced I n
postings.count i i
postings.lay_out i I
postings.move I i i I i
postings.shift I i i I
bits.set_bits B I I
bits.count_bits B
bits.list_bits B n I I
bits.transpose B B
bits.follow_bits B n n I I B
bits.follow_pairs I I I I I I
bits.new_pairs I I B B
bits.take_pairs I I B B 8 n
bits.take_new B B 8 n
bits.or_rows I I n n B B
bits.or_rows_of_bits B n n B B
bits.keep_bits B I I I
bits.take_pairs I I B B 16 n
bits.take_new B B 16 n
addition.add I I I
addition.first_seen I c
addition.accumulate_limbs I I I I I
addition.improve I c I I I
hashing.number_word I i n n I n
hashing.insert_word I n n I n
hashing.find_word I i n n
postings.locate I i n i I
postings.unlink i I I i i I
iterations.iterate I I i n i n I I I (look-ups) n n n n I I I n n
ranks.summed I I
ranks.decide I I i n
ranks.settle I I I i n
ranks.seen I I i n
ranks.take_in I I I i
hashing.number_new_rows I n M M n I n n
hashing.find_rows I n M M
hashing.rehash_rows I n M n
bits.rows_in_order 8 I I I I
bits.rows_in_order 16 I I I I
scan.agreeing I n I I I
iterations.first_due I I I
iterations.joined I I
hashing.find_words I I n I
hashing.insert_words i n I I n n
hashing.rehash_words i n I n
hashing.number_words i i n I n n
hashing.number_new_words i i n I I n I n n
hashing.find_words i i n I
hashing.spread_words i i n n n
hashing.most_displaced i n
hashing.insert_narrow_word i n n I n
hashing.number_narrow_word i i n n I n
hashing.find_narrow_word i i n n
expansion.expand_found I I i i n I I M i i n I I I n n n I n
expansion.expand_new I I i i n I I M i n I n n n
postings.count I I
postings.scatter I I I i
paths.spread I i i i I c I i I c I n I I I
paths.best_offers I I i i i I c I i
paths.changed_offers I I i i i I c i I I
paths.withdraw I i i I i i i i I c I i I c I
paths.take_out I i i I i i i i I c i I I I c I
paths.depth i I i i i
producttime.enter I I I M n I n M I
producttime.look I I I M I n n n I I
producttime.expand_entries I I I M I n n n n n
producttime.count_entries I I I M I n n
producttime.amounts_at I I I M I n n
producttime.entries_upto I I I I n n n
producttime.missing_presence I I I I
producttime.without_zeros I I I M n
producttime.alive_rows I I M n I
"""


def signatures() -> list[tuple[str, str, tuple[str, ...]]]:
    """The module, the kernel, and the types of its arguments as numba names them, of each known signature."""
    found = []
    for line in _SIGNATURES.split("\n")[1:-1]:
        name, *types = line.split()
        module, kernel = name.split(".")
        found.append((module, kernel, tuple(_SHORT.get(each, each).format(**_SHORT) for each in types)))
    return found


def numba_type(name: str) -> Any:
    """The type of numba that has a name."""
    from numba import types as typed

    types: Any = typed
    if array := re.fullmatch(r"(readonly )?array\((\w+), (\d)d, ([CFA])\)", name):
        return types.Array(getattr(types, array[2]), int(array[3]), array[4], readonly=bool(array[1]))
    if alike := re.fullmatch(r"UniTuple\((.*) x (\d+)\)", name):
        return types.UniTuple(numba_type(alike[1]), int(alike[2]))
    if several := re.fullmatch(r"Tuple\((.*)\)", name):
        return types.Tuple([numba_type(each) for each in re.findall(_ITEM, several[1])])
    return getattr(types, "boolean" if name == "bool" else name)
