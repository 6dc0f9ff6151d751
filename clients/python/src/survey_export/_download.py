"""Downloads of whole files."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from ._errors import SurveyExportError, TransferError
from ._files import open_gzip, open_locked, put
from ._http import Http, query
from ._models import FILTERS, Parameter, summary
from ._records import CSV, NDJSON, WIDE_COLUMNS, Format, blocks, cells, csv_records
from ._transfer import ROUNDS, Transfer, fetch

_FORMATS = {".csv": CSV, ".ndjson": NDJSON}


def download(http: Http, path: Path, parameters: Mapping[str, Parameter], *, progress: bool | None) -> None:
    """Download a file that gets its name only when it is complete.

    Until then its uncompressed bytes are in a file beside it, which is named for the selection: a download with
    other parameters does not continue it.
    """
    compressed = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if compressed else path.suffix
    if suffix not in (".csv", ".ndjson", ".xlsx") or (suffix == ".xlsx" and compressed):
        raise ValueError("the file's name must end in .csv, .ndjson, .csv.gz, .ndjson.gz or .xlsx")

    account = http.json("/key", {}, lambda body: str(body["email"]))
    selection = json.dumps([http.url, account, suffix, sorted(query(parameters))])
    part = path.with_name(f"{path.name}.{hashlib.sha256(selection.encode()).hexdigest()[:8]}.part")
    with open_locked(part) as file:
        if file is None:
            raise SurveyExportError(f"another process is downloading {path}")
        try:
            if suffix == ".xlsx":
                fetch(http, "/responses/xlsx", parameters, file, None)
            elif suffix == ".csv" and ("layout", "wide") in query(parameters):
                _fetch_wide(http, parameters, file)
            else:
                show = sys.stderr.isatty() if progress is None else progress
                _resume(http, _FORMATS[suffix], parameters, file, show=show)
            file.flush()
        except BaseException:
            if file.tell() == 0:  # there is nothing to continue
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


def _fetch_wide(http: Http, parameters: Mapping[str, Parameter], file: IO[bytes]) -> None:
    """Write a wide file with as many participants as the summary has."""
    names = ("survey", *FILTERS, "repeats", "require_metadata")
    selection = {name: parameters[name] for name in names if name in parameters}
    after = http.json("/responses/summary", selection, summary).participants
    for _ in range(ROUNDS):
        before = after
        fetch(http, "/responses/csv", parameters, file, ",".join(WIDE_COLUMNS).encode())
        file.seek(0)
        records = csv_records(blocks(iter(lambda: file.read(65536), b""), CSV))
        next(records)  # the header
        found = sum(1 for _ in itertools.groupby(records, lambda record: cells(record)[0]))
        after = http.json("/responses/summary", selection, summary).participants
        if min(before, after) <= found <= max(before, after):
            return
    raise TransferError(f"the file has {found:,} participants, and the summary {after:,}", status=200)


def _resume(http: Http, kind: Format, parameters: Mapping[str, Parameter], file: IO[bytes], *, show: bool) -> None:
    transfer = Transfer(http, kind, dict(**parameters, count=True))
    file.seek(0)
    end = 0
    with suppress(TransferError):  # the last record is incomplete if the program was stopped
        for block in transfer.read(iter(lambda: file.read(65536), b"")):
            end += len(block)
    file.truncate(end)

    for block in transfer.blocks():
        file.write(block)
        if show:
            print(f"\r{transfer.done:,} of {transfer.expected:,} responses", end="", file=sys.stderr, flush=True)
    if show:
        print(file=sys.stderr)
