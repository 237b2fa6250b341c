"""Tables of a state on the cluster are merged seldom, a row few times, and not all in one commit."""

from __future__ import annotations

from ddlog.engine.spark.merging import MOST_PARTS, Merging, start_of_merge


def test_a_row_is_merged_a_logarithmic_number_of_times() -> None:
    sizes, merged, largest, most = [20_000_000], 0, 0, 0
    commits = 10_000
    for _ in range(commits):
        sizes = sorted([*sizes, 1_000], reverse=True)
        start = start_of_merge(sizes)
        if start is not None:
            rows = sum(sizes[start:])
            merged += rows
            largest += rows > 20_000_000
            sizes = sorted([*sizes[:start], rows], reverse=True)
        most = max(most, len(sizes))
    assert most <= MOST_PARTS
    assert largest == 1, "when the others came to a quarter of it"
    assert merged < 20_000_000 + 30 * commits * 1_000


def test_one_large_merge_in_a_commit() -> None:
    merging, many = Merging(), [10_000_000] * (MOST_PARTS + 1)
    assert merging.allows(many, 3) and not merging.allows(many, 3)
    merging.begin()
    assert merging.allows([10] * 8, 3) and merging.allows([10] * 8, 3), "small ones do not wait"
    assert not merging.allows(many, 3) and merging.allows([10_000_000] * (2 * MOST_PARTS + 1), 3)
