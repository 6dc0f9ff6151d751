"""Files that get their names when they are complete, and locks, which end with the process."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ._errors import SurveyExportError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def opened(path: Path, mode: str) -> Generator[IO[bytes]]:
    """Open a file to write it. Any error then names it, also that of a full disk."""
    try:
        with cast(IO[bytes], path.open(mode)) as file:
            yield file
    except OSError as error:
        if error.errno and not error.filename:
            error.filename = str(path)
        raise


@contextmanager
def open_locked(path: Path) -> Generator[IO[bytes] | None]:
    """Open a file to append to it, or create it. Yield None if another process has it open."""
    with opened(path, "a+b") as file:
        try:
            _try_lock(file)
            # The process that had the lock may have renamed the file since it was opened here.
            is_free = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, PermissionError, FileNotFoundError):
            is_free = False
        yield file if is_free else None


@contextmanager
def open_gzip(path: Path) -> Generator[gzip.GzipFile]:
    """Create a gzip file whose bytes depend on its contents alone: it has no name and no time."""
    with (
        opened(path, "wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file,
    ):
        yield file


def check_folder(path: Path) -> None:
    """Raise SurveyExportError if the file's folder is missing, or a folder has its name."""
    if path.is_dir():
        raise SurveyExportError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise SurveyExportError(f"there is no folder {path.parent}")


def replace(path: Path, new: Path, content: bytes) -> None:
    """Replace a file by another, which has this content."""
    with opened(new, "wb") as file:
        file.write(content)
    put(new, path)


def put(new: Path, path: Path) -> None:
    """Rename a file once its contents are on the disk: it is complete after a power failure too."""
    with opened(new, "rb+") as file:
        os.fsync(file.fileno())
    new.replace(path)
