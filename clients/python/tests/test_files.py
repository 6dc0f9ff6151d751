"""Files keep their contents when the power fails: they are on the disk before they get their names."""

from __future__ import annotations

import os
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
    for name in ("r.csv", "r.ndjson.gz", "r.xlsx"):
        survey.download(tmp_path / name)
    survey.save_stata(tmp_path / "r.dta")
    survey.save_spss(tmp_path / "r.sav")
    survey.mirror(tmp_path / "data", "month")
    found = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert found - {".lock"} == named - {"responses.csv"}  # from which the labelled files are made
