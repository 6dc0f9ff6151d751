"""Locks of the operating system, which end with the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

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
def open_locked(path: Path) -> Generator[IO[bytes] | None]:
    """Open a file to append to it, created if it is missing. Yield None if another process has it open."""
    with path.open("a+b") as file:
        try:
            _try_lock(file)
            # The process that had the lock may have renamed the file since it was opened here.
            is_free = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, PermissionError, FileNotFoundError):
            is_free = False
        yield file if is_free else None
