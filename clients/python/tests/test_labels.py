"""Survey.save_stata and Survey.save_spss. pyreadstat reads the files back."""

import struct
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyreadstat
import pytest

from answers import Answer, add_answers
from survey_export import Survey, SurveyExportError
from survey_export._files import put

YES_NO = "Do you?\n- A. Yes\n- B. No"
NO_YES = "Do you?\n- A. No\n- B. Yes"


def save(survey: Survey, path: Path, **parameters: Any) -> tuple[Any, Any]:
    """Save a file and read it. Returns the table and its metadata."""
    records = survey.download(path, **parameters)
    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    table, metadata = read(path)
    assert len(table) == records
    return table, metadata


@pytest.fixture(params=["responses.dta", "responses.sav"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def test_a_question_whose_answers_are_all_letters_becomes_numbers(create_survey, tmp_path):
    answers = {
        "letters": {"1": "A", "2": "b", "4": "B"},
        "mixed": {"1": "A", "2": "maybe"},
        "unlisted": {"1": "A", "2": "C"},
        "empty": {"1": "A", "2": ""},
    }
    survey = create_survey(
        [
            *[
                Answer(name, text, YES_NO, userid)
                for name, texts in answers.items()
                for userid, text in texts.items()
            ],
            Answer("text", "A", "Do you?", "3"),
        ],
    )
    table, metadata = save(survey, tmp_path / "responses.dta")
    assert metadata.variable_value_labels == {"form_letters": {1: "Yes", 2: "No"}}
    assert table.iloc[:, 8:].fillna(0).to_dict("list") == {
        "form_letters": [1, 2, 0, 2],
        "form_mixed": ["A", "maybe", "", ""],
        "form_unlisted": ["A", "C", "", ""],
        "form_empty": ["A", "", "", ""],
        "form_text": ["", "", "A", ""],
    }

    table, metadata = save(survey, tmp_path / "responses.sav")
    assert table["form.letters"].tolist() == ["A", "b", "", "B"]
    labels = {"A": "Yes", "B": "No"}
    assert metadata.variable_value_labels == {
        "form.letters": {**labels, "b": "No"},
        **dict.fromkeys(["form.mixed", "form.unlisted", "form.empty"], labels),
    }


def test_two_saves_at_the_same_time(create_survey, path, monkeypatch):
    survey = create_survey([Answer("q", "A")])

    def save_again(new, path):
        monkeypatch.undo()
        survey.download(path)
        put(new, path)

    monkeypatch.setattr("survey_export._labels.put", save_again)
    save(survey, path)
    assert [*path.parent.iterdir()] == [path]


def test_no_labels_where_a_letter_stands_for_different_choices(create_survey, path):
    survey = create_survey(
        [
            Answer("turned\x1b", "a", YES_NO, "1"),
            Answer("turned\x1b", "A", NO_YES, "2", version=2),
            # The versions differ, but not in a letter that somebody chose.
            Answer("reworded", "A", "Do you?\nA. Yes\nB. Never", "1"),
            Answer("reworded", "B", YES_NO, "2", version=2),
            Answer("both", "A", YES_NO, "1"),
            Answer("both", "B", NO_YES, "2", "other"),
        ],
    )
    with pytest.warns(UserWarning, match=r"^form\.turned\ufffd has no value labels") as caught:
        table, metadata = save(survey, path)
    assert len([warning for warning in caught if warning.category is UserWarning]) == 1
    turned, reworded = table.columns[8:10]
    assert table[turned].tolist() == ["a", "A"]
    assert turned not in metadata.variable_value_labels
    assert list(metadata.variable_value_labels[reworded].values()) == ["Yes", "No"]
    with pytest.warns(UserWarning, match="both has no value labels"):
        save(survey, path, columns="question", question_ref="both")


NAMES = {
    # Each name with those that Stata and SPSS get. Names that need no change keep it.
    "_all": ("v_all", "v_all"),
    "if": ("vif", "if"),
    "123": ("v123", "v123"),
    "": ("v", "v"),
    "🌊": ("v_", "v_"),
    "Age": ("Age", "Age"),
    "age": ("age", "age_2"),
    "AGE": ("AGE", "AGE_3"),
    "الاسم": ("الاسم", "الاسم"),
    "ชื่อ": ("ช__อ", "ช__อ"),
    "a b": ("a_b_2", "a_b_2"),
    "a.b": ("a_b_3", "a.b"),
    "a_b": ("a_b", "a_b"),
    "to": ("to", "vto_2"),
    "vto": ("vto", "vto"),
    "to.": ("to_", "vto_3"),
    "xé": ("xé", "xé"),
    "XÉ": ("XÉ", "XÉ_2"),
}
OTHERS = ["ª", "µ", "xe\u0301", "_", "a\nb", "str12", "strL", "long", "vlong"]
OTHERS += ["x" * 300, "x" * 299 + "y", "ก" * 100]


def test_hard_names(create_survey, path):
    names = [*NAMES, *OTHERS]
    survey = create_survey([Answer(name, f"{i}", f"Question {i}") for i, name in enumerate(names)])
    for columns in ("question", "form_question"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # pandas warns when it changes a name
            table, metadata = save(survey, path, columns=columns)
        assert table.iloc[0, 8:].tolist() == [f"{i}" for i in range(len(names))]
        assert metadata.column_labels[8:] == [f"Question {i}" for i in range(len(names))]
        if columns == "question":
            expected = [of_program[path.suffix == ".sav"] for of_program in NAMES.values()]
            assert list(table.columns[8 : 8 + len(NAMES)]) == expected


def test_long_labels(create_survey, tmp_path):
    question = "ก" * 300 + "\nA. " + "🌊" * 20_000 + "\nB. " + "b" * 20_000
    texts = [question, "r" * 256, "กำ" * 40, "one\r\n two \u2028three"]
    survey = create_survey([Answer(f"q{i}", "A", text) for i, text in enumerate(texts)])
    _, metadata = save(survey, tmp_path / "responses.dta")
    whole = ["กำ" * 40, "one two three"]
    assert metadata.column_labels[8:] == ["ก" * 79 + "…", "r" * 79 + "…", *whole]
    labels = metadata.variable_value_labels["form_q0"]
    assert labels == {1: "🌊" * 3999 + "…", 2: "b" * 15_996 + "…"}
    _, metadata = save(survey, tmp_path / "responses.sav")
    assert metadata.column_labels[8:] == ["ก" * 84 + "…", "r" * 252 + "…", *whole]
    labels = metadata.variable_value_labels["form.q0"]
    assert labels == {"A": "🌊" * 29 + "…", "B": "b" * 117 + "…"}


def test_a_row_fits_into_stata(create_survey, tmp_path):
    """[R] Limits: 1,048,576 bytes. All texts become strLs, of which a row has 8 bytes."""
    texts = ["é" * 1022 if number % 2 else "x" * 2040 for number in range(520)]
    table, _ = save(
        create_survey([Answer(f"q{i}", text) for i, text in enumerate(texts)]), tmp_path / "r.dta"
    )
    assert table.iloc[0, 8:].tolist() == texts
    file = (tmp_path / "r.dta").read_bytes()
    types = file.partition(b"<variable_types>")[2].partition(b"</variable_types>")[0]
    widths = [8 if number == 32_768 else number for number in struct.unpack("<528H", types)]
    assert widths == [8] * 528


def test_a_text_that_cannot_be_stored_names_its_column_and_row(create_survey, tmp_path):
    answers = [Answer("q", "short", userid="1"), Answer("q", "é" * 16_384, userid="007")]
    survey = create_survey(answers)
    path = tmp_path / "responses.sav"
    path.write_text("of an earlier run")
    with pytest.raises(
        SurveyExportError, match=r"^SPSS cannot store form\.q in row 1, userid 007: .* 32,768 bytes"
    ):
        survey.save_spss(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["of an earlier run"]
    table, _ = save(survey, tmp_path / "responses.dta")
    assert table["form_q"].tolist() == ["é" * 16_384, "short"]


@pytest.mark.parametrize(("changes", "is_saved"), [(1, True), (5, False)])
def test_answers_that_are_deleted_between_the_two_tables(
    study, survey, proxy, tmp_path, changes, is_saved
):
    study.delete()
    add_answers(
        study, [Answer(f"q{number}", "A", YES_NO, userid) for userid in "12" for number in range(9)]
    )
    left = [f"userid = '2' and question_ref = 'q{number}'" for number in range(1, 1 + changes)]
    proxy.fault = lambda request: (
        study.delete(left.pop()) if "value=label" in request and left else None
    )
    path = tmp_path / "r.sav"
    with nullcontext() if is_saved else pytest.raises(SurveyExportError, match="edited"):
        survey.save_spss(path)
    assert proxy.paths().count("/responses/csv") == 2 * min(changes + 1, 5)
    assert [*tmp_path.iterdir()] == ([path] if is_saved else [])
    assert not is_saved or pyreadstat.read_sav(path)[0]["form.q1"].tolist() == ["A", ""]
