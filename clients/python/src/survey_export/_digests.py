"""Digests of files, as `docs/sync.md` computes them, and checks of what they do not cover: quotes and `ad_id`."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

from ._errors import TransferError
from ._records import RESPONSE_COLUMNS, cells, csv_table, value

VERSION = 1
FORM_COLUMNS = ["surveyid", "shortcode", "survey_name", "version", "survey_created", "metadata"]
CODEBOOK_COLUMNS = [
    *["column", "shortcode", "question_ref", "question_idx", "question_text"],
    *["responses", "participants", "first", "last", "choices"],
]
_SURVEYID = RESPONSE_COLUMNS.index("surveyid")
_METADATA = RESPONSE_COLUMNS.index("metadata")
_JSON = json.JSONDecoder(parse_int=str, parse_float=str)  # numbers keep their digits


def read_forms(path: Path) -> tuple[str, dict[bytes | None, bytes | None]]:
    """Return the digest of the form data in a file, and its shortcodes by surveyid."""
    with path.open("rb") as file:
        versions = [*_records(file, FORM_COLUMNS)]
    for _, of_form in itertools.groupby(versions, lambda version: version[1]):
        if any(version[3] != b"%d" % number for number, version in enumerate(of_form, start=1)):
            raise TransferError("the form data are not in order", status=200)
    return _digest(versions), {version[0]: version[1] for version in versions}


def count_in_codebook(path: Path) -> int:
    """Return how many responses the questions of a codebook have together."""
    with path.open("rb") as file:
        questions = [*_records(file, CODEBOOK_COLUMNS)]
    forms: dict[bytes | None, int] = {}
    order = [(forms.setdefault(form, len(forms)), int(index or 0), ref or b"") for _, form, ref, index, *_ in questions]
    if order != sorted({*order}):
        raise TransferError("the codebook is not in order", status=200)
    return sum(int(question[5] or 0) for question in questions)


def digest_of(path: Path, shortcodes: Mapping[bytes | None, bytes | None]) -> str:
    """Return the digest of the responses in a gzipped file.

    If the form data lacks the form version of a response, the digest differs from the service's: every form version
    has a shortcode.
    """
    with cast(IO[bytes], gzip.open(path)) as file:
        responses = _records(file, RESPONSE_COLUMNS)
        return _digest(
            [*response[:_SURVEYID], shortcodes.get(response[_SURVEYID]), *response[_SURVEYID:-3], *response[-2:]]
            for response in responses  # without one that is wrong, the digest differs
            if _has_ad_id(response[_METADATA], response[_METADATA + 1])
        )


def _has_ad_id(metadata: bytes | None, ad_id: bytes | None) -> bool:
    """Return whether `ad_id` is `metadata->>'ad_id'`, which digests do not cover."""
    found = _JSON.decode(metadata.decode()) if metadata and b'"ad_id"' in metadata else None
    expected = found.get("ad_id") if isinstance(found, dict) else None
    if expected is None or ad_id is None or isinstance(expected, str):
        return expected == (None if ad_id is None else ad_id.decode())
    return bool(_JSON.decode(ad_id.decode()) == expected)  # of an object, a list, true or false


def _records(file: IO[bytes], columns: list[str]) -> Iterator[list[bytes | None]]:
    for record in csv_table(file, columns):
        yield [value(cell) for cell in cells(record)]


def _digest(records: Iterable[list[bytes | None]]) -> str:
    first = last = 0
    for values in records:
        text = b"".join([b"~" if value is None else b"%d:%b" % (len(value), value) for value in values])
        md5 = hashlib.md5(text, usedforsecurity=False).digest()
        first += int.from_bytes(md5[:8], "big")
        last += int.from_bytes(md5[8:], "big")
    return f"{first % 2**64:016x}{last % 2**64:016x}"
