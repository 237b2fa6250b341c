"""The past of a state: what held after an epoch, and what the epoch changed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.console.progress import ProgressLine
from ddlog.console.shell import Shell
from ddlog.durability import folding
from ddlog.durability.history import Cut, History
from ddlog.durability.records import Stored
from ddlog.durability.sums import summed
from ddlog.sessions.persistence.durable import Durable
from tests.state.test_state import PROGRAM, apply, contents


@pytest.mark.parametrize("durability", ["commit", "interval"])
def test_the_past_is_what_it_was(
    tmp_path: Path, durability: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(folding, "MANY", 4)
    plain = PROGRAM.session()
    texts, then = [""], [contents(plain)]
    script = [[("Edge", n % 3 > 0, (n % 4, n % 3)), ("S", True, (n,))] for n in range(12)]
    script = [
        [*moves, ("M", n % 4 < 3, (1 << (40 * (n % 3)), (1, "q"), None, [1]))]
        for n, moves in enumerate(script)
    ]
    texts[0] = str(PROGRAM.session().start())
    with PROGRAM.session(state=tmp_path / "s", durability=durability) as kept:
        durable = kept.state.durable
        assert durable is not None
        for moves in script:
            texts.append(apply(plain, moves))
            then.append(contents(plain))
            apply(kept, moves)
            durable._folder.fold_if_due()
        for number in (12, 7, 2, 1):  # the first epoch is that of the program's facts
            assert contents(kept.at(number + 1)) == then[number]
            assert str(kept.changes_of(number + 1)) == texts[number]
        assert str(kept.changes_of(1)) == texts[0]
        with pytest.raises(ddlog.DDlogError, match="no record of epoch 14: the state has the epochs 1 to 13"):
            kept.at(14)
        shell = Shell(kept, ProgressLine(True))
        for text in ("state;", "? at 3: Edge(x, y)", "changes 13;"):
            shell.take(text)
        first = shell._past[1] if shell._past is not None else None
        shell.take("? at 4: Edge(x, y)")
        second = shell._past[1] if shell._past is not None else None
        assert first is not None and first.state.closed and second is not None and not second.state.closed
        shell.close()
        assert second.state.closed
        for text in ("changes 99;", "changes;", "? at x: Edge(x, y)"):
            shell.take(text)
    shown = capsys.readouterr()
    assert "history of the epochs 1 to 13" in shown.out and "(1 row," in shown.out and texts[12] in shown.out
    assert "no record of epoch 99" in shown.err
    assert "`changes;` names no epoch" in shown.err and "`? at x: Edge(x, y)` names no epoch" in shown.err
    with pytest.raises(ddlog.DDlogError, match="needs a session with a state"):
        plain.at(1)


def test_spans_are_read_while_commits_go_on(tmp_path: Path) -> None:
    with (
        PROGRAM.session(state=tmp_path / "s", durability="commit") as kept,
        ThreadPoolExecutor() as threads,
    ):
        durable = kept.state.durable
        assert durable is not None
        committed = threading.Event()

        def count() -> list[int]:  # as the thread that folds does
            found = []
            while not committed.is_set():
                found.append(len(durable.store.current()))
            return found

        counting = threads.submit(count)
        for n in range(200):
            kept.insert("Edge", (n, n))
            kept.commit()
        committed.set()
        found = counting.result()
        assert found == sorted(found) and len(durable.store.current()) == 201


def test_the_past_is_told_of_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans that are folded and removed while they are read are still told."""
    for name in ("MANY", "_LOOSE_BYTES", "_HISTORY_BYTES"):
        monkeypatch.setattr(folding, name, 1)
    with PROGRAM.session(state=tmp_path / "s", durability="commit") as kept:
        durable = kept.state.durable
        assert isinstance(durable, Durable)
        for n in range(1, 9):
            kept.insert("Edge", (n, n))
            kept.commit()
        edge = durable.store.relation("Edge")
        assert edge is not None
        with durable.past() as history:
            durable._folder.fold_if_due()
            assert len(durable.store.spans()) < 7
            for epoch in (3, 7):  # the first is that of the program's facts
                held = summed(list(history.held(edge, epoch)))
                assert sorted(held["x"].to_pylist()) == list(range(1, epoch))
        with pytest.raises(ddlog.DDlogError, match="no record of epoch 3"):
            kept.at(3)


