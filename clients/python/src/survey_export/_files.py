"""Files that get their names when they are complete."""

from __future__ import annotations

import gzip
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_gzip(path: Path) -> Generator[gzip.GzipFile]:
    """Create a gzip file without a name and a time in it, so that its bytes depend on its contents alone."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
        yield file


def put(new: Path, path: Path) -> None:
    """Rename a file whose contents are on the disk by then, so that it is complete also after a power failure."""
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    new.replace(path)
