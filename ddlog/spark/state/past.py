"""The history of a state in a folder: the changes of epochs that were folded, each epoch by itself.

    log/0000000217.json             names data/0000000200-5f3a/past.json
    data/0000000200-5f3a/past.json  names the files of pieces of history, the oldest first
    data/0000000200-5f3a/past-3/    rows of several epochs, with the epoch of each in the column `$epoch`

A fold adds what it folds, and writes a new `past.json`; so commits cost the same with a history. Small pieces
that follow each other become one, until they have as many rows as the driver reads at once: there are few
files, and a row is written again a number of times that is the logarithm of that. Large ones stay where they
are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ...durability.chains import following
from .manifest import FolderSpan, RowFiles, StoredFile, parts_of
from .rows import FEW, check_files

if TYPE_CHECKING:
    import pyarrow as pa

    from .files import Files
    from .rows import RelationRows

LEAST_BYTES: Final = 4 << 20
"""The bytes of history that are kept of any state; of a large one, half of its current bytes are."""

MOST_EPOCHS: Final = 10_000
"""The most epochs that are kept apart."""

MOST_PIECES: Final = 256
"""The most pieces that they are in."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The changes of some epochs. `apart`: the rows say their epochs; otherwise there is one epoch. `times`
    are when the epochs were written."""

    first: int
    last: int
    apart: bool
    parts: tuple[RowFiles, ...]
    times: tuple[int, ...]

    def written(self, epoch: int) -> float:
        """When an epoch was written."""
        return self.times[epoch - self.first]

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def bytes(self) -> int:
        """The bytes of all files."""
        return sum(each.bytes for each in self.files())

    def files(self) -> Iterator[StoredFile]:
        """All files."""
        for part in self.parts:
            yield from part.files


def packed(pieces: Sequence[Piece]) -> bytes:
    """The contents of the file of the past."""
    return json.dumps([asdict(each) for each in pieces], separators=(",", ":")).encode()


def unpacked(data: bytes) -> tuple[Piece, ...]:
    """The history that a file names. Raises ValueError, KeyError and TypeError."""
    read: Any = json.loads(data)
    return tuple(
        Piece(**{**each, "parts": parts_of(each["parts"]), "times": tuple(each["times"])}) for each in read
    )


def loose(spans: Iterable[FolderSpan], migrated: int) -> list[Piece]:
    """The epochs that spans hold each by itself, as far as the past is told."""
    found: list[Piece] = []
    for span in spans:
        if span.folded or span.first != span.last or span.last <= migrated:
            continue
        if span.kind == "epochs":
            found.append(Piece(span.first, span.last, False, span.parts, (span.time,)))
        elif found and found[-1].last == span.last:  # what was added to an epoch counts as its change
            found[-1] = Piece(span.first, span.last, False, (*found[-1].parts, *span.parts), found[-1].times)
    return found


Join = Callable[[Sequence[Piece], str], Piece]
"""Makes one piece of several, in a folder of this name."""


def grown(pieces: Sequence[Piece], current: int, join: Join) -> tuple[Piece, ...]:
    """The history of some pieces: small ones are brought together, and the oldest are left out if all are
    large beside the `current` bytes of the state. Raises what `join` raises."""
    room = max(LEAST_BYTES, current // 2)
    groups: list[list[Piece]] = []
    for piece in following(pieces, max(piece.last for piece in pieces)):
        groups.append([piece])
        while len(groups) > 1 and _belong(groups[-2], groups[-1], room // 8):
            groups[-2:] = [[*groups[-2], *groups[-1]]]
    found: list[Piece] = []
    size = epochs = 0
    for number, group in enumerate(reversed(groups[-MOST_PIECES:])):
        piece = group[0] if len(group) == 1 else join(group, f"past-{number}")
        size, epochs = size + piece.bytes, epochs + piece.last - piece.first + 1
        if size > room or epochs > MOST_EPOCHS:
            break
        found.append(piece)
    return tuple(found[::-1])


def _belong(before: Sequence[Piece], after: Sequence[Piece], most: int) -> bool:
    """Whether two groups of pieces become one, of so many bytes at most."""
    one, two = _size(before), _size(after)
    rows = sum(piece.rows for piece in (*before, *after))
    written = sum(piece.bytes for piece in (*before, *after))
    epochs = after[-1].last - before[0].first + 1
    return one <= 2 * two and rows <= FEW and written <= most and epochs <= MOST_EPOCHS // 8


def _size(group: Sequence[Piece]) -> int:
    return sum(piece.rows for piece in group) + group[-1].last - group[0].first + 1


def joined(files: Files, rows: Mapping[int, RelationRows], group: Sequence[Piece], folder: str) -> Piece:
    """One piece of several, in a folder, but for relations without `rows`. Raises OSError, and DDlogError if
    they are not what was written."""
    import pyarrow as pa

    check_files(None, files, [each for piece in group for each in piece.files()])
    tables: dict[int, list[pa.Table]] = {}
    for piece in group:
        for part in piece.parts:
            if part.relation in rows and part.rows:
                tables.setdefault(part.relation, []).append(
                    rows[part.relation].read_epochs(files, part, piece.last)
                )
    parts = tuple(
        rows[id].write(files, folder, pa.concat_tables(some).combine_chunks()) for id, some in tables.items()
    )
    times = tuple(time for piece in group for time in piece.times)
    return Piece(group[0].first, group[-1].last, True, parts, times)
