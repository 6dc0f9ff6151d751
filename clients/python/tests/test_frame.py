"""Survey.frame."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from answers import Answer, Create
from service import DEMO_SURVEY, EMPTY_SURVEY
from survey_export import Client, NoResponsesError

HARD = [
    "NA",
    "",
    "007",
    "0042",
    "-1e5",
    "null",
    "None",
    '"quoted"',
    'a,b\n"c"\r\nd',
    " spaces ",
    "\u2028",
    "🌊",
    "<NA>",
]


def test_keeps_every_text_and_tells_empty_from_missing(create_survey: Create) -> None:
    answers = [Answer(f"q{i}", text, text, translated_response=text if i % 2 else None) for i, text in enumerate(HARD)]
    survey = create_survey(answers)
    frame = survey.frame()
    rows = list(survey.rows())
    assert [row["response"] for row in rows] == HARD
    for column in ("userid", "question_text", "response", "timestamp", "pageid", "translated_response"):
        assert frame[column].dtype == "string"
        assert frame[column].astype(object).where(frame[column].notna(), None).tolist() == [row[column] for row in rows]
    assert frame["metadata"].isna().all()


def test_wide_has_the_labels_and_the_codebook(client: Client) -> None:
    survey = client.survey(DEMO_SURVEY)
    frame = survey.frame(layout="wide", value="label", shortcode="healthfood", metadata=["cluster"])
    assert {str(dtype) for dtype in frame.dtypes} == {"string"}
    assert set(frame["healthfood.water"].dropna()) == {
        "A tap at home",
        "A well or a pump nearby",
        "A river, a lake or rain",
    }
    assert frame["metadata.cluster"].str.startswith("cluster ").any()
    codebook = frame.attrs["codebook"]
    assert [question["column"] for question in codebook] == list(frame.columns[9:])
    assert codebook[2]["choices"][0] == {"value": "A", "label": "A tap at home"}
    assert json.loads(json.dumps(codebook)) == json.loads(json.dumps(frame.head().attrs["codebook"]))


def test_columns_with_the_same_name_stay_apart(create_survey: Create) -> None:
    answers = [Answer("b.c", "1", shortcode="a"), Answer("c", "2", shortcode="a.b"), Answer('q,"\n', "3")]
    frame = create_survey(answers).frame(layout="wide")
    assert list(frame.columns[8:]) == ["a.b.c", "a.b.c", 'form.q,"\n']
    assert frame.iloc[0, 8:].tolist() == ["1", "2", "3"]


def test_an_empty_selection_has_the_columns(client: Client) -> None:
    survey = client.survey(DEMO_SURVEY)
    frame = survey.frame(layout="wide", question_ref="none")
    assert frame.shape == (0, 8)
    assert frame.attrs["codebook"] == []
    assert survey.frame(since="2100-01-01").shape == (0, 14)
    with pytest.raises(NoResponsesError, match="Pilot study"):
        client.survey(EMPTY_SURVEY).frame()


def test_refuses_what_changes_the_start_of_the_file(client: Client) -> None:
    for name in ("after", "bom"):
        with pytest.raises(ValueError, match=name):
            client.survey("any").frame(**{name: True})


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("pandas", "frame()", "pandas"),
        ("pandas", "save_stata('x.dta')", "stats"),
        ("pyreadstat", "save_spss('x.sav')", "stats"),
    ],
)
def test_names_the_extra_that_is_not_installed(module: str, call: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from survey_export import Client, SurveyExportError\n"
        f"try: Client('http://127.0.0.1:1', 'key').survey('s').{call}\n"
        "except SurveyExportError as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == f'{module} is not installed: run pip install "survey-export[{extra}]"\n'