def test_a_session_that_reads_beside_a_writer_has_the_past_until_its_epoch(tmp_path: Path) -> None:
    with PROGRAM.session(state=tmp_path / "s") as kept:
        kept.insert("Edge", (1, 2))
        kept.commit()
        with PROGRAM.session(state=tmp_path / "s", read_only=True) as reader:
            reader.start()
            kept.delete("Edge", (1, 2))
            kept.commit()
            assert [each.x for each in reader.at(2)["Edge"]] == [1] and not len(reader.at(1)["Edge"])
            assert "Path{.x = 1, .z = 2}: +1" in str(reader.changes_of(2))
            assert "epochs 1 to 2" in reader.described_state()[1]
            with pytest.raises(
                ddlog.DDlogError, match="no record of epoch 3: the state has the epochs 1 to 2"
            ):
                reader.at(3)


@pytest.mark.parametrize("durability", ["interval", "exit"])
def test_the_past_has_commits_that_are_not_on_disk(tmp_path: Path, durability: str) -> None:
    with PROGRAM.session(state=tmp_path / "s", durability=durability) as kept:
        for n in range(1, 4):
            kept.insert("Edge", (n, n))
            kept.commit()
            assert [each.x for each in kept.at(kept.epoch or 0)["Edge"]] == list(range(1, n + 1))
        assert len(kept.at(2)["Edge"]) == 1
        assert "Path{.x = 3, .z = 3}: +1" in str(kept.changes_of(4))
        assert "epochs 1 to 4" in kept.described_state()[1]


BAG = Stored(1, "Bag", "multiset", "input", False, (("x", "signed<64>"),), ())


@dataclass(frozen=True)
class Stretch:
    """The changes of some epochs, by epoch; `apart`: its rows say their epochs."""

    first: int
    last: int
    changes: Sequence[tuple[int, Counter[int]]]
    apart: bool = True

    def written(self, epoch: int) -> float:
        return 0.0


class Bags:
    """Reads the rows of stretches as bags with weights."""

    def sum(self, stored: Stored, some: Sequence[Cut[Stretch]]) -> list[Counter[int]]:
        found = Counter[int]()
        for cut in some:
            for epoch, changes in cut.span.changes:
                of = epoch if cut.span.apart else cut.span.last
                if cut.first <= of <= cut.last:
                    for row, weight in changes.items():
                        found[row] += cut.sign * weight
        return [found]

    def count(self, stored: Stored, some: Sequence[Cut[Stretch]]) -> int:
        return sum(map(len, self.sum(stored, some)))


def stretches(epochs: Sequence[tuple[int, Counter[int]]], ends: set[int], apart: bool) -> list[Stretch]:
    """Epochs as stretches, of which one ends at each of `ends`."""
    found: list[Stretch] = []
    since: list[tuple[int, Counter[int]]] = []
    for each in epochs:
        since.append(each)
        if each[0] in ends or each[0] == len(epochs):
            found.append(Stretch(since[0][0], each[0], since, apart or len(since) == 1))
            since = []
    return found


@given(
    st.lists(st.dictionaries(st.integers(0, 3), st.integers(-2, 2)), min_size=1, max_size=8),
    st.sets(st.integers(1, 8)),
    st.sets(st.integers(1, 8)),
    st.integers(1, 8),
    st.dictionaries(st.integers(0, 3), st.integers(1, 2)),
)
def test_what_held_is_the_sum_of_the_changes_however_they_are_folded(
    changes: list[dict[int, int]], ends: set[int], fine_ends: set[int], late: int, added: dict[int, int]
) -> None:
    """`late` is an epoch to which rows were added afterwards, in a span of their own."""
    late = min(late, len(changes))
    epochs = list(enumerate(map(Counter, changes), 1))
    more = Stretch(late, late, [(late, Counter(added))])
    current = [*stretches(epochs, ends | {late}, False), more]
    fine = [*stretches(epochs, fine_ends, True), more]
    history = History(current, fine, len(epochs), Bags())
    expected = Counter[int]()
    for epoch, change in epochs:
        whole = Counter[int]({row: change[row] + (epoch == late) * added.get(row, 0) for row in range(4)})
        for row, weight in whole.items():
            expected[row] += weight
        assert list(history.of_epoch(BAG, epoch)) == [whole]
        assert list(history.held(BAG, epoch)) == [expected]
    assert (history.first, history.last) == (1, len(epochs))
