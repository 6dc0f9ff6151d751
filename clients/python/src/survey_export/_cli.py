"""The command `survey-export`."""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, TypeAlias

from ._client import Client
from ._errors import SurveyExportError
from ._frame import answer_rows
from ._line import printable
from ._parameters import Parameter

_Output: TypeAlias = tuple[Any, list[str]]
"""What a command prints with `--json`, and the lines that it prints without."""

_ARGUMENTS = {
    "survey": "the survey's name, as `survey-export surveys` lists it",
    "file": "the file to write; its ending, .csv, .ndjson (also .gz), .xlsx, .dta or .sav, "
    "is the format; - prints CSV",
    "folder": "the folder of the copy, created if it is missing; "
    "each survey and selection needs its own",
}
_FILTERS = {
    "since": "responses at this time or later, such as 2026-03-01",
    "until": "responses before this time",
    "question_ref": "answers to this question",
    "shortcode": "responses to this form",
    "userid": "responses of this participant",
}
_RECORDS = {
    "value": "wide layout: response, translated, translated_label or label",
    "repeats": "wide layout: last, first or drop",
    "columns": "wide layout: form_question or question",
    "require_metadata": "wide layout: leave out participants without this key",
    "require_question": "wide layout: leave out participants without an answer to this question",
}
_FORMATS = {
    "layout": "long or wide (.csv, .xlsx); files for Stata (.dta) and SPSS (.sav) are wide",
    **_RECORDS,
    "metadata": "a key of the metadata, which becomes a column",
    "arm": "a treatment arm such as seed_2, which becomes a column",
    "omit": "long layout: leave out this column",
    "timing": "wide layout: true adds how long the answers took",
    "numbers": "wide layout of .xlsx: true makes numbers of answers that are all numbers",
}
_ANSWERS = {
    **_RECORDS,
    "column": "only the answers in this column of the wide layout",
    "top": "how many answers to list for each question (default: 20)",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(_failed(message, 2))


def main(arguments: list[str] | None = None) -> int:
    """Run the command. Return its exit status.

    It is 0, or 1 after one sentence on stderr, or 2 after one if an argument is wrong.
    """
    if sys.stdout is None:  # as with >&-
        sys.stdout = io.TextIOWrapper(io.BytesIO())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # what its encoding does not have
    options = _parser().parse_args(arguments, argparse.Namespace(url=None, json=False, file=None))
    try:
        with Client(options.url) as client, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            value, lines = options.run(client, options)
        for warning in caught:
            _tell(str(warning.message))

        if options.json:
            lines = [json.dumps(value, default=asdict)]
        output = sys.stderr if options.file == "-" else sys.stdout
        for line in lines:
            print(printable(line) if output.isatty() else line, file=output)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _failed("interrupted; the next run continues")
    except SurveyExportError as error:
        return _failed(f"{error} (request {error.request_id})" if error.request_id else str(error))
    except (OSError, UnicodeError) as error:
        # What a full stdout still holds would fail again as Python exits, with status 120.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # as in `survey-export surveys | head`
            return 0
        return _failed(str(error))
    except ValueError as error:
        return _failed(str(error), 2)
    return 0


def _failed(reason: str, status: int = 1) -> int:
    _tell(reason)
    return status


def _tell(sentence: str) -> None:
    print(printable(f"survey-export: {' '.join(sentence.split())}"), file=sys.stderr)


def _tell_if_empty(records: object) -> None:
    if not records:
        _tell("nothing is selected: check the names and times in the options")


def _parser() -> argparse.ArgumentParser:
    # These options can stand before and after the name of a command.
    everywhere = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    everywhere.add_argument(
        "--url", help="where the service is; by default the environment variable SURVEY_EXPORT_URL"
    )
    everywhere.add_argument("--json", action="store_true", help="print JSON")
    everywhere.add_argument(
        "--version", action="version", version=f"survey-export {version('survey-export')}"
    )
    parser = _Parser(
        prog="survey-export",
        description="Downloads survey responses. "
        "Your API key is read from the environment variable SURVEY_EXPORT_KEY.",
        parents=[everywhere],
    )
    commands = parser.add_subparsers(
        required=True, metavar="surveys | download | mirror | codebook | answers"
    )

    def add(run: Callable[..., _Output], *names: str, **parameters: str) -> Any:
        command = commands.add_parser(
            run.__name__[1:],
            help=run.__doc__,
            description=run.__doc__,
            epilog="An option can be given several times, for several values.",
            parents=[everywhere],
        )
        for argument in names:
            command.add_argument(argument, help=_ARGUMENTS[argument])
        for parameter, meaning in parameters.items():
            command.add_argument(f"--{parameter.replace('_', '-')}", action="append", help=meaning)
        command.set_defaults(run=run)
        return command

    add(_surveys)
    add(_download, "survey", "file", **_FILTERS, **_FORMATS)
    mirror = add(_mirror, "survey", "folder", **_FILTERS)
    mirror.add_argument(
        "--interval", choices=["day", "hour", "month"], default="day", help="default: day"
    )
    add(_codebook, "survey", **_FILTERS)
    add(_answers, "survey", **_FILTERS, **_ANSWERS)
    return parser


def _parameters(options: argparse.Namespace) -> dict[str, Parameter]:
    given = vars(options)
    return {name: given[name] for name in (*_FILTERS, *_FORMATS, *_ANSWERS) if given.get(name)}


def _surveys(client: Client, _: argparse.Namespace) -> _Output:
    """List the surveys of your account."""
    surveys = client.surveys()
    if not surveys:
        _tell("your account has no surveys")
    lines = [_line(survey.name, *(form.shortcode for form in survey.forms)) for survey in surveys]
    return surveys, lines


def _download(client: Client, options: argparse.Namespace) -> _Output:
    """Download responses into a file."""
    with TemporaryDirectory() if options.file == "-" else nullcontext() as folder:
        path = Path(folder, "responses.csv") if folder else Path(options.file)
        records = client.survey(options.survey).download(
            path, progress=None, **_parameters(options)
        )
        if folder and sys.stdout.isatty():
            with path.open(encoding="utf-8", newline="") as text:
                sys.stdout.writelines(map(printable, text))
        elif folder:
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        size = path.stat().st_size
    _tell_if_empty(records)
    described = {"file": options.file, "records": records, "bytes": size}
    return described, [f"{options.file}: {records:,} records, {size:,} bytes"]


def _mirror(client: Client, options: argparse.Namespace) -> _Output:
    """Bring a copy of a survey up to date."""
    survey = client.survey(options.survey)
    changes = survey.mirror(options.folder, options.interval, **_parameters(options))
    _tell_if_empty([*Path(options.folder, "responses").glob("*")])
    counts = [f"{len(starts)} {kind}" for kind, starts in asdict(changes).items()]
    return changes, [f"{options.folder}: {', '.join(counts)}"]


def _codebook(client: Client, options: argparse.Namespace) -> _Output:
    """List the questions of a survey."""
    questions = client.survey(options.survey).codebook(**_parameters(options))
    _tell_if_empty(questions)
    lines = [_line(each.column, each.responses, each.question_text) for each in questions]
    return questions, lines


def _answers(client: Client, options: argparse.Namespace) -> _Output:
    """List how many records have each answer."""
    parameters = {"survey": options.survey, **_parameters(options)}
    rows = client._http.json("/responses/answers", parameters, answer_rows)
    _tell_if_empty(rows)
    lines = [
        _line(row["column"], row["records"], "(others)" if row["value"] is None else row["value"])
        for row in rows
    ]
    return rows, lines


def _line(*cells: object) -> str:
    return "\t".join(" ".join(str(cell).replace("\t", " ").splitlines()) for cell in cells)
