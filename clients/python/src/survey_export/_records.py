"""Records of the service's CSV and NDJSON files, as bytes: where they end, how many there are, and their cursors.

A block is bytes that begin and end between two records. `docs/api.md` describes the dialect and the cursor.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ._errors import TransferError

# Python's csv module does not distinguish a null, which is an empty cell, from an empty text, which is "".
_CELL = re.compile(rb'("[^"]*(?:""[^"]*)*"|[^",\n]*)[,\n]')
_RECORD = re.compile(rb'(?:[^"\n]+|"[^"]*")*\n')
_TOKEN = re.compile(rb'"token":"([\w-]+)"}\n')

BOM = "\ufeff".encode()
RESPONSE_COLUMNS = [
    *["parent_surveyid", "parent_shortcode", "surveyid", "flowid", "userid", "question_ref", "question_idx"],
    *["question_text", "response", "timestamp", "metadata", "ad_id", "pageid", "translated_response"],
]
WIDE_COLUMNS = ["userid", "parent_surveyid", "parent_shortcode", "flowid", "started", "ended", "attempts", "metadata"]


@dataclass(frozen=True)
class Format:
    """A format whose download can be resumed."""

    path: str
    has_header: bool
    end: Callable[[bytes, int], int]
    """Returns where the last complete record before a position ends, in bytes that begin with a record."""
    count: Callable[[bytes], int]
    """Returns the number of records of a block."""
    cursor: Callable[[bytes], str]
    """Returns the cursor of a record. What is no record raises TransferError."""


def _csv_end(data: bytes, before: int) -> int:
    quotes = data.count(b'"', 0, before)
    while (line_feed := data.rfind(b"\n", 0, before)) >= 0:
        quotes -= data.count(b'"', line_feed, before)
        if quotes % 2 == 0:
            return line_feed + 1
        before = line_feed
    return 0


def _csv_count(block: bytes) -> int:
    return b"".join(block.split(b'"')[::2]).count(b"\n")  # what is outside quotes


def _csv_cursor(record: bytes) -> str:
    values = dict(zip(RESPONSE_COLUMNS, map(value, cells(record)), strict=False))  # `metadata` may add columns
    if len(values) < len(RESPONSE_COLUMNS):
        raise TransferError("the file has a line that is no response", status=200)
    names = ("timestamp", "userid", "question_ref", "surveyid")
    position = [1, *((values[name] or b"").decode() for name in names)]
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def _ndjson_cursor(record: bytes) -> str:
    token = _TOKEN.search(record)  # not parsed, since it can have numbers that Python does not parse
    if not token:
        raise TransferError("the file has a line that is no response", status=200)
    return token[1].decode()


CSV = Format("/responses/csv", True, _csv_end, _csv_count, _csv_cursor)
NDJSON = Format(
    "/responses/ndjson",
    False,
    lambda data, before: data.rfind(b"\n", 0, before) + 1,
    lambda block: block.count(b"\n"),
    _ndjson_cursor,
)


def blocks(pieces: Iterable[bytes], kind: Format) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks. Raises TransferError if the file ends within a record."""
    rest = b""
    for piece in pieces:
        rest += piece
        end = kind.end(rest, len(rest))
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        raise TransferError("the file ends within a record", status=200)


def csv_records(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the records of blocks of CSV."""
    return (match.group() for block in blocks for match in _RECORD.finditer(block))


def cells(record: bytes) -> list[bytes]:
    """Return the cells of a record of CSV, in quotes if they have them."""
    return _CELL.findall(record)


def value(cell: bytes) -> bytes | None:
    """Return the value of a cell of CSV. An empty cell is a null, `""` is an empty text."""
    return cell[1:-1].replace(b'""', b'"') if cell.startswith(b'"') else cell or None
