"""Files keep their contents when the power fails: they are on the disk before they are named."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def test_files_are_on_the_disk_before_they_get_their_names(demo, tmp_path, monkeypatch):
    on_disk: dict[int, int] = {}
    named: set[str] = set()
    fsync, replace = os.fsync, Path.replace

    def note(descriptor):
        fsync(descriptor)
        status = os.fstat(descriptor)
        on_disk[status.st_ino] = status.st_size

    def check(new, path):
        status = new.stat()
        assert on_disk.get(status.st_ino) == status.st_size > 0, path
        named.add(path.name)
        return replace(new, path)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(Path, "replace", check)
    for name in ("r.csv", "r.ndjson.gz", "r.xlsx", "r.dta", "r.sav"):
        demo.download(tmp_path / name)
    demo.mirror(tmp_path / "data", "month")
    found = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert found - {".lock"} == named - {"responses.csv"}  # from which the labelled files are made


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """Let no file become larger than so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("call", "limit", "path"),
    [
        (lambda survey: survey.download("r.csv"), 9000, r"r\.csv\.\w+\.part"),
        (lambda survey: survey.download("r.xlsx"), 9000, r"r\.xlsx\.\w+\.part"),
        (lambda survey: survey.mirror("data", "month"), 20_000, r"data/\.new/\S+\.csv\.gz"),
        (lambda survey: survey.frame(), 9000, r"\S+/responses\.csv"),
        (lambda survey: survey.download("r.dta"), 160_000, r"r\.dta\.\w+\.part/r\.dta"),
        (lambda survey: survey.download("r.sav"), 160_000, r"r\.sav\.\w+\.part/r\.sav"),
    ],
)
def test_full_disk_is_an_error_with_its_path(demo, tmp_path, call, limit, path):
    """Nothing has the name of a complete file then. The next run completes it."""
    with full_disk(limit), pytest.raises(OSError, match=rf"^\[Errno \d+\] [\w ]+: '{path}'$"):
        call(demo)
    complete = {
        found.name for found in tmp_path.rglob("*") if found.is_file() and "part" not in found.name
    }
    assert complete <= {".lock", "datapackage.json", "manifest.json", "form-data.csv"}
    call(demo)
