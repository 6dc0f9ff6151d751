"""Files keep their contents when the power fails, since they are on the disk before they get their names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service import DEMO_SURVEY, KEY, URL
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


@pytest.mark.parametrize(
    ("call", "limit", "path"),
    [
        ("download('r.csv')", 10, r"r\.csv\.\w+\.part"),
        ("download('r.csv')", 9000, r"r\.csv\.\w+\.part"),
        ("download('w.csv', layout='wide')", 9000, r"w\.csv\.\w+\.part"),
        ("download('r.xlsx')", 9000, r"r\.xlsx\.\w+\.part"),
        ("mirror('data')", 10, r"data/\.new/form-data\.csv"),
        ("mirror('data', 'month')", 20_000, r"data/\.new/responses/[\d-]+\.csv\.gz"),
        ("frame()", 9000, r"\S+/responses\.csv"),
        ("save_stata('r.dta')", 160_000, r"r\.dta\.part"),
        ("save_spss('r.sav')", 160_000, r"r\.sav\.part"),
    ],
)
def test_full_disk_is_an_error_with_its_path(tmp_path: Path, call: str, limit: int, path: str) -> None:
    program = (
        f"import resource; from survey_export import Client; survey = Client().survey({DEMO_SURVEY!r})\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        f"try: survey.{call}\n"
        "except OSError as error: print(error)"
    )
    env = {**os.environ, "SURVEY_EXPORT_URL": URL, "SURVEY_EXPORT_KEY": KEY}
    command = [sys.executable, "-B", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(rf"\[Errno \d+\] [\w ]+: '{path}'\n", done.stdout), done.stdout
