"""The files of a state below one folder: on this machine, or on any file system of Hadoop."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OBJECTS: Final = frozenset({"s3a", "s3", "s3n", "gs", "oss", "cosn", "obs"})
"""Stores in which a file appears whole when it is closed, and a rename copies."""


class Files(Protocol):
    """Files by their names below the folder `root`. All methods raise OSError."""

    root: str

    def prepare(self) -> None:
        """Makes the folder, if it is missing."""

    def read(self, name: str) -> bytes:
        """The contents of a file."""

    def write(self, name: str, data: bytes) -> None:
        """Writes a file, which lasts when this returns."""

    def create(self, name: str, data: bytes) -> None:
        """Writes a file that is there whole or not at all. Raises FileExistsError if it is there."""

    def sizes(self, folder: str) -> dict[str, int]:
        """The names and sizes of the files in a folder; none if the folder is missing."""

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder; none if the folder is missing."""

    def delete(self, name: str) -> None:
        """Deletes a file, or a folder with all in it."""

    def settle(self, folder: str) -> None:
        """Lets the files last that others have written to a folder."""

    def url(self, name: str) -> str:
        """The name by which Spark finds a file."""


class LocalFiles:
    """A folder that this machine sees, and on a cluster all others, too. See `Files`. A link in it that leads
    elsewhere is an error: the folder may be a stranger's."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = str(root), root

    def prepare(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    def read(self, name: str) -> bytes:
        return self._at(name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        path = self._at(name)
        os.stat(self.path)  # a state that was moved away does not begin anew here
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._sync(path.parent)

    def create(self, name: str, data: bytes) -> None:
        draft = f"{name}.new"
        self.write(draft, data)
        path = self._at(name)
        try:
            os.link(self.path / draft, path)  # unlike a rename, it never replaces a file
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the lock keeps others away
            if path.exists():
                raise FileExistsError(str(path)) from None
            os.rename(self.path / draft, path)
        else:
            os.unlink(self.path / draft)
        self._sync(path.parent)

    def sizes(self, folder: str) -> dict[str, int]:
        files = (each for each in self._list(folder) if each.is_file(follow_symlinks=False))
        return {each.name: each.stat().st_size for each in files}

    def folders(self, folder: str) -> list[str]:
        return sorted(each.name for each in self._list(folder) if each.is_dir(follow_symlinks=False))

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            return list(os.scandir(self._at(folder)))
        except FileNotFoundError:
            return []

    def delete(self, name: str) -> None:
        path = self._at(name)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    def settle(self, folder: str) -> None:
        path = self._at(folder)
        for file in path.iterdir():
            _sync(file)
        self._sync(path)

    def url(self, name: str) -> str:
        return f"file://{self.path / name}"

    def _at(self, name: str) -> Path:
        """The place of a name. Raises OSError if a link leads to another one."""
        if os.path.realpath(self.path / name) != os.path.join(os.path.realpath(self.path), name).rstrip("/"):
            raise OSError(errno.ELOOP, "a link in the state leads to another place", str(self.path / name))
        return self.path / name

    def _sync(self, folder: Path) -> None:
        while True:
            _sync(folder)
            if folder in (self.path, folder.parent):
                return
            folder = folder.parent


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


class HadoopFiles:
    """A folder on a file system of Hadoop, such as hdfs: or s3a:. See `Files`."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.root = root.rstrip("/")
        context: Any = spark.sparkContext
        self._jvm = context._jvm
        self._objects = root.partition(":")[0].lower() in _OBJECTS
        with _as_os_errors(root):
            self._files = self._at("").getFileSystem(context._jsc.hadoopConfiguration())

    def prepare(self) -> None:
        with _as_os_errors(self.root):
            self._files.mkdirs(self._at(""))

    def read(self, name: str) -> bytes:
        with _as_os_errors(name):
            stream = self._files.open(self._at(name))
            try:
                return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()

    def write(self, name: str, data: bytes) -> None:
        self._write(name, data, True)

    def create(self, name: str, data: bytes) -> None:
        if self._objects:
            self._write(name, data, False)
            return
        draft = f"{name}.new"
        self._write(draft, data, True)
        with _as_os_errors(name):
            if self._files.exists(self._at(name)) or not self._files.rename(self._at(draft), self._at(name)):
                raise FileExistsError(name)

    def _write(self, name: str, data: bytes, over: bool) -> None:
        with _as_os_errors(name):
            stream = self._files.create(self._at(name), over)
            try:
                stream.write(bytearray(data))
                if not self._objects:
                    stream.hsync()
            finally:
                stream.close()

    def sizes(self, folder: str) -> dict[str, int]:
        return {each.getPath().getName(): each.getLen() for each in self._list(folder) if each.isFile()}

    def folders(self, folder: str) -> list[str]:
        return sorted(each.getPath().getName() for each in self._list(folder) if each.isDirectory())

    def _list(self, folder: str) -> list[Any]:
        with _as_os_errors(folder):
            try:
                return list(self._files.listStatus(self._at(folder)))
            except Exception as error:
                if "FileNotFoundException" in str(error):
                    return []
                raise

    def delete(self, name: str) -> None:
        with _as_os_errors(name):
            self._files.delete(self._at(name), True)

    def settle(self, folder: str) -> None:
        """Nothing: a file that is closed is with the store."""

    def url(self, name: str) -> str:
        return f"{self.root}/{name}"

    def renewed(self, name: str) -> int:
        """When a file was last written, by the clock of the store."""
        with _as_os_errors(name):
            return int(self._files.getFileStatus(self._at(name)).getModificationTime())

    def move(self, name: str, to: str) -> bool:
        """Gives a file another name; returns whether it was there."""
        with _as_os_errors(name):
            return bool(self._files.rename(self._at(name), self._at(to)))

    def _at(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.root}/{name}" if name else self.root)


@contextmanager
def _as_os_errors(name: str) -> Iterator[None]:
    """Turns exceptions of Java inside into OSErrors."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        text = _reason(error)
        if "FileNotFoundException" in text:
            raise FileNotFoundError(name) from None
        if "FileAlreadyExistsException" in text:
            raise FileExistsError(name) from None
        raise OSError(text) from None


def _reason(error: Exception) -> str:
    """The class and the message of an exception of Java, or its text, on one line."""
    java = getattr(error, "java_exception", None)
    text = str(java.toString()) if java is not None else str(error)
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def local_folder(place: str) -> Path | None:
    """The folder of this machine that a path or a `file:` URL names; None for another URL."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", place)
    if scheme is None:
        return Path(place).absolute()
    if scheme.group(1).lower() != "file":
        return None
    return Path(re.sub(r"\A//(?=/)", "", place[len("file:") :])).absolute()
