import gzip
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pytest

from answers import Answer
from service import DEMO_SURVEY, KEY, URL, Fault, get
from survey_export import Client, __version__
from survey_export._cli import main

Run: TypeAlias = Callable[..., tuple[object, str, str]]
COMMAND = str(Path(sys.executable).with_name("survey-export"))
HOSTILE = "\x1b]0;title\x07\x9b31m\x7f\u202e\u2028"


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


def test_surveys(run):
    assert f"{DEMO_SURVEY}\thealthfood\thealthlater\thealthstart\n" in printed(run("surveys"))
    assert DEMO_SURVEY in [
        survey["name"] for survey in json.loads(printed(run("surveys", "--json")))
    ]


def test_download(tmp_path, run):
    path = tmp_path / "w.csv.gz"
    userids = ["--userid=1", "--userid", "9272908327168660"]
    filters = ["--since", "2026-01-08", *userids, "--layout", "wide"]
    line = printed(run("download", DEMO_SURVEY, str(path), *filters))
    assert line == f"{path}: 1 records, {path.stat().st_size:,} bytes\n"
    selection = {"since": "2026-01-08", "userid": "9272908327168660", "layout": "wide"}
    expected = get("/responses/csv", survey=DEMO_SURVEY, **selection)
    assert gzip.decompress(path.read_bytes()) == expected
    described = json.loads(printed(run("download", DEMO_SURVEY, str(path), "--json")))
    assert described == {"file": str(path), "records": 3221, "bytes": path.stat().st_size}
    summary = f"-: 1 records, {len(expected):,} bytes\n"
    to_stdout = run("download", *filters, DEMO_SURVEY, "--url", URL, "-")
    assert to_stdout == (0, expected.decode(), summary)


def test_answers(demo, run):
    water = ["--column", "healthfood.water", "--top", "2"]
    assert printed(run("--url", URL, "answers", *water, DEMO_SURVEY)) == (
        "healthfood.water\t166\tA\nhealthfood.water\t95\tB\nhealthfood.water\t45\t(others)\n"
    )
    rows = json.loads(printed(run("--json", "answers", DEMO_SURVEY, *water, "--value", "label")))
    assert rows == demo.answers(column=water[1], top=2, value="label").to_dict("records")


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
    ],
)
def test_progress_on_a_terminal(capfd, call, shown):
    call(Client().survey(DEMO_SURVEY))
    written = capfd.readouterr().err
    assert shown in written
    assert written.endswith("\n")


@pytest.mark.usefixtures("terminal")
def test_no_progress_on_request(tmp_path, capfd):
    Client().survey(DEMO_SURVEY).download(tmp_path / "r.csv", progress=False)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_says_on_a_terminal_what_it_waits_for(proxy, run):
    proxy.faults(Fault(status=503, headers={"Retry-After": "1"}))
    assert "\rtrying again in 1 s (503)" in run("surveys")[2]


@pytest.mark.usefixtures("terminal")
def test_interrupted(proxy, tmp_path, run):
    proxy.faults(Fault(cut=99_000, error=KeyboardInterrupt()), path="/responses/")
    status, _, written = run("download", DEMO_SURVEY, str(tmp_path / "r.csv"))
    assert status == 1
    assert re.fullmatch(
        r"(?:\r[\d,]+ of [\d,]+ responses)+\nsurvey-export: interrupted; [^\r\n]*\n", written
    )


