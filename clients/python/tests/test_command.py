from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from service import DEMO_SURVEY, KEY, URL, Fault, Proxy, get
from survey_export import Client, __version__
from survey_export._cli import main

Run: TypeAlias = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command. Returns its status and what it wrote to stdout and stderr."""

    def run(*arguments: str, **env: str) -> tuple[object, str, str]:
        for name, text in env.items():
            monkeypatch.setenv(name, text)
        with pytest.raises(SystemExit) as exited:
            sys.exit(main([*arguments]))
        return exited.value.code, *capfd.readouterr()

    return run


def printed(finished: tuple[object, str, str]) -> str:
    """Return what a command wrote to stdout, if that is all."""
    assert (finished[0], finished[2]) == (0, "")
    return finished[1]


def test_surveys(run: Run) -> None:
    assert f"{DEMO_SURVEY}\thealthfood\thealthlater\thealthstart\n" in printed(run("surveys"))
    assert DEMO_SURVEY in [
        survey["name"] for survey in json.loads(printed(run("surveys", "--json")))
    ]


def test_download(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "w.csv.gz"
    userids = ["--userid=1", "--userid", "9272908327168660"]
    filters = ["--since", "2026-01-08", *userids, "--layout", "wide"]
    line = printed(run("download", DEMO_SURVEY, str(path), *filters))
    assert line == f"{path}: 1 records, {path.stat().st_size:,} bytes\n"
    selection = {"since": "2026-01-08", "userid": "9272908327168660", "layout": "wide"}
    expected = get("/responses/csv", survey=DEMO_SURVEY, **selection)
    assert gzip.decompress(path.read_bytes()) == expected
    described = json.loads(printed(run("download", DEMO_SURVEY, str(path), "--json")))
    assert described == {"file": str(path), "records": 3921, "bytes": path.stat().st_size}
    summary = f"-: 1 records, {len(expected):,} bytes\n"
    to_stdout = run("download", *filters, DEMO_SURVEY, "--url", URL, "-")
    assert to_stdout == (0, expected.decode(), summary)


def test_answers(run: Run) -> None:
    water = ["--column", "healthfood.water", "--top", "2"]
    assert printed(run("--url", URL, "answers", *water, DEMO_SURVEY)) == (
        "healthfood.water\t124\tA\nhealthfood.water\t113\tC\nhealthfood.water\t110\t(others)\n"
    )
    rows = json.loads(printed(run("--json", "answers", DEMO_SURVEY, *water, "--value", "label")))
    assert rows == Client().survey(DEMO_SURVEY).answers(
        column=water[1], top=2, value="label"
    ).to_dict("records")


@pytest.fixture
def terminal(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes stderr a terminal."""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)


@pytest.mark.usefixtures("terminal", "working_folder")
@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (lambda survey: survey.download("r.csv"), " responses\n"),
        (lambda survey: survey.download("r.xlsx"), " MB\n"),
        (lambda survey: survey.mirror("data", "month"), " of 3 months"),
        (lambda survey: survey.download("r.dta"), " MB\n"),
    ],
)
def test_progress_on_a_terminal(capfd: pytest.CaptureFixture[str], call: Any, shown: str) -> None:
    call(Client().survey(DEMO_SURVEY))
    written = capfd.readouterr().err
    assert shown in written
    assert written.endswith("\n")


@pytest.mark.usefixtures("terminal")
def test_no_progress_on_request(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Client().survey(DEMO_SURVEY).download(tmp_path / "r.csv", progress=False)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_says_on_a_terminal_what_it_waits_for(proxy: Proxy, run: Run) -> None:
    proxy.faults(Fault(status=503, headers={"Retry-After": "1"}))
    assert "\rtrying again in 1 s (503)" in run("surveys")[2]


@pytest.mark.usefixtures("terminal")
def test_interrupted(proxy: Proxy, tmp_path: Path, run: Run) -> None:
    proxy.faults(Fault(cut=99_000, error=KeyboardInterrupt()), path="/responses/")
    status, _, written = run("download", DEMO_SURVEY, str(tmp_path / "r.csv"))
    assert status == 1
    assert re.fullmatch(
        r"(?:\r[\d,]+ of [\d,]+ responses)+\nsurvey-export: interrupted; [^\r\n]*\n", written
    )


def test_a_reader_that_ends_early_is_no_error() -> None:
    command = [str(Path(sys.executable).with_name("survey-export")), "surveys"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)


def test_mirror(tmp_path: Path, run: Run) -> None:
    folder = str(tmp_path / "data")
    mirror = ["mirror", DEMO_SURVEY, folder, "--interval", "month", "--until", "2026-02-01"]
    assert printed(run(*mirror)) == f"{folder}: 1 added, 0 changed, 0 removed\n"
    described = json.loads(printed(run(*mirror, "--json")))
    assert described == {"added": [], "changed": [], "removed": []}


def test_codebook(run: Run) -> None:
    assert printed(run("codebook", DEMO_SURVEY)).startswith(
        "healthstart.consent\t400\tDo you want to take part?"
    )
    [entry] = json.loads(printed(run("codebook", DEMO_SURVEY, "--question-ref", "water", "--json")))
    assert entry["choices"][0] == {"value": "A", "label": "A tap at home"}


@pytest.mark.parametrize(
    ("status", "arguments", "env", "message"),
    [
        (1, ["surveys"], {"SURVEY_EXPORT_KEY": "sres_x"}, "Invalid Token."),
        (2, ["surveys"], {"SURVEY_EXPORT_URL": ""}, "SURVEY_EXPORT_URL"),
        (2, ["codebook", DEMO_SURVEY, *["--userid=" + "7" * 9000] * 9], {}, "too long"),
        (2, ["download", DEMO_SURVEY, "r.dta", "--layout", "long"], {}, "layout must be wide"),
        (1, ["download", DEMO_SURVEY, "missing/r.csv"], {}, "no folder missing"),
        (1, ["mirror", "no such survey", "data"], {}, "No responses were found"),
        (1, ["mirror", DEMO_SURVEY, "data", "--since", "yesterday"], {}, "since"),
        (2, ["mirror", DEMO_SURVEY], {}, "required: folder"),
        (2, ["mirror", DEMO_SURVEY, "data", "--interval", "week"], {}, "week"),
    ],
)
def test_failures(
    status: int,
    arguments: list[str],
    env: dict[str, str],
    message: str,
    run: Run,
    working_folder: Path,
) -> None:
    exited, printed, error = run(*arguments, **env)
    assert (exited, printed, error.count("\n")) == (status, "", 1)
    assert error.startswith("survey-export: ")
    assert message in error
    assert KEY not in error
    assert [*working_folder.iterdir()] == []


def test_help(run: Run) -> None:
    assert printed(run("--version")) == f"survey-export {__version__}\n"
    assert ".dta or .sav, is the format" in " ".join(printed(run("download", "--help")).split())
    assert "created if it is missing" in " ".join(printed(run("mirror", "--help")).split())


def test_nothing_to_list(run: Run) -> None:
    assert run("codebook", DEMO_SURVEY, "--since", "2100-01-01") == (0, "", "nothing is selected\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_failed_output(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [str(Path(sys.executable).with_name("survey-export")), "surveys"]
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        failed = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=env)
    assert (failed.returncode, failed.stderr) == (
        1,
        "survey-export: [Errno 28] No space left on device\n",
    )
