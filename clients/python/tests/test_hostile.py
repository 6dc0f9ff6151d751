"""Values that readers and writers like to change, at the start and after 25,000 plain rows."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pandas
import pyreadstat
import pytest

from answers import Answer, Create
from service import get
from survey_export import Survey

LONG = "x" * 140_000  # Python's csv module reads 131,072, unless it is told to read more
VALUES = ["x" * 2045, "x" * 2046, "x" * 254, "x" * 256, "é" * 1500, "", " ", "NA", "NULL", r"\N"]
VALUES += ["007", "+1555", "1e5", "2000921492222525", "1,234.56", "=1+1", "@a", "-5", "'x", "{}"]
VALUES += ['"', '""', 'say "x"', "a,b", "a;b", "a\tb", "\r", "\n", "\r\n", "a\rb", "\x85", "true"]
VALUES += [
    "\u2028",
    "\xa0",
    "\ufeffx",
    "x\u200e",
    "caf\u00e9",
    "cafe\u0301",
    "👩\u200d🔬",
    "_x0041_",
]
VALUES += ["हिन्दी", "العربية", "\ufffe"]
NULLABLE = ["pageid", "translated_response", "ad_id"]
TEXTS = ["userid", "question_ref", "question_text", "response", *NULLABLE]

Row: TypeAlias = dict[str, str | None]
Hostile: TypeAlias = tuple[Survey, list[Row]]
"""A survey, and its responses, with the columns of `TEXTS`."""


@pytest.fixture(scope="module")
def hostile(create_survey: Create) -> Hostile:
    plain: Row = {**dict.fromkeys(TEXTS, "x"), "ad_id": None}
    odd: list[Row] = []
    for column in TEXTS:
        values = [*VALUES, LONG, *([None] if column in NULLABLE else [])]
        odd += [
            {**plain, "question_ref": f"{column}{i}", column: value}
            for i, value in enumerate(values)
        ]
    rows = [*odd, *[plain] * 25_000, *odd]
    answers: list[dict[str, Any]] = [
        {**row, "shortcode": "plain" if row is plain else "hostile"} for row in rows
    ]
    return create_survey([Answer(**answer) for answer in answers]), rows


def of_duckdb(path: Path) -> list[Row]:
    options = "header=true, delim=',', quote='\"', escape='\"', all_varchar=true"
    options += ", allow_quoted_nulls=false"
    table = duckdb.connect().execute(
        f"select {', '.join(TEXTS)} from read_csv('{path}', {options}) order by timestamp"
    )
    return [dict(zip(TEXTS, row, strict=True)) for row in table.fetchall()]


def of_pandas(path: Path) -> list[Row]:
    return rows_of(pandas.read_csv(path, dtype=str, keep_default_na=False))


def of_csv(path: Path) -> list[Row]:
    csv.field_size_limit(2**31 - 1)
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: row[name] for name in TEXTS} for row in csv.DictReader(file)]


def of_json(path: Path) -> list[Row]:
    return [of_response(json.loads(line)) for line in path.read_bytes().splitlines()]


def of_response(row: dict[str, Any]) -> Row:
    return {
        **{name: row[name] for name in TEXTS[:-1]},
        "ad_id": (row["metadata"] or {}).get("ad_id"),
    }


def rows_of(frame: pandas.DataFrame) -> list[Row]:
    texts = frame[TEXTS].astype(object)
    return texts.where(texts.notna(), None).to_dict("records")  # type: ignore[no-any-return]


READERS = {
    "DuckDB": ("r.csv", True, of_duckdb),
    "pandas.read_csv": ("r.csv", False, of_pandas),
    "csv": ("r.csv", False, of_csv),
    "json": ("r.ndjson", True, of_json),
}


def without_nulls(rows: list[Row]) -> list[Row]:
    return [{name: text or "" for name, text in row.items()} for row in rows]


@pytest.mark.parametrize("reader", READERS)
def test_documented_readers_change_nothing(hostile, tmp_path, reader):
    name, keeps_null, read = READERS[reader]
    survey, rows = hostile
    survey.download(tmp_path / name)
    assert read(tmp_path / name) == (rows if keeps_null else without_nulls(rows))


def test_client_changes_nothing(hostile, tmp_path):
    survey, rows = hostile
    assert rows_of(survey.frame()) == rows
    assert [*map(of_response, survey.rows())] == rows
    survey.download(tmp_path / "r.csv.gz")
    whole = get("/responses/csv", survey=survey.name)
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()) == whole
    survey.mirror(tmp_path / "data")
    [day] = (tmp_path / "data" / "responses").iterdir()
    assert gzip.decompress(day.read_bytes()) == whole
    assert of_duckdb(tmp_path / "data" / "responses" / "*.csv.gz") == rows


@pytest.mark.parametrize("name", ["r.dta", "r.sav"])
def test_labelled_files_change_nothing(hostile, tmp_path, name):
    """SPSS has no texts of more than 32,767 bytes, and drops spaces at their ends."""
    is_stata = name == "r.dta"
    survey, rows = hostile
    rows = rows[: len(rows) // 2 - 12_500]
    kept = [row["question_ref"] or "" for row in rows if is_stata or LONG not in row.values()]
    selection = {"shortcode": "hostile"} if is_stata else {"question_ref": kept}
    wide = survey.frame(layout="wide", **selection).fillna("")
    survey.download(tmp_path / name, **selection)
    read = pyreadstat.read_dta if is_stata else pyreadstat.read_sav
    table, _ = read(tmp_path / name)
    expected = wide if is_stata else wide.map(lambda text: text.rstrip(" "))
    assert table.values.tolist() == expected.values.tolist()
