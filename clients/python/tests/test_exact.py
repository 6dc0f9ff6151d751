"""What the client calls complete has exactly the service's records, in order, each once.

Of workbooks and files without a digest or a cursor, it knows only the number.
"""

import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from zipfile import ZipFile

import pytest

from mirrors import CODEBOOK, CSV, DIGESTS, FORM_DATA
from service import Fault
from survey_export import MirrorChangingError, Survey, TransferError

SHEET = "xl/worksheets/sheet1.xml"
HEADERS = (b"parent_surveyid,", b"userid,", b"surveyid,", b"column,")
RECORDS = {
    "none": lambda records: [],
    "one missing": lambda records: records[:3] + records[4:],
    "one twice": lambda records: records[:4] + records[3:],
    "one twice and one missing": lambda records: records[:4] + records[3:4] + records[5:],
    "one again and one missing": lambda records: records[:9] + records[:1] + records[10:],
    "two exchanged": lambda records: records[1::-1] + records[2:],
    "a comma more": lambda records: [record[:-1] + b"," + record[-1:] for record in records],
}
BODIES = {
    "half of its bytes": lambda body: body[: len(body) // 2],
    "an error": lambda body: b'{"error":{"message":"busy"}}\n',
    "a text": lambda body: b"PK is not enough\n",
    "an object": lambda body: b'{"a":"b"}\n',
    "nothing": lambda body: b"",
    "half of its gzip": lambda body: gzip.compress(body)[:-9],
}
OF_ANY_FILE = ["none", "one missing", "a comma more", *BODIES]
OF_JSON = ["a cut", "half of its bytes", "half of its gzip"]


def lie_of(lie: str) -> Fault:
    """Return what alters the records of a file, or replaces it."""

    def of_records(body: bytes) -> bytes:
        if body.startswith(b"PK"):
            return of_workbook(body)
        record = rb".*\n" if body.startswith(b"{") else rb'(?:[^"\n]+|"[^"]*")*\n'
        lines = re.findall(record, body)
        has_header = body.startswith(HEADERS)
        return b"".join([*lines[:has_header], *RECORDS[lie](lines[has_header:])])

    def of_workbook(body: bytes) -> bytes:
        altered = io.BytesIO()
        with ZipFile(io.BytesIO(body)) as source, ZipFile(altered, "w") as target:
            for part in source.namelist():
                content = source.read(part)
                if part == SHEET:
                    header, *rows = re.findall(rb"<row .*?</row>", content, re.DOTALL)
                    content = content.replace(
                        b"".join([header, *rows]), b"".join([header, *RECORDS[lie](rows)])
                    )
                target.writestr(part, content)
        return altered.getvalue()

    if lie == "a cut":
        return Fault(cut=20)
    headers = {"Content-Encoding": "gzip"} if "gzip" in lie else {}
    return Fault(alter=BODIES.get(lie, of_records), headers=headers)


def mirror(survey: Survey, folder: Path) -> None:
    survey.mirror(folder, "month")


def result_of(call: Callable[[Survey], object]) -> Callable[[Survey, Path], object]:
    """Return what saves the result of a call."""
    return lambda survey, folder: (folder / "result.csv").write_text(repr(call(survey)))


Complete: TypeAlias = dict[str, tuple[str, Callable[[Survey, Path], object]]]
"""Paths, and calls that save what is complete."""

JSON: Complete = {
    "surveys": ("/surveys", result_of(lambda survey: survey.client.surveys())),
    "key": ("/key", result_of(lambda survey: survey.client.key())),
    "codebook": (CODEBOOK, result_of(Survey.codebook)),
    "summary": ("/responses/summary", result_of(Survey.summary)),
    "mirror's digests": (DIGESTS, mirror),
}
COMPLETE: Complete = {
    "csv": (CSV, lambda survey, folder: survey.download(folder / "r.csv")),
    "wide csv": (CSV, lambda survey, folder: survey.download(folder / "r.csv", layout="wide")),
    "workbook": ("/responses/xlsx", lambda survey, folder: survey.download(folder / "r.xlsx")),
    "wide workbook": (
        "/responses/xlsx",
        lambda survey, folder: survey.download(folder / "r.xlsx", layout="wide"),
    ),
    "rows": ("/responses/ndjson", result_of(lambda survey: [*survey.rows()])),
    "mirror's responses": (CSV, mirror),
    "mirror's codebook": (CODEBOOK, mirror),
    "mirror's form data": (FORM_DATA, mirror),
    **JSON,
}


def files_in(folder: Path) -> dict[str, object]:
    """Return the contents of the files that are complete, without the times that a workbook has."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        if path.suffix in (".csv", ".gz"):
            found[path.name] = path.read_bytes()
        elif path.suffix == ".xlsx":
            with ZipFile(path) as archive:
                found[path.name] = {part: archive.read(part) for part in archive.namelist()}
    return found


@pytest.mark.parametrize("what", COMPLETE)
def test_what_is_complete_is_exact(study, survey, proxy, tmp_path, monkeypatch, what):
    """A lie is repaired, or ends in an error if it is repeated."""
    for name, value in [("_http.ATTEMPTS", 2), ("_download.ROUNDS", 2), ("_mirror.ROUNDS", 2)]:
        monkeypatch.setattr(f"survey_export.{name}", value)
    study.delete("timestamp >= '2026-03-05'")
    study.update("parent_surveyid = null, parent_shortcode = ''")  # one record for each participant
    for shortcode in study.shortcodes:
        study.add_version(shortcode)
    path, complete = COMPLETE[what]
    complete(survey, tmp_path)
    expected = files_in(tmp_path)
    lies = [*RECORDS, *BODIES] if what in ("csv", "rows", "mirror's responses") else OF_ANY_FILE
    for lie in OF_JSON if what in JSON else lies:
        for times in (1, 99):
            folder = tmp_path / f"{lie} {times}"
            folder.mkdir()
            proxy.faults(*[lie_of(lie)] * times, path=path)
            try:
                complete(survey, folder)
                assert files_in(folder) == expected, lie
            except (TransferError, MirrorChangingError):
                assert files_in(folder).items() <= expected.items(), lie
                assert times > 1 or what == "rows", lie  # rows that were yielded stay


def test_a_database_that_does_not_sort_by_bytes(study, survey, tmp_path):
    """All responses have the same time, so that the collation orders them."""
    study.update(
        "timestamp = '2026-03-05', question_ref = question_ref || ctid::text, "
        "userid = (array['a', 'B', '_c', 'D'])[1 + flowid %% 4]"
    )
    users = [row["userid"] for row in survey.rows()]
    assert users != sorted(users)
    survey.download(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == study.export()
