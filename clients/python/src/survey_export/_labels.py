"""Stata and SPSS files: the wide table, with variable labels and value labels."""

from __future__ import annotations

import errno
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ._errors import SurveyExportError
from ._files import check_folder, opened, put
from ._frame import codebook_of, require, table
from ._http import Http
from ._line import printable
from ._models import Question
from ._parameters import Parameter, query
from ._programs import SPSS, STATA, Program, bytes_of, cut_label, unique_names
from ._transfer import ROUNDS

if TYPE_CHECKING:
    import pandas


STR_LIMIT, ROW_LIMIT = 2045, 1_048_576
"""https://www.stata.com/manuals/rlimits.pdf: a str#, and of a row, which has 8 for a strL."""


@dataclass(frozen=True)
class Variable:
    """A column of the table."""

    name: str
    label: str
    choices: dict[str, str]
    """The labels of answers that are a letter."""
    answers: pandas.Series[Any]


def save_stata(http: Http, path: Path, parameters: Mapping[str, Parameter]) -> int:
    """Implement `Survey.save_stata`."""
    pandas = require("pandas")
    with replacing(path) as part:
        variables = load(http, STATA, parameters)
        columns, value_labels, widths = {}, {}, {}
        for variable in variables:
            name = variable.name
            numbers = {letter: number for number, letter in enumerate(variable.choices, start=1)}
            letters = variable.answers.str.upper()
            if numbers and letters.dropna().isin([*numbers]).all():
                # A Stata text has no value labels.
                columns[name] = letters.map(numbers, na_action="ignore").astype("Int8")
                value_labels[name] = dict(enumerate(variable.choices.values(), start=1))
            else:
                columns[name] = variable.answers.fillna("").astype(object)
                # pandas 2 counts characters where the limit is in bytes.
                widths[name] = max(map(bytes_of, [" ", *columns[name]]))

        row = len(columns) + sum(min(width, STR_LIMIT) for width in widths.values())
        str_limit = 0 if row > ROW_LIMIT else STR_LIMIT
        pandas.DataFrame(columns).to_stata(
            part,
            version=118,
            write_index=False,
            variable_labels={variable.name: variable.label for variable in variables},
            value_labels=value_labels,
            convert_strl=[name for name, width in widths.items() if width > str_limit],
        )
    return len(variables[0].answers)


def save_spss(http: Http, path: Path, parameters: Mapping[str, Parameter]) -> int:
    """Implement `Survey.save_spss`."""
    pandas = require("pandas")
    pyreadstat = require("pyreadstat")
    with replacing(path) as part:
        variables = load(http, SPSS, parameters)
        value_labels = {}
        for variable in variables:
            small = {letter.lower(): label for letter, label in variable.choices.items()}
            used = small.keys() & {*variable.answers}
            value_labels[variable.name] = variable.choices | {
                letter: small[letter] for letter in sorted(used)
            }
        try:
            pyreadstat.write_sav(
                pandas.DataFrame({variable.name: variable.answers for variable in variables}),
                part,
                column_labels=[variable.label for variable in variables],
                variable_value_labels=value_labels,
                row_compress=True,
            )
        except pyreadstat.ReadstatError as error:  # which does not have the reason
            raise OSError(errno.EIO, str(error), str(part)) from None
    return len(variables[0].answers)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces that at `path` if nothing is raised."""
    check_folder(path)
    # A separate folder: another process may be writing the same file.
    with TemporaryDirectory(".part", f"{path.name}.", path.parent) as folder:
        part = Path(folder, path.name)
        with opened(part, "wb"):
            yield part
        put(part, path)


def load(http: Http, program: Program, parameters: Mapping[str, Parameter]) -> list[Variable]:
    """Download the table and the codebook, and make them fit the program."""
    if ("layout", "long") in query(parameters):
        raise ValueError("layout must be wide: these files have a row for each participant")

    wide, labels, codebook = load_consistently(http, parameters)
    of_column: dict[str, list[Question]] = {column: [] for column in wide.columns}
    for question in codebook:
        of_column[question.column].append(question)

    variables = []
    for column, name in zip(wide.columns, unique_names([*wide.columns], program), strict=True):
        answers = wide[column]
        check_texts(answers, wide["userid"], program)
        choices = choices_of(of_column[column], answers, labels[column])
        limit = program.value_labels_limit(max(1, len(choices)))
        choices = {letter: cut_label(choice, limit, bytes_of) for letter, choice in choices.items()}
        texts = dict.fromkeys(question.question_text for question in of_column[column])
        whole = " / ".join(texts) if texts or name == column else column
        label = cut_label(whole, program.label_limit, program.size)
        variables.append(Variable(name, label, choices, answers))
    return variables


def choices_of(
    questions: list[Question], answers: pandas.Series[Any], labels: pandas.Series[Any]
) -> dict[str, str]:
    """Return the choices of a column by their letters, if a letter has the same label everywhere.

    `labels` has the label of each answer, in its own version of the form.
    """
    listed = next((question.choices for question in questions if question.choices), ())
    choices = {choice.value: choice.label for choice in listed}
    for answer, label in set(zip(answers.dropna(), labels.dropna(), strict=True)):
        if choices.get(answer.upper(), label) != label:
            name = printable(str(answers.name))
            warnings.warn(
                f"{name} has no value labels: a letter stands for different choices.", stacklevel=5
            )
            return {}
    return choices


def load_consistently(
    http: Http, parameters: Mapping[str, Parameter]
) -> tuple[pandas.DataFrame, pandas.DataFrame, list[Question]]:
    """Download the table, the same with labels in place of letters, and the codebook.

    The versions of a form can list different choices, and the codebook has those of one version.
    The service finds an answer's label in the answer's own question text, so the second table shows
    whether the codebook's choices are right for all answers.
    """
    for _ in range(ROUNDS):
        codebook = codebook_of(http, parameters)
        selection = {**parameters, "layout": "wide"}
        if codebook:
            # Responses that arrive from now on are left out. Seconds have at most six decimals.
            newest = max(question.last.removesuffix("Z") for question in codebook)
            selection["until"] = f"{newest.ljust(len('2026-03-01T00:03:43.770047'), '0')}1Z"

        answers = labels = table(http, selection)
        if any(question.choices for question in codebook):
            labels = table(http, {**selection, "value": "label"})
        has_columns = {question.column for question in codebook} <= {*answers.columns}
        if has_columns and answers.isna().equals(labels.isna()):
            return answers, labels, codebook
    raise SurveyExportError(
        "The survey's responses were edited during the download, five times: try again later."
    )


def check_texts(answers: pandas.Series[Any], userids: pandas.Series[Any], program: Program) -> None:
    """Raise an error if a text cannot be stored unchanged."""
    sizes = answers.fillna("").map(bytes_of)
    for row in sizes.index[sizes > program.text_limit]:
        raise SurveyExportError(
            f"{program.program} cannot store {answers.name} in row {row + 1}, "
            f"userid {userids[row]}: it has {sizes[row]:,} bytes, more than "
            f"{program.text_limit:,}. Filters such as question_ref can leave it out."
        )
