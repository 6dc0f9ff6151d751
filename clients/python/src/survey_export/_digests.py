"""Digests of files, as `docs/internals/digests.md` computes them."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

from ._models import Question
from ._records import RESPONSE_COLUMNS, cells, csv_table, value

VERSION = 1
FORM_COLUMNS = ["surveyid", "shortcode", "survey_name", "version", "survey_created", "metadata"]
CODEBOOK_COLUMNS = [*Question.__annotations__]
_SURVEYID = RESPONSE_COLUMNS.index("surveyid")
_AD_ID = RESPONSE_COLUMNS.index("ad_id")


def read_forms(file: IO[bytes]) -> tuple[str, dict[bytes | None, bytes | None]]:
    """Return the digest of the form data in a file, and its shortcodes by surveyid."""
    versions = [*_records(file, FORM_COLUMNS)]
    return _digest(versions), {version[0]: version[1] for version in versions}


def count_in_codebook(file: IO[bytes]) -> int:
    """Return how many responses the questions of a codebook have together."""
    return sum(int(question[5] or 0) for question in _records(file, CODEBOOK_COLUMNS))


def digest_of(path: Path, shortcodes: Mapping[bytes | None, bytes | None]) -> str:
    """Return the digest of the responses in a gzipped file.

    If the form data lacks the form version of a response, the digest differs from the service's:
    every form version has a shortcode.
    """

    def digested(values: list[bytes | None]) -> list[bytes | None]:
        del values[_AD_ID]  # which repeats a value of `metadata`
        values.insert(_SURVEYID, shortcodes.get(values[_SURVEYID]))
        return values

    with cast(IO[bytes], gzip.open(path)) as file:
        return _digest(map(digested, _records(file, RESPONSE_COLUMNS)))


def _records(file: IO[bytes], columns: list[str]) -> Iterator[list[bytes | None]]:
    for record in csv_table(file, columns):
        yield [value(cell) for cell in cells(record)]


def _digest(records: Iterable[list[bytes | None]]) -> str:
    first = last = 0
    for values in records:
        texts = [b"~" if value is None else b"%d:%b" % (len(value), value) for value in values]
        md5 = hashlib.md5(b"".join(texts), usedforsecurity=False).digest()
        first += int.from_bytes(md5[:8], "big")
        last += int.from_bytes(md5[8:], "big")
    return f"{first % 2**64:016x}{last % 2**64:016x}"
