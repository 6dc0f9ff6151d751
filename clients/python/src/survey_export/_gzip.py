"""Gzip files whose bytes depend on their contents alone."""

from __future__ import annotations

import gzip
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_gzip(path: Path) -> Generator[gzip.GzipFile]:
    """Create a gzip file without a name and a time in it."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
        yield file
