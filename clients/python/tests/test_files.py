"""Files keep their contents when the power fails, since they are on the disk before they get their names."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from mirrors import assert_exact, files_of
from service import DEMO_SURVEY, Proxy, Study, run_python
from survey_export import Client, Survey


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
    done = run_python(program, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(rf"\[Errno \d+\] [\w ]+: '{path}'\n", done.stdout), done.stdout


def test_full_disk_is_one_sentence_and_loses_nothing(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    survey.mirror(tmp_path / "data")
    study.add(["2026-03-05"], 200)
    before = files_of(tmp_path / "data")
    for command, target in [("mirror", "data"), ("download", "r.csv"), ("download", "r.csv.gz")]:
        limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
        program = f"{limit}; from survey_export._cli import main; sys.exit(main())"
        failed = run_python(program, "--url", proxy.url, command, study.name, target, cwd=tmp_path)
        assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)
        assert "File too large" in failed.stderr
    assert not {"r.csv", "r.csv.gz"} & files_of(tmp_path).keys()
    assert files_of(tmp_path / "data") == before
    survey.mirror(tmp_path / "data")
    assert_exact(tmp_path / "data", study)
    survey.download(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == study.export()
