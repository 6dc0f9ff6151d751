"""The example with dlt and DuckDB."""

import importlib
import multiprocessing
import signal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from mirrors import ANY, CSV, FORM_DATA, die_before
from service import KEY, URL, records_of
from survey_export import RESPONSE_COLUMNS, Client
from survey_export._digests import FORM_COLUMNS

EXAMPLES = Path(__file__).parents[1] / "examples"
PHASES = {
    "mirror": "/.new",
    "changes": "/.changes/",
    "extract": "/normalize/",
    "normalize": "/load/new/",
    "load": "/load/normalized/",
    "confirm": "/.changes/versions.json",
}
"""What the names of the files have in common on which a phase works."""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("RUNTIME__DLTHUB_TELEMETRY", "false")
    monkeypatch.setenv("DLT_DATA_DIR", str(tmp_path / "dlt"))
    return importlib.import_module("dlt_database")


def load(example: Any, name: str, folder: Path, phase: str = "", number: int = 0) -> None:
    """Run the example. Kill this process in a phase, before that operation on a file."""
    destination = example.dlt.destinations.duckdb(str(folder / "survey_export.duckdb"))
    pipeline = example.dlt.pipeline(
        "survey_export",
        destination=destination,
        dataset_name="survey",
        pipelines_dir=str(folder / "pipelines"),
    )
    if phase:
        die_before(number, ANY, PHASES[phase])
    example.load(Client(URL, KEY).survey(name), folder / "data", pipeline)


def test_a_database_is_exact_after_edits_and_kills(example, study, tmp_path, randomness):
    fork = multiprocessing.get_context("fork")

    def run(*given):
        process = fork.Process(target=load, args=(example, study.name, tmp_path, *given))
        process.start()
        process.join()
        return process.exitcode

    for number, phase in enumerate(PHASES, start=1):
        for _ in range(10):
            study.change()
        if number == 4:
            study.delete()
        last = 5 if phase == "confirm" else 8
        assert run(phase, randomness.randrange(1, last)) in (
            -signal.SIGKILL,
            0,
        )  # 0 if a phase had nothing to do
        if number % 3 == 0:
            study.add(["2026-03-05"], 3)
            assert run() == 0
            assert rows_in(tmp_path) == [
                sorted(records_of(study.export(path))[1:], key=repr) for path in (CSV, FORM_DATA)
            ]
    study.delete()
    assert run() == 0
    assert rows_in(tmp_path) == [[], []]


def test_every_column_is_text_of_any_length(example, study, tmp_path):
    form = study.add_version("20260301T10")
    study.update_forms("metadata = jsonb_build_object('long', repeat('x', 200000))")
    for name in ("20260301T10", "baseline"):
        study.sql("update surveys set shortcode = %s where id = %s", name, form)
        load(example, study.name, tmp_path)
        expected = sorted(records_of(study.export(FORM_DATA))[1:], key=repr)
        assert rows_in(tmp_path)[1] == expected


def rows_in(folder: Path) -> list[list[list[str | None]]]:
    """Return the rows of both tables, without the columns of dlt."""
    with duckdb.connect(str(folder / "survey_export.duckdb"), read_only=True) as connection:
        tables = [(RESPONSE_COLUMNS, "responses"), (FORM_COLUMNS, "form_versions")]
        queries = [f"select {', '.join(columns)} from survey.{table}" for columns, table in tables]
        return [
            sorted(map(list, connection.execute(query).fetchall()), key=repr) for query in queries
        ]
