"""Relations to files. A file is written under another name first, and then replaces the one of its name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core import Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, system_errors
from .columns import TypeDefs
from .filenames import file_name
from .formats import TEXT_FORMATS, Row, TextFormat, table_format, text_format

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 1 << 14  # rows that are written at once


def write_relation(
    directory: Path,
    format: str,
    relation: Relation,
    typedefs: TypeDefs,
    rows: Iterable[Row],
    columns: Callable[[], Sequence[Any]],
    weights: Sequence[int] | None = None,
) -> Path:
    """Writes a relation as `directory/Name.format`. `weights`, of a multiset, say how often each row is
    written. Only columnar formats call `columns`. Raises DDlogError."""
    path = directory / file_name(relation.name, f".{format}")
    with replacing(path) as out:
        if format in TEXT_FORMATS:
            for text in _texts(text_format(format), relation, typedefs, rows, weights):
                out.write(text.encode("utf-8"))
            return path
        try:
            table_format(format).write(out, _table(format, relation, columns(), weights, typedefs))
        except ValueError as error:
            raise DDlogError([errors.CannotWrite(path=str(path), reason=str(error))]) from None
    return path


def _table(
    format: str, relation: Relation, columns: Sequence[Any], weights: Sequence[int] | None, typedefs: TypeDefs
) -> pa.Table:
    from .arrow import portable, to_table

    if not relation.columns:
        raise ValueError(f"{format.capitalize()} has no rows without columns, and {relation.name} has none")
    return portable(to_table(relation.titled_types, columns, typedefs, weights))


def row_writer(format: str, relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """A function that writes one row in a text format, its line end included. It raises DDlogError when the
    format cannot write a value."""
    return text_format(format).line(relation, typedefs)


def _texts(
    format: TextFormat,
    relation: Relation,
    typedefs: TypeDefs,
    rows: Iterable[Row],
    weights: Sequence[int] | None,
) -> Iterator[str]:
    """The file's text in pieces."""
    yield format.header(relation)
    line = format.line(relation, typedefs)
    write = format.lines(relation, typedefs) or (lambda batch: format.between.join(map(line, batch)))
    batch: list[Row] = []
    for position, row in enumerate(rows):
        if len(batch) >= _CHUNK:
            yield write(batch) + format.between
            batch = []
        batch.extend([row] * (weights[position] if weights is not None else 1))
    yield write(batch) + format.end


def make_directory(directory: Path) -> None:
    """Makes a directory for output, and checks that files can be written there. Raises DDlogError."""
    with system_errors(errors.CannotWrite, directory):
        from tempfile import TemporaryFile

        try:
            directory.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=directory):
                pass
        except FileExistsError:
            raise DDlogError([errors.NotADirectory(path=str(directory))]) from None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces `path`, or the file to which that links, when the block ends without an error. Who
    owns it and may read it stays. A pipe or a device is written to. Raises DDlogError."""
    temporary: Path | None = None
    with system_errors(errors.CannotWrite, path):
        if _is_device(path):
            sys.stdout.flush()
            with path.open("wb") as out:
                yield out
            return
        from tempfile import mkstemp

        try:
            target = Path(os.path.realpath(path))
            descriptor, name = mkstemp(prefix=".", dir=target.parent)
            temporary = Path(name)
            with os.fdopen(descriptor, "wb") as out:
                _permit(descriptor, target)
                yield out
            temporary.replace(target)
            temporary = None
        finally:
            if temporary is not None:
                with suppress(OSError):
                    temporary.unlink()


def _is_device(path: Path) -> bool:
    """Whether a path names a pipe or a device, such as /dev/stdout: no file can replace it."""
    return str(path).startswith(("/dev/std", "/dev/fd/")) or (path.exists() and not path.is_file())


def _permit(descriptor: int, target: Path) -> None:
    """Gives a new file the owner and the mode of the file that it replaces, if there is one."""
    try:
        known = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(descriptor, 0o666 & ~mask)
        return
    with suppress(PermissionError):
        os.fchown(descriptor, known.st_uid, known.st_gid)
    os.fchmod(descriptor, S_IMODE(known.st_mode))
