"""Data frames. pandas reads a null and an empty text of a CSV file alike, so the file is parsed here."""

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
from ._records import CSV, blocks, cells, csv_records, value
from ._transfer import filters_of

if TYPE_CHECKING:
    import pandas

MOST_SHARED_TEXTS = 100_000


def frame(http: Http, parameters: Mapping[str, Parameter]) -> pandas.DataFrame:
    """Implement `Survey.frame`."""
    responses = table(http, parameters)
    # pandas copies and compares `attrs`, and writes them to Parquet as JSON, so they hold no
    # objects of ours.
    responses.attrs["codebook"] = [asdict(question) for question in codebook_of(http, parameters)]
    return responses


def answers(http: Http, parameters: Mapping[str, Parameter]) -> pandas.DataFrame:
    """Implement `Survey.answers`."""
    pandas = require("pandas")
    rows = answer_rows(http, parameters)
    table = pandas.DataFrame(
        rows, columns=["column", "shortcode", "question_ref", "value", "records"]
    )
    return table.astype(dict.fromkeys(table.columns[:-1], "string") | {"records": "Int64"})


def answer_rows(http: Http, parameters: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    """Return the rows of the CSV file of `/responses/answers`. The value of any other answer is None."""
    rows = []
    for question in http.json("/responses/answers", parameters, lambda body: body["questions"]):
        others = [{"value": None, "records": question["other"]}] if question["other"] else []
        names = {name: question[name] for name in ("column", "shortcode", "question_ref")}
        rows += [names | counted for counted in [*question["values"], *others]]
    return rows


def codebook_of(http: Http, parameters: Mapping[str, Parameter]) -> list[Question]:
    """Return the codebook for the parameters of a file."""
    return http.json("/responses/questions", filters_of(parameters, "columns"), codebook)


def table(http: Http, parameters: Mapping[str, Parameter]) -> pandas.DataFrame:
    """Return the file of `/responses/csv` as a data frame of texts, in which a null is `pandas.NA`."""
    pandas = require("pandas")
    for name in {"after", "bom"} & parameters.keys():
        raise ValueError(f"{name} is for files, not for data frames")
    columns: list[list[str | None]] = []
    shared: dict[
        bytes, str | None
    ] = {}  # equal cells share one text, which saves most of the memory
    with TemporaryDirectory() as folder, opened(Path(folder, "responses.csv"), "w+b") as file:
        with http.line.used():
            write(http, ".csv", parameters, file)
        file.seek(0)
        for block in blocks(iter(lambda: file.read(1 << 16), b""), CSV):
            values = cells(block)
            columns = columns or [[] for _ in cells(next(csv_records([block])))]
            if len(shared) > MOST_SHARED_TEXTS:
                shared.clear()
            for cell in set(values) - shared.keys():
                content = value(cell)
                shared[cell] = None if content is None else content.decode()
            for position, column in enumerate(columns):
                column.extend(map(shared.__getitem__, values[position :: len(columns)]))
    names = [str(column.pop(0)) for column in columns]
    texts = [pandas.array(column, dtype="string") for column in columns]
    return pandas.DataFrame(dict(zip(names, texts, strict=True)))


def require(module: str) -> Any:
    """Import a module of one of this package's extras."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise SurveyExportError(f"{module} is not installed: run pip install {module}") from None