def test_a_reader_that_ends_early_is_no_error():
    process = subprocess.Popen([COMMAND, "surveys"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)
    closed = subprocess.run(["sh", "-c", f"{COMMAND} surveys >&-"], stderr=subprocess.PIPE)
    assert (closed.stderr, closed.returncode) == (b"", 0)


def test_mirror(tmp_path, run):
    folder = str(tmp_path / "data")
    mirror = ["mirror", DEMO_SURVEY, folder, "--interval", "month", "--until", "2026-02-01"]
    assert printed(run(*mirror)) == f"{folder}: 1 added, 0 changed, 0 removed\n"
    described = json.loads(printed(run(*mirror, "--json")))
    assert described == {"added": [], "changed": [], "removed": []}


def test_codebook(create_survey, run):
    assert printed(run("codebook", DEMO_SURVEY)).startswith(
        "healthstart.consent\t400\tDo you want to take part?"
    )
    [entry] = json.loads(printed(run("codebook", DEMO_SURVEY, "--question-ref", "water", "--json")))
    assert entry["choices"][0] == {"value": "A", "label": "A tap at home"}
    odd = create_survey([Answer("a\nb\tc", "1", "Is\n it?")])
    assert printed(run("codebook", odd.name)) == "form.a b c\t1\tIs  it?\n"


@pytest.mark.parametrize(
    ("status", "arguments", "env", "message"),
    [
        (1, ["surveys"], {"SURVEY_EXPORT_KEY": "sres_x"}, "Invalid Token."),
        (2, ["surveys"], {"SURVEY_EXPORT_URL": ""}, "SURVEY_EXPORT_URL"),
        (2, ["download", DEMO_SURVEY, "r.dta", "--layout", "long"], {}, "layout must be wide"),
        (1, ["download", DEMO_SURVEY, "missing/r.csv"], {}, "no folder missing"),
        (1, ["mirror", DEMO_SURVEY, "data", "--since", "yesterday"], {}, "since"),
        (2, ["mirror", DEMO_SURVEY], {}, "required: folder"),
    ],
)
def test_failures(status, arguments, env, message, run, working_folder):
    exited, printed, error = run(*arguments, **env)
    assert (exited, printed, error.count("\n")) == (status, "", 1)
    assert error.startswith("survey-export: ")
    assert message in error
    assert KEY not in error
    assert [*working_folder.iterdir()] == []


def test_help(run):
    assert printed(run("--version")) == f"survey-export {__version__}\n"
    assert "--require-question" in printed(run("download", "--help"))


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["codebook"], ""),
        (["answers", "--json"], "[]\n"),
        (["download", "r.csv"], "r.csv: 0 records, "),
        (["mirror", "data"], "data: 0 added, "),
    ],
)
def test_says_that_nothing_is_selected(run, arguments, shown):
    command, *others = arguments
    status, printed, told = run(command, DEMO_SURVEY, *others, "--shortcode", "nosuch")
    assert (status, told.count("\n"), "nothing is selected" in told) == (0, 1, True)
    assert printed.startswith(shown)


@pytest.mark.parametrize(
    "arguments",
    [
        ["answers"],
        ["codebook"],
        ["download", "-"],
        ["download", "r.sav"],
        ["download", f"{HOSTILE}/r.csv"],
        ["codebook", f"--{HOSTILE}"],
    ],
)
def test_no_control_character_of_others_reaches_a_terminal(
    create_survey, working_folder, arguments
):
    texts = [f"{HOSTILE}\nA. Yes\nB. No", f"{HOSTILE}\nA. No\nB. Yes"]
    survey = create_survey(
        [
            *[Answer("q", HOSTILE, text, f"{i}") for i, text in enumerate(texts)],
            *[Answer(HOSTILE, "A", text, f"{i}", version=i) for i, text in enumerate(texts)],
        ]
    )
    controller, terminal = pty.openpty()
    command, *others = arguments
    process = subprocess.Popen(
        [COMMAND, command, survey.name, *others], stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # at its end
        while piece := os.read(controller, 9999):
            shown += piece
    process.wait()
    assert "title" in shown.decode()
    assert re.findall(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e]", shown.decode()) == []


def test_prints_all_rows_in_any_encoding(create_survey):
    texts = ["plain", "日本", "🌊", "Água"]
    survey = create_survey([Answer("q", text, userid=text) for text in texts])
    env = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    env |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}

    def printed(*arguments):
        command = [COMMAND, arguments[0], survey.name, *arguments[1:]]
        return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout

    lines = printed("answers").decode("cp1252").splitlines()
    assert {line.split("\t")[2] for line in lines} == {"plain", "??", "?", "Água"}
    rows = json.loads(printed("answers", "--json", *(f"--userid={text}" for text in texts[1:])))
    assert {row["value"] for row in rows} == {*texts[1:]}
    assert printed("download", "-") == get("/responses/csv", survey=survey.name)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_failed_output(unbuffered):
    with Path("/dev/full").open("w") as full:
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        failed = subprocess.run(
            [COMMAND, "surveys"], stdout=full, stderr=subprocess.PIPE, text=True, env=env
        )
    assert (failed.returncode, failed.stderr) == (
        1,
        "survey-export: [Errno 28] No space left on device\n",
    )
