"""Data frames. The CSV file is parsed here: pandas reads a null and an empty text alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ._download import write
from ._errors import SurveyExportError
from ._files import opened
from ._http import Http
from ._models import Question, codebook
from ._parameters import Parameter
from ._records import CSV, blocks, cells, csv_records, text_of
from ._transfer import filters_of

if TYPE_CHECKING:
    import pandas

MOST_SHARED_TEXTS = 100_000


def frame(http: Http, parameters: Mapping[str, Parameter]) -> pandas.DataFrame:
    """Implement `Survey.frame`."""
    responses = table(http, parameters)
    # pandas copies and compares `attrs`, and writes them to Parquet as JSON: no dataclasses.
    responses.attrs["codebook"] = [asdict(question) for question in codebook_of(http, parameters)]
    return responses


def answers(http: Http, parameters: Mapping[str, Parameter]) -> pandas.DataFrame:
    """Implement `Survey.answers`."""
    pandas = require("pandas")
    body, rows = http.json("/responses/answers", parameters, lambda body: (body, answer_rows(body)))
    columns = ["column", "shortcode", "question_ref", "value", "records"]
    if "by" in body:
        columns.insert(-1, "group")

    table = pandas.DataFrame(rows, columns=columns)
    if parameters.get("numbers") == ["true"]:
        table.attrs["numbers"] = {each["column"]: each["numbers"] for each in body["questions"]}
    return table.astype(dict.fromkeys(table.columns[:-1], "string") | {"records": "Int64"})


def answer_rows(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of `/responses/answers` as CSV: of all other answers, `value` is None."""
    rows: list[dict[str, Any]] = []
    groups = [{"group": group["value"]} for group in body.get("groups", ())]
    groups.append({"group": None} if "by" in body else {})
    for question in body["questions"]:
        names = {name: question[name] for name in ("column", "shortcode", "question_ref")}
        rest = question.get("groups", [])
        for answer in [*question["values"], {"value": None, "records": question["other"]}]:
            inside = answer.pop("groups", rest)
            rest = [total - count for total, count in zip(rest, inside, strict=True)]
            counts = [*inside, answer["records"] - sum(inside)]
            for group, records in zip(groups, counts, strict=True):
                if records:
                    rows.append(names | answer | group | {"records": records})
    return rows


def codebook_of(http: Http, parameters: Mapping[str, Parameter]) -> list[Question]:
    """Return the codebook for the parameters of a file."""
    return http.json("/responses/questions", filters_of(parameters, "columns"), codebook)


def table(http: Http, parameters: Mapping[str, Parameter]) -> pandas.DataFrame:
    """Return `/responses/csv` as a data frame of texts, in which a null is `pandas.NA`."""
    pandas = require("pandas")
    if "bom" in parameters:
        raise ValueError("bom is for files, not for data frames")

    columns: list[list[str | None]] = []
    # Equal cells share one text, which saves most of the memory.
    shared: dict[bytes, str | None] = {}
    with TemporaryDirectory() as folder, opened(Path(folder, "responses.csv"), "w+b") as file:
        with http.line.used():
            write(http, ".csv", parameters, file)

        file.seek(0)
        for block in blocks(iter(lambda: file.read(1 << 16), b""), CSV):
            if not columns:
                columns = [[] for _ in cells(next(csv_records([block])))]
            if len(shared) > MOST_SHARED_TEXTS:
                shared.clear()

            values = cells(block)
            for cell in set(values) - shared.keys():
                shared[cell] = text_of(cell)
            for position, column in enumerate(columns):
                column.extend(map(shared.__getitem__, values[position :: len(columns)]))

    return pandas.DataFrame({name: pandas.array(texts, dtype="string") for name, *texts in columns})


def require(module: str) -> Any:
    """Import a module of one of this package's extras."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise SurveyExportError(f"{module} is not installed: run pip install {module}") from None
