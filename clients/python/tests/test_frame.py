"""Survey.frame, and files for Stata and SPSS, have the cells of the CSV file."""

import functools
import json
import random
import sys
import warnings
from typing import Any

import pyreadstat
import pytest

from service import Fault, Study, get, records_of
from survey_export import Survey, SurveyExportError

EXAMPLES = 40


def test_every_column_is_text_and_described_in_the_codebook(demo):
    frame = demo.frame(layout="wide", shortcode="healthfood", metadata=["cluster"])
    assert {str(dtype) for dtype in frame.dtypes} == {"string"}
    codebook = frame.head().attrs["codebook"]  # pandas copies it as JSON
    assert [question["column"] for question in codebook] == list(frame.columns[9:])
    assert codebook[2]["choices"][0] == {"value": "A", "label": "A tap at home"}
    json.dumps(codebook)
    assert demo.frame(since="2100-01-01").shape == (0, 14)


@pytest.mark.parametrize(
    ("module", "call"),
    [("pandas", Survey.frame), ("pandas", Survey.save_stata), ("pyreadstat", Survey.save_spss)],
)
def test_names_the_package_that_is_not_installed(demo, tmp_path, monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        SurveyExportError, match=f"^{module} is not installed: run pip install {module}$"
    ):
        call(demo, *[] if call is Survey.frame else [tmp_path / "x"])


def random_parameters(randomness: random.Random, study: Study) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "value": ["response", "translated", "translated_label", "label"],
        "repeats": ["last", "first", "drop"],
        "columns": ["form_question", "question"],
        "metadata": [["ad_id"], ["note", "ratio"], ["none"]],
        "require_metadata": [["ad_id"], ["ad_id", "ratio"], ["none"]],
        "require_question": [["water"], ["none"]],
        "arm": [["seed_2"], ["seed_25_2", "seed_7"]],
        "timing": ["true"],
        "question_ref": [["water"], ["water", 'q"1'], ["none"]],
        "shortcode": [study.shortcodes[:1]],
        "userid": [[f"00{number}" for number in range(8)]],
        "since": ["2026-03-05"],
        "until": ["2026-03-11T12:00:00Z"],
    }
    often = {"value", "repeats", "columns"}
    return {
        name: randomness.choice(values)
        for name, values in choices.items()
        if randomness.random() < (0.6 if name in often else 0.2)
    }


def test_all_agree_with_the_csv_file(study, survey, proxy, tmp_path, randomness):
    study.update("flowid = length(response) %% 2")
    study.update(
        "response = chr(65 + length(response) %% 2), question_text = %s",
        "question_ref = 'fruit'",
        "How?\n- A. None\n- B. Much",
    )

    @functools.cache  # since all files of a selection are made from the same responses
    def response(path):
        return Fault(status=200, body=get(path.removeprefix("/api/v1")))

    proxy.fault = response
    dta, sav = tmp_path / "r.dta", tmp_path / "r.sav"
    warnings.simplefilter("ignore", UserWarning)  # of questions without value labels
    for _ in range(EXAMPLES):
        parameters = random_parameters(randomness, study)
        names, *records = records_of(study.export(layout="wide", **parameters))
        frame = survey.frame(layout="wide", **parameters)
        assert [*frame.columns] == names, parameters
        texts = frame.astype(object)
        assert texts.where(frame.notna(), None).values.tolist() == records, parameters
        survey.save_spss(sav, **parameters)
        table, _ = pyreadstat.read_sav(sav)
        expected = [[(text or "").rstrip(" ") for text in record] for record in records]
        assert table.values.tolist() == expected, parameters
        survey.save_stata(dta, **parameters)
        table, metadata = pyreadstat.read_dta(dta)
        for position, name in enumerate(table.columns):
            cells: list[Any] = [record[position] or "" for record in records]
            if name in metadata.variable_value_labels:
                cells = [ord(cell.upper()) - ord("A") + 1 if cell else 0 for cell in cells]
            assert table[name].fillna(0).tolist() == cells, (parameters, name)


def test_omits_no_column_that_a_download_needs(survey, tmp_path):
    survey.download(tmp_path / "r.xlsx", omit="userid")
    message = "omit cannot name userid, by which a download knows that it is whole"
    with pytest.raises(ValueError, match=message):
        survey.download(tmp_path / "r.csv", omit=["userid", "metadata"])
