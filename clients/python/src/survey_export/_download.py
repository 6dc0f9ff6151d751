"""Downloads of whole files, and the numbers of records in wide files and workbooks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeAlias
from zipfile import BadZipFile, ZipFile

from ._errors import SurveyExportError, TransferError
from ._files import check_folder, open_gzip, open_locked, put
from ._http import Http
from ._models import key, summary
from ._parameters import Parameter, query
from ._records import CSV, LARGEST_RECORD, NDJSON, Format, csv_table, first_cell
from ._transfer import ROUNDS, CountError, Transfer, count_responses, fetch, filters_of

Counts: TypeAlias = tuple[int, int]
"""The numbers of records and of participants."""

_SHEET = "xl/worksheets/sheet1.xml"
_FIRST_CELL = re.compile(rb'<c r="A\d+"(.*?)</c>', re.DOTALL)


def download(http: Http, path: Path, parameters: Mapping[str, Parameter]) -> int:
    """Download a file, which gets its name only when it is complete. Return its records.

    Until then its uncompressed bytes are in a file beside it, which is named for the selection: a
    download with other parameters does not continue it.
    """
    compressed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if compressed else path.suffix
    if suffix not in (".csv", ".ndjson", ".xlsx") or (suffix == ".xlsx" and compressed):
        raise ValueError(
            "the file's name must end in .csv, .ndjson, .csv.gz, .ndjson.gz, .xlsx, .dta or .sav"
        )
    check_folder(path)

    found = http.json("/key", {}, key)
    selection = json.dumps([http.url, found.email, found.limits, suffix, sorted(query(parameters))])
    checksum = hashlib.sha256(selection.encode()).hexdigest()[:8]
    part = path.with_name(f"{path.name}.{checksum}.part")
    with open_locked(part) as file:
        if file is None:
            raise SurveyExportError(f"another process is downloading {path}")
        try:
            records = write(http, suffix, parameters, file)
        except BaseException as error:
            if file.tell() == 0 or isinstance(error, CountError):  # there is nothing to continue
                file.close()
                part.unlink()
            raise

        if os.name == "nt":
            file.close()  # Windows renames no open file
        if compressed:
            whole = part.with_suffix(".part-gz")
            with part.open("rb") as source, open_gzip(whole) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            put(whole, path)
            part.unlink()
        else:
            put(part, path)
    return records


def write(http: Http, suffix: str, parameters: Mapping[str, Parameter], file: IO[bytes]) -> int:
    """Write a file, or continue it if its format allows that. Return its records."""
    is_wide = ("layout", "wide") in query(parameters)
    if suffix == ".ndjson" or (suffix == ".csv" and not is_wide):
        records = _resume(http, CSV if suffix == ".csv" else NDJSON, parameters, file)
    else:
        records = _fetch_counted(http, suffix, is_wide, parameters, file)
    file.flush()
    return records


def _fetch_counted(
    http: Http, suffix: str, is_wide: bool, parameters: Mapping[str, Parameter], file: IO[bytes]
) -> int:
    """Write a file with as many participants, or responses, as the service counts.

    Return its records.
    """
    path = f"/responses/{suffix[1:]}"
    count = count_workbook if suffix == ".xlsx" else count_csv
    selection = filters_of(parameters, "repeats", "require_metadata", "require_question")
    expected: list[int] = []
    for _ in range(ROUNDS):
        records, participants = fetch(http, path, parameters, file, count)
        if is_wide:
            number = participants
            now = http.json("/responses/summary", selection, summary).participants
        else:
            number = records
            now = count_responses(http, parameters)

        # While responses are stored, the number is between those of the last round and this one.
        expected = [*expected[-1:], now]
        if min(expected) <= number <= max(expected):
            return records

    unit = "participants" if is_wide else "responses"
    raise CountError(f"the file has {number:,} of {now:,} {unit}")


def _resume(http: Http, kind: Format, parameters: Mapping[str, Parameter], file: IO[bytes]) -> int:
    for rounds_left in reversed(range(ROUNDS)):
        transfer = Transfer(http, kind, {**parameters, "count": True})
        file.seek(0)
        end = 0
        with suppress(TransferError):  # the last record is incomplete if the program was stopped
            for block in transfer.read(iter(lambda: file.read(65536), b"")):
                end += len(block)
        file.truncate(end)

        try:
            for block in transfer.blocks():
                file.write(block)
                http.line.show(f"{transfer.done:,} of {transfer.expected:,} responses")
            break
        except CountError:
            if rounds_left == 0:
                raise
            file.truncate(0)
    return transfer.done


def count_csv(file: IO[bytes]) -> Counts:
    """Count a wide file, whose first column is `userid`."""
    records = Counter(map(first_cell, csv_table(file, ["userid"], more=True)))
    return records.total(), len(records)


def count_workbook(file: IO[bytes]) -> Counts:
    """Count a workbook, whose first column is `userid` in the wide layout."""
    try:
        with ZipFile(file) as archive, archive.open(_SHEET) as sheet:
            rows = _rows(sheet)
            next(rows)
            records = Counter(b"".join(_FIRST_CELL.findall(row)) for row in rows)
            if archive.testzip():
                raise BadZipFile
    except (BadZipFile, zlib.error, EOFError, LookupError, StopIteration):
        raise TransferError("the workbook is empty, damaged or something else") from None
    return records.total(), len(records)


def _rows(sheet: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while piece := sheet.read(1 << 16):
        *rows, rest = (rest + piece).split(b"</row>")
        yield from rows
        if len(rest) > LARGEST_RECORD:
            raise TransferError("the workbook has a row that is too large")
