"""Digests of files, as `docs/sync.md` computes them."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

from ._errors import SurveyExportError
from ._records import CSV, RESPONSE_COLUMNS, blocks, cells, csv_records, value

VERSION = 1
_FORM_COLUMNS = ["surveyid", "shortcode", "survey_name", "version", "survey_created", "metadata"]
_SURVEYID = RESPONSE_COLUMNS.index("surveyid")


class _Sum:
    """A sum of hashes, which does not depend on their order."""

    def __init__(self) -> None:
        self._first = self._last = 0

    def add(self, values: Iterable[bytes | None]) -> None:
        text = b"".join([b"~" if value is None else b"%d:%b" % (len(value), value) for value in values])
        md5 = hashlib.md5(text, usedforsecurity=False).digest()
        self._first += int.from_bytes(md5[:8], "big")
        self._last += int.from_bytes(md5[8:], "big")

    def __str__(self) -> str:
        return f"{self._first % 2**64:016x}{self._last % 2**64:016x}"


def _records(path: Path, file: IO[bytes], columns: list[str]) -> Iterator[list[bytes | None]]:
    header: bytes | None = None
    for block in blocks(iter(lambda: file.read(65536), b""), CSV):
        for record in csv_records(block):
            if header is None:
                header = record
                if header != ",".join(columns).encode() + b"\n":
                    raise SurveyExportError(f"{path.name} has other columns than this version of survey-export knows")
            else:
                yield [value(cell) for cell in cells(record)]


def read_forms(path: Path) -> tuple[str, dict[bytes | None, bytes | None]]:
    """Return the digest of the form data in a file, and its shortcodes by surveyid."""
    total = _Sum()
    shortcodes = {}
    with path.open("rb") as file:
        for version in _records(path, file, _FORM_COLUMNS):
            total.add(version)
            shortcodes[version[0]] = version[1]
    return str(total), shortcodes


def digest_of(path: Path, shortcodes: Mapping[bytes | None, bytes | None]) -> str | None:
    """Return the digest of the responses in a gzipped file, or None if one has an unknown form version."""
    total = _Sum()
    with cast(IO[bytes], gzip.open(path)) as file:
        for response in _records(path, file, RESPONSE_COLUMNS):
            if response[_SURVEYID] not in shortcodes:
                return None
            *head, _ad_id, pageid, translated = response
            head.insert(_SURVEYID, shortcodes[response[_SURVEYID]])
            total.add([*head, pageid, translated])
    return str(total)
