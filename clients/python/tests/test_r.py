"""The labelled files of the R package have the same values and labels."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyreadstat
import pytest

from answers import Answer, Create
from survey_export import Survey

R_CLIENT = Path(__file__).parents[2] / "r"
PROGRAM = r"""
arguments <- commandArgs(trailingOnly = TRUE)
parameters <- c(list(survey_client(), arguments[[1]]), eval(parse(text = arguments[[2]])))
haven::write_sav(do.call(survey_labelled, parameters), "r.sav")
haven::write_dta(do.call(survey_labelled, c(parameters, program = "stata")), "r.dta")
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the R package."""
    library = tmp_path_factory.mktemp("library")
    found = (
        shutil.which("Rscript")
        and subprocess.run(
            ["Rscript", "-e", "library(httr2); library(tibble); library(haven)"]
        ).returncode
    )
    if found != 0:
        pytest.skip("R, httr2, tibble or haven is not installed: the R package was not compared")
    subprocess.run(
        ["R", "CMD", "INSTALL", "--no-docs", f"--library={library}", R_CLIENT], check=True
    )
    return library


WATER = (
    "Where does your water come from?\r\nA) A tap – água 💧\n- b. A well\n C : "
    + "A river, a lake " * 12
)
HARD = ["", "NA", "007", "1e5", " x ", 'a "b", c', "two\nlines\r\n", "Água, 水 💧"]
HARD += ["=1+1", "A", "\u2028", "é" * 3000]
NAMES = ["a b", "a.b", "a_b", "Age", "age", "to.", "7", "été", "b" * 80]
LONG = "क" * 150 + "?\nA. x\nB. " + "👩\u200d🔬" * 40


@pytest.fixture
def survey(create_survey: Create) -> Survey:
    of_food = {
        "water": ["A", "b", "C", "c", "A", ""],
        "listed": ["A", "b", "C"],
        "unlisted": ["A", "D", "maybe", "AA"],
    }
    yes_no = "Ja?\nA. Ndiyo\nB. Hapana"
    return create_survey(
        [
            *[
                Answer(name, text, WATER, f"00{i}", "food")
                for name, texts in of_food.items()
                for i, text in enumerate(texts)
            ],
            *[
                Answer("text", text, "Why?\r\n\n  Say\u2028it. ", f"{i}")
                for i, text in enumerate(HARD)
            ],
            Answer("translated", "Ndiyo", yes_no, "1", translated_response="Yes – はい"),
            Answer("translated", "B", yes_no, "2", translated_response=""),
            Answer("versions", "A", "?\nA. Yes\nB. No", "1"),
            Answer("versions", "B", "?\nA. No\nB. Yes", "2", version=2),
            *[Answer(name, "1", f"About {name}", "1") for name in NAMES],
            *[Answer("water", "B", LONG, "3", form) for form in ("long", "food2")],
        ]
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"value": "translated", "timing": True},
        {"value": "label", "metadata": ["ad_id", "x"]},
        {"columns": "question", "repeats": "first"},
        {"userid": "nobody"},
    ],
)
@pytest.mark.filterwarnings("ignore:.*has no value labels")
def test_labelled_files_are_those_of_r(
    survey: Survey, library: Path, tmp_path: Path, parameters: dict[str, Any]
) -> None:
    program = f".libPaths({str(library)!r}); library(surveyexport); {PROGRAM}"
    values = ", ".join(f"{name} = {value!r}" for name, value in parameters.items())
    in_r = f"list({values.replace('True', 'TRUE').replace('[', 'c(').replace(']', ')')})"
    ran = subprocess.run(
        ["Rscript", "--vanilla", "-e", program, survey.name, in_r],
        cwd=tmp_path,
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parameters or "form.versions has no value labels" in ran.stderr

    survey.save_spss(tmp_path / "python.sav", **parameters)
    survey.save_stata(tmp_path / "python.dta", **parameters)
    for read, suffix in [(pyreadstat.read_sav, "sav"), (pyreadstat.read_dta, "dta")]:
        (ours, our_labels), (theirs, their_labels) = [
            read(tmp_path / f"{name}.{suffix}") for name in ("python", "r")
        ]
        assert [*theirs.columns] == [*ours.columns]
        assert theirs.fillna(0).values.tolist() == ours.fillna(0).values.tolist()
        of_questions = [
            [label or "" for label in labels.column_labels] for labels in (our_labels, their_labels)
        ]
        assert of_questions[0] == of_questions[1]
        assert their_labels.variable_value_labels == our_labels.variable_value_labels
        assert parameters or their_labels.variable_value_labels
