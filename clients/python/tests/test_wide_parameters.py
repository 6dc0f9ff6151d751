"""Data frames and labelled files have the cells of the CSV file, whatever the parameters of the wide layout."""

from __future__ import annotations

import functools
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pyreadstat

from service import Fault, Proxy, Study, get
from survey_export import Survey

EXAMPLES = 200
CELL = re.compile(r'("(?:[^"]|"")*"|[^",\n]*)([,\n])')


def records_of(file: bytes) -> list[list[str | None]]:
    """Parse a CSV file, in which an empty cell is a null."""
    records: list[list[str | None]] = [[]]
    for cell, end in CELL.findall(file.decode()):
        records[-1].append(cell[1:-1].replace('""', '"') if cell.startswith('"') else cell or None)
        if end == "\n":
            records.append([])
    return records[:-1]


def random_parameters(randomness: random.Random, study: Study) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "value": ["response", "translated", "label"],
        "repeats": ["last", "first", "drop"],
        "columns": ["form_question", "question"],
        "metadata": [["ad_id"], ["note", "ratio"], ["none"]],
        "require_metadata": [["ad_id"], ["ad_id", "ratio"], ["none"]],
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


def test_all_agree_with_the_csv_file(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random
) -> None:
    study.update("flowid = length(response) %% 2")
    study.update(
        "response = chr(65 + length(response) %% 2), question_text = %s",
        "question_ref = 'fruit'",
        "How?\n- A. None\n- B. Much",
    )

    @functools.cache  # since all files of a selection are made from the same responses
    def response(path: str) -> Fault:
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
