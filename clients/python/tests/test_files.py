"""Files keep their contents when the power fails: they are on the disk before they are named."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service import DEMO_SURVEY
from survey_export import Client


def test_files_are_on_the_disk_before_they_get_their_names(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: dict[int, int] = {}
    named: set[str] = set()
    fsync, replace = os.fsync, Path.replace

    def note(descriptor: int) -> None:
        fsync(descriptor)
        status = os.fstat(descriptor)
        on_disk[status.st_ino] = status.st_size

    def check(new: Path, path: Any) -> Path:
        status = new.stat()
        assert on_disk.get(status.st_ino) == status.st_size > 0, path
        named.add(path.name)
        return replace(new, path)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(Path, "replace", check)
    survey = client.survey(DEMO_SURVEY)
    for name in ("r.csv", "r.ndjson.gz", "r.xlsx", "r.dta", "r.sav"):
        survey.download(tmp_path / name)
    survey.mirror(tmp_path / "data", "month")
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
        (
            lambda survey: survey.mirror("data", "month"),
            20_000,
            r"data/\.new/responses/[\d-]+\.csv\.gz",
        ),
        (lambda survey: survey.frame(), 9000, r"\S+/responses\.csv"),
        (lambda survey: survey.download("r.dta"), 160_000, r"r\.dta\.\w+\.part/r\.dta"),
        (lambda survey: survey.download("r.sav"), 160_000, r"r\.sav\.\w+\.part/r\.sav"),
    ],
)
def test_full_disk_is_an_error_with_its_path(
    client: Client, tmp_path: Path, call: Any, limit: int, path: str
) -> None:
    """Nothing has the name of a complete file then. The next run completes it."""
    with full_disk(limit), pytest.raises(OSError, match=rf"^\[Errno \d+\] [\w ]+: '{path}'$"):
        call(client.survey(DEMO_SURVEY))
    complete = {
        found.name for found in tmp_path.rglob("*") if found.is_file() and "part" not in found.name
    }
    assert complete <= {".lock", "datapackage.json", "manifest.json", "form-data.csv"}
    call(client.survey(DEMO_SURVEY))
