"""Stata and SPSS files: the wide table, with variable labels and value labels."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import SurveyExportError
from ._files import put
from ._frame import for_codebook, require, table

if TYPE_CHECKING:
    import pandas

    from ._models import Choice, Parameter, Question
    from ._survey import Survey

# Stata's manual, [U] 11.3, and the words of Mata, which pandas does not accept as names either.
STATA_RESERVED = re.compile(
    r"aggregate|array|boolean|break|byte|case|catch|class|colvector|complex|const|continue|default|delegate"
    r"|delete|do|double|else|eltypedef|end|enum|explicit|export|external|float|for|friend|function|global|goto"
    r"|if|in|inline|int|local|long|NULL|pragma|protected|quad|rowvector|short|str\d+|strL|typedef|typename"
    r"|using|virtual|with"
)
# SPSS's Command Syntax Reference, "Variable Names".
SPSS_RESERVED = re.compile("ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH", re.IGNORECASE)


def stata_name(column: str) -> str:
    """Replace what a Stata name cannot have: it consists of letters, digits and underscores.

    Letters and digits are those of Unicode (`help varname`). Stata allows an underscore at the start, but
    reserves all such names for itself ([U] 11.3), so names begin with a letter.
    """

    def is_allowed(character: str) -> bool:
        # pandas does not accept letters from U+0080 to U+00BF, such as "ª".
        is_word = character.isalpha() or character.isdecimal()
        return character == "_" or (is_word and not "\x80" <= character <= "\xbf")

    name = "".join(character if is_allowed(character) else "_" for character in column)
    return name if name[:1].isalpha() and not STATA_RESERVED.fullmatch(name) else f"v{name}"


def spss_name(column: str) -> str:
    """Replace what an SPSS name cannot have: it consists of letters, digits, and `._$#@`.

    It begins with a letter, since `@`, `#` and `$` at the start have meanings of their own, and does not end
    with a period ("Variable Names" in the Command Syntax Reference).
    """

    def is_allowed(character: str) -> bool:
        return character in "._$#@" or unicodedata.category(character)[0] in "LMN"

    name = "".join(character if is_allowed(character) else "_" for character in column).rstrip(".")
    return name if name[:1].isalpha() and not SPSS_RESERVED.fullmatch(name) else f"v{name}"


def without_case(name: str) -> str:
    """Return what two names have in common that SPSS takes for the same, also if Unicode has two spellings."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def bytes_of(text: str) -> int:
    return len(text.encode())


@dataclass(frozen=True)
class Program:
    """What the files of a program can hold."""

    program: str
    name: Callable[[str], str]
    """The name without what the program does not allow, but not cut."""
    same_name: Callable[[str], str]
    """Equal for names that the program takes for the same."""
    size: Callable[[str], int]
    """The size of a name or a variable label, in the unit of the following limits."""
    name_limit: int
    label_limit: int
    value_labels_limit: Callable[[int], int]
    """The bytes of a value label, given how many the variable has."""
    text_limit: int
    """The bytes of a text."""


