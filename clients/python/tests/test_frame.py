"""Survey.frame."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from answers import Answer, Create
from service import DEMO_SURVEY, EMPTY_SURVEY
from survey_export import Client, NoResponsesError, Survey, SurveyExportError


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


def test_refuses_a_table_with_two_columns_of_one_name(create_survey: Create, tmp_path: Path) -> None:
    of_two_forms = create_survey([Answer("b.c", "1", shortcode="a"), Answer("c", "2", shortcode="a.b")])
    of_the_service = create_survey([Answer("userid", "1"), Answer("x", "2")])
    for survey, name, parameters in [(of_two_forms, "a.b.c", {}), (of_the_service, "userid", {"columns": "question"})]:
        for save in (survey.save_stata, survey.save_spss):
            with pytest.raises(SurveyExportError, match=f"several columns are named {name}:"):
                save(tmp_path / "file", **parameters)
        with pytest.raises(SurveyExportError, match=f"several columns are named {name}:"):
            survey.frame(layout="wide", **parameters)


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
    ("module", "call"),
    [("pandas", Survey.frame), ("pandas", Survey.save_stata), ("pyreadstat", Survey.save_spss)],
)
def test_names_the_package_that_is_not_installed(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, call: Any
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SurveyExportError, match=f"^{module} is not installed: run pip install {module}$"):
        call(client.survey(DEMO_SURVEY), *[] if call is Survey.frame else [tmp_path / "x"])
