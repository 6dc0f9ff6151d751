"""Keep a DuckDB database up to date with dlt, or another database with another `destination`.

Needs `pip install "dlt[duckdb]"`; tested with version 1.31. You can stop it at any time: the next
run completes what is missing.
"""

import csv
from pathlib import Path

import dlt

from survey_export import FORM_COLUMNS, PRIMARY_KEY, RESPONSE_COLUMNS, Client

csv.field_size_limit(2**31 - 1)  # otherwise 131,072 characters, and metadata can have more


def as_text(columns):
    """Declare columns as text: otherwise dlt converts what looks like a time."""
    return {name: {"data_type": "text"} for name in columns}


@dlt.source
def survey_tables(changes, folder):
    @dlt.resource(
        write_disposition="merge",
        primary_key=PRIMARY_KEY,
        columns={
            **as_text(RESPONSE_COLUMNS),
            "deleted": {"data_type": "bool", "hard_delete": True},
        },
    )
    def responses():
        for change in changes:
            yield change.row | {"deleted": change.kind == "deleted"}

    @dlt.resource(write_disposition="replace", columns=as_text(FORM_COLUMNS))
    def form_versions():
        path = Path(folder, "form-data.csv")
        if path.exists():  # a survey without responses has none
            with path.open(newline="", encoding="utf-8") as file:
                yield from csv.DictReader(file)

    return responses, form_versions


def load(survey, folder, pipeline):
    survey.mirror(folder)
    # loads what a run that was stopped has extracted: with new data, dlt would load only that
    pipeline.run()
    with survey.changes(folder) as changes:
        pipeline.run(survey_tables(changes, folder))


if __name__ == "__main__":
    pipeline = dlt.pipeline("survey_export", destination="duckdb", dataset_name="survey")
    load(Client().survey("Health & Habits 2026 – Saúde"), "data", pipeline)