# https://www.stata.com/manuals/rlimits.pdf: 32 characters in a name, 80 in a variable label, 32,000 bytes in
# a value label (in pandas, in all labels of a variable together, with a byte after each), and 2,000,000,000
# bytes in a strL. Names that differ by case are different.
STATA = Program("Stata", stata_name, str, len, 32, 80, lambda labels: 32_000 // labels - 1, 2_000_000_000)

# SPSS's Command Syntax Reference: 64 bytes in a name ("Variable Names"), 255 in a variable label (256 in
# newer versions, "VARIABLE LABELS"), 120 in a value label ("VALUE LABELS"), and 32,767 in a text ("String
# Variable Formats"). Names that differ by case are the same.
SPSS = Program("SPSS", spss_name, without_case, bytes_of, 64, 255, lambda labels: 120, 32_767)


@dataclass
class Variable:
    """A column of the table."""

    column: str
    name: str
    label: str
    choices: dict[str, str]
    """The labels of answers that are a letter."""
    answers: pandas.Series[Any]


def save_stata(survey: Survey, path: Path, parameters: Mapping[str, Parameter]) -> None:
    """Implement `Survey.save_stata`."""
    pandas = require("pandas", "stats")
    with replacing(path) as part:
        variables = load(survey, STATA, parameters)
        columns, value_labels, long_texts = {}, {}, []
        for variable in variables:
            # A Stata text has no value labels.
            numbers = {
                letter: number
                for number, capital in enumerate(variable.choices, start=1)
                for letter in (capital, capital.lower())
            }
            if numbers and all(answer in numbers for answer in variable.answers.dropna()):
                columns[variable.name] = variable.answers.map(numbers, na_action="ignore").astype("Int8")
                value_labels[variable.name] = {numbers[letter]: label for letter, label in variable.choices.items()}
            else:
                columns[variable.name] = variable.answers.fillna("").astype(object)
                # pandas 2 counts characters where the limit is 2,045 bytes.
                if columns[variable.name].map(bytes_of).max() > 2045:
                    long_texts.append(variable.name)
        pandas.DataFrame(columns).to_stata(
            part,
            version=118,
            write_index=False,
            variable_labels={variable.name: variable.label for variable in variables},
            value_labels=value_labels,
            convert_strl=long_texts,
        )


def save_spss(survey: Survey, path: Path, parameters: Mapping[str, Parameter]) -> None:
    """Implement `Survey.save_spss`."""
    pandas = require("pandas", "stats")
    pyreadstat = require("pyreadstat", "stats")
    with replacing(path) as part:
        variables = load(survey, SPSS, parameters)
        value_labels = {}
        for variable in variables:
            used = set(variable.answers)
            labels = variable.choices.items()
            small = {letter.lower(): label for letter, label in labels if letter.lower() in used}
            value_labels[variable.name] = {**variable.choices, **small}
        pyreadstat.write_sav(
            pandas.DataFrame({variable.name: variable.answers for variable in variables}),
            part,
            column_labels=[variable.label for variable in variables],
            variable_value_labels=value_labels,
            row_compress=True,
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces the one at `path` unless there is an exception."""
    if not path.parent.is_dir() or path.is_dir():
        raise SurveyExportError(f"{path} is a folder" if path.is_dir() else f"there is no folder {path.parent}")
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(b"")
    try:
        yield part
        put(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(survey: Survey, program: Program, parameters: Mapping[str, Parameter]) -> list[Variable]:
    """Download the table and the codebook, and make them fit the program."""
    answers, labels, questions = load_consistently(survey, parameters)
    names = unique_names(list(answers.columns), program)
    first_question = len(answers.columns) - len(questions)
    variables = []
    for position, (column, name) in enumerate(zip(answers.columns, names, strict=True)):
        of_column = questions[position - first_question] if position >= first_question else []
        texts = dict.fromkeys(question.question_text for question in of_column)
        label = " / ".join(texts) if texts else column if name != column else ""
        choices = choices_of(of_column, answers.iloc[:, position], labels.iloc[:, position])
        if choices is None:
            choices = {}
            warnings.warn(f"{column} has no value labels: a letter stands for different choices.", stacklevel=4)
        variables.append(
            Variable(
                column,
                name,
                cut_label(label, program.label_limit, program.size),
                {
                    letter: cut_label(choice, program.value_labels_limit(len(choices)), bytes_of)
                    for letter, choice in choices.items()
                },
                answers.iloc[:, position],
            )
        )
        check_texts(variables[-1], answers.iloc[:, 0], program)
    return variables


def load_consistently(
    survey: Survey, parameters: Mapping[str, Parameter]
) -> tuple[pandas.DataFrame, pandas.DataFrame, list[list[Question]]]:
    """Download the table, the same with labels in place of letters, and the questions of its last columns.

    The versions of a form can list different choices, and the codebook has those of one version. The service
    finds an answer's label in the answer's own question text, so the second table shows whether the
    codebook's choices are right for all answers.
    """
    for _ in range(5):
        codebook = survey.codebook(**for_codebook(parameters))
        selection = {**parameters, "layout": "wide"}
        if codebook:
            # Without those that arrive from now on. Times have at most six digits after the second.
            newest = max(question.last.removesuffix("Z") for question in codebook)
            selection["until"] = f"{newest.ljust(len('2026-03-01T00:03:43.770047'), '0')}1Z"
        questions = [[question] for question in codebook]
        if parameters.get("columns") == "question":
            by_column: dict[str, list[Question]] = {}
            for question in codebook:
                by_column.setdefault(question.column, []).append(question)
            questions = list(by_column.values())

        answers = table(survey, selection)
        has_choices = any(question.choices for question in codebook)
        labels = table(survey, {**selection, "value": "label"}) if has_choices else answers
        columns = [of_column[0].column for of_column in questions]
        if (
            list(answers.columns[len(answers.columns) - len(columns) :]) == columns
            and answers.columns.equals(labels.columns)
            and answers.where(are_letters(answers), labels).equals(answers)
            and answers.isna().equals(labels.isna())
        ):
            return answers, labels, questions
    raise SurveyExportError("The survey's responses were edited during the download, five times: try again later.")


def are_letters(answers: pandas.DataFrame) -> pandas.DataFrame:
    """Return which cells of a table can have a label in place of a letter."""
    return answers.apply(lambda column: column.str.fullmatch("[A-Za-z]").fillna(False))


def choices_of(
    questions: list[Question], answers: pandas.Series[Any], labels: pandas.Series[Any]
) -> dict[str, str] | None:
    """Return the labels of a column's letters, or None if a letter has several."""
    listed: tuple[Choice, ...] = next((question.choices for question in questions if question.choices), ())
    choices = {choice.value: choice.label for choice in listed}
    pairs = set(zip(answers.dropna(), labels.dropna(), strict=True))
    is_right = all(label == choices[answer.upper()] for answer, label in pairs if answer.upper() in choices)
    return choices if is_right else None


def unique_names(columns: list[str], program: Program) -> list[str]:
    """Return a name that the program allows for each column. Equal names get a number."""
    names = [program.name(column) for column in columns]
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    # Columns whose names can stay as they are come first, so that no other column takes their names.
    for position in sorted(range(len(names)), key=lambda position: names[position] != columns[position]):
        whole = names[position]
        name = fitting(whole, program.name_limit, program.size).rstrip(".")
        base = program.same_name(name)
        while program.same_name(name) in taken:
            numbers[base] = numbers.get(base, 1) + 1
            suffix = f"_{numbers[base]}"
            name = fitting(whole, program.name_limit - len(suffix), program.size) + suffix
        taken.add(program.same_name(name))
        names[position] = name
    return names


def cut_label(text: str, limit: int, size: Callable[[str], int]) -> str:
    """Return the text as one line, which ends with an ellipsis if it had to be cut."""
    line = " ".join(part.strip() for part in text.splitlines())
    return line if size(line) <= limit else f"{fitting(line, limit - size('…'), size)}…"


def fitting(text: str, limit: int, size: Callable[[str], int]) -> str:
    """Return the beginning of the text that is within the limit, and ends with a whole character."""
    end = min(len(text), limit)
    while end > 0 and (size(text[:end]) > limit or (end < len(text) and continues(text, end))):
        end -= 1
    return text[:end]


def continues(text: str, position: int) -> bool:
    """Return whether the position is within a character: at an accent, a vowel sign, or a joined emoji."""
    joiner = "\u200d"
    return (
        unicodedata.category(text[position]).startswith("M")
        or "\U0001f3fb" <= text[position] <= "\U0001f3ff"
        or joiner in text[position - 1 : position + 1]
    )


def check_texts(variable: Variable, userids: pandas.Series[Any], program: Program) -> None:
    """Raise an error if a text cannot be stored unchanged."""
    for row, text in enumerate(variable.answers.fillna("")):
        # A character has at most four bytes.
        too_long = len(text) > program.text_limit // 4 and bytes_of(text) > program.text_limit
        if too_long or "\0" in text:
            problem = f"{bytes_of(text):,} bytes, more than {program.text_limit:,}" if too_long else "a NUL character"
            raise SurveyExportError(
                f"{program.program} cannot store {variable.column} in row {row + 1}, userid {userids[row]}: "
                f"it has {problem}. Filters such as question_ref can leave the question out."
            )
