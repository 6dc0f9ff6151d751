from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from service import DEMO_SURVEY, KEY, URL, get


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command that pip has installed."""
    command = Path(sys.executable).with_name("survey-export")
    settings = {"SURVEY_EXPORT_URL": URL, "SURVEY_EXPORT_KEY": KEY, "PYTHONUTF8": "1", **env}
    return subprocess.run([command, *arguments], capture_output=True, encoding="utf-8", env={**os.environ, **settings})


def printed(*arguments: str) -> str:
    finished = run(*arguments)
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def test_surveys() -> None:
    assert f"{DEMO_SURVEY}\thealthfood\thealthlater\thealthstart\n" in printed("surveys")
    assert DEMO_SURVEY in [survey["name"] for survey in json.loads(printed("surveys", "--json"))]


def test_download(tmp_path: Path) -> None:
    path = tmp_path / "w.csv.gz"
    filters = ["--since", "2026-01-08", "--userid", "1", "--userid", "9272908327168660", "--layout", "wide"]
    assert printed("download", DEMO_SURVEY, str(path), *filters) == ""
    expected = get("/responses/csv", survey=DEMO_SURVEY, since="2026-01-08", userid="9272908327168660", layout="wide")
    assert gzip.decompress(path.read_bytes()) == expected
    assert json.loads(printed("download", DEMO_SURVEY, str(path), "--json")) == {
        "file": str(path),
        "bytes": path.stat().st_size,
    }


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "survey_export", "download", DEMO_SURVEY, str(tmp_path / "r.csv")]
    env = {**os.environ, "SURVEY_EXPORT_URL": URL, "SURVEY_EXPORT_KEY": KEY}
    subprocess.run(command, stderr=terminal, check=True, env=env)
    os.close(terminal)  # so that reading ends, also if nothing was written
    with open(ours, "rb", buffering=0) as output:  # noqa: PTH123
        assert b" responses\r\n" in output.read(65536)


def test_mirror(tmp_path: Path) -> None:
    mirror = ["mirror", DEMO_SURVEY, str(tmp_path / "data"), "--interval", "month", "--until", "2026-02-01"]
    assert printed(*mirror) == f"{tmp_path / 'data'}: 1 added, 0 changed, 0 removed\n"
    assert json.loads(printed(*mirror, "--json")) == {"added": [], "changed": [], "removed": []}


def test_codebook() -> None:
    assert printed("codebook", DEMO_SURVEY).startswith("healthstart.consent\t400\tDo you want to take part?")
    [entry] = json.loads(printed("codebook", DEMO_SURVEY, "--question-ref", "water", "--json"))
    assert entry["choices"][0] == {"value": "A", "label": "A tap at home"}


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (["surveys"], {"SURVEY_EXPORT_KEY": ""}, "SURVEY_EXPORT_KEY"),
        (["surveys"], {"SURVEY_EXPORT_KEY": "sres_x"}, "Invalid Token."),
        (["surveys"], {"SURVEY_EXPORT_URL": ""}, "URL"),
        (["surveys"], {"SURVEY_EXPORT_URL": "https://x:abc"}, "URL of the service"),
        (["codebook", DEMO_SURVEY, *["--userid=" + "7" * 9000] * 9], {}, "too long"),
        (["download", DEMO_SURVEY, "r.txt"], {}, "must end in"),
        (["download", DEMO_SURVEY, "missing/r.csv"], {}, "No such file"),
        (["download", DEMO_SURVEY, "/dev/full/r.csv"], {}, "Not a directory"),
        (["mirror", "no such survey", "data"], {}, "No responses were found"),
        (["mirror", DEMO_SURVEY], {}, "required: folder"),
        (["mirror", DEMO_SURVEY, "data", "--interval", "week"], {}, "week"),
        (["codebook", DEMO_SURVEY, "--since", "yesterday"], {}, "since"),
        ([], {}, "required"),
    ],
)
def test_failures(arguments: list[str], env: dict[str, str], message: str, tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    failed = run(*arguments, **env)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert failed.stderr.startswith("survey-export: ")
    assert message in failed.stderr
    assert KEY not in failed.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_failed_output(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "survey_export", "surveys"]
        env = {**os.environ, "SURVEY_EXPORT_URL": URL, "SURVEY_EXPORT_KEY": KEY, "PYTHONUNBUFFERED": unbuffered}
        failed = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=env)
    assert (failed.returncode, failed.stderr) == (1, "survey-export: [Errno 28] No space left on device\n")
