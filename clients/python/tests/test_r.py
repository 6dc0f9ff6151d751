"""The labelled files of the R package have the same values and labels."""

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
survey <- list(survey_client(), commandArgs(trailingOnly = TRUE))
for (number in seq_along(selections)) {
  labelled <- function(...) do.call(survey_labelled, c(survey, selections[[number]], ...))
  haven::write_sav(labelled(), paste0(number, ".sav"))
  haven::write_dta(labelled(program = "stata"), paste0(number, ".dta"))
}
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


SELECTIONS: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ('value = "translated", timing = TRUE', {"value": "translated", "timing": True}),
    ('value = "label", metadata = c("ad_id", "x")', {"value": "label", "metadata": ["ad_id", "x"]}),
    ('columns = "question", repeats = "first"', {"columns": "question", "repeats": "first"}),
    ('userid = "nobody"', {"userid": "nobody"}),
]


@pytest.mark.filterwarnings("ignore:.*has no value labels")
def test_labelled_files_are_those_of_r(survey, library, tmp_path):
    selections = ", ".join(f"list({in_r})" for in_r, _ in SELECTIONS)
    program = (
        f".libPaths({str(library)!r}); library(surveyexport); selections <- list({selections})"
    )
    ran = subprocess.run(
        ["Rscript", "--vanilla", "-e", f"{program}; {PROGRAM}", survey.name],
        cwd=tmp_path,
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "form.versions has no value labels" in ran.stderr

    for number, (_, parameters) in enumerate(SELECTIONS, start=1):
        for read, suffix in [(pyreadstat.read_sav, "sav"), (pyreadstat.read_dta, "dta")]:
            survey.download(tmp_path / f"python.{suffix}", **parameters)
            (ours, our_labels), (theirs, their_labels) = [
                read(tmp_path / f"{name}.{suffix}") for name in ("python", number)
            ]
            assert [*theirs.columns] == [*ours.columns]
            assert theirs.fillna(0).values.tolist() == ours.fillna(0).values.tolist()
            assert [label or "" for label in their_labels.column_labels] == [
                label or "" for label in our_labels.column_labels
            ]
            assert their_labels.variable_value_labels == our_labels.variable_value_labels
            assert parameters or their_labels.variable_value_labels
