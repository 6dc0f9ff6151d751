"""Records of the service's CSV and NDJSON files, as bytes, and their positions in its order.

A block is bytes that begin and end between two records. `docs/api.md` describes the dialect, the
order and the cursor.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TypeAlias

from ._errors import TransferError

BOM = "\ufeff".encode()
LARGEST_RECORD = 1 << 25
"""The service's have at most 16 MiB."""
MOST_COMMAS = 1 << 15
"""In a header. The service's have at most 5,000 names."""
RESPONSE_COLUMNS = [
    "parent_surveyid",
    "parent_shortcode",
    "surveyid",
    "flowid",
    "userid",
    "question_ref",
    "question_idx",
    "question_text",
    "response",
    "timestamp",
    "metadata",
    "ad_id",
    "pageid",
    "translated_response",
]
PRIMARY_KEY = ("surveyid", "timestamp", "userid", "question_ref")
"""The columns whose values tell a response from all others."""

_TEXT = rb'(?:"[^"]*(?:""[^"]*)*"|[^",\n]*)'
_CELL = re.compile(b"(%b)[,\n]" % _TEXT)
_RECORD = re.compile(rb'(?:[^"\n]+|"[^"]*")*\n')
"""Python's csv module reads a null, which is an empty cell, and an empty text, `""`, alike."""
_OBJECT = re.compile(rb'\{.*"token":"([\w-]+)"}\n')
"""An object is not parsed, since it can have numbers that Python does not parse."""

Key: TypeAlias = tuple[str, str, str, str]
"""A response's position: its timestamp without the Z, userid, question_ref and surveyid."""


@dataclass(frozen=True)
class Format:
    """A format whose download can be resumed."""

    path: str
    has_header: bool
    end: Callable[[bytes], int]
    """Returns where the last complete record ends, in bytes that begin with a record."""
    record: re.Pattern[bytes]
    """Matches a record of a response."""
    key: Callable[[re.Match[bytes]], Key]
    """Returns the position of a response, or raises ValueError."""

    def keys(self, block: bytes) -> list[Key]:
        """Return the positions of a block's responses. Raises TransferError for anything else."""
        found = []
        end = 0
        with suppress(ValueError):
            while match := self.record.match(block, end):
                found.append(self.key(match))
                end = match.end()

        if end < len(block):
            raise TransferError("the file has a line that is no response")
        return found


def cursor_of(key: Key) -> str:
    """Return the cursor of a response."""
    text = json.dumps([1, f"{key[0]}Z", *key[1:]])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def key_of(cursor: str) -> Key:
    """Return the position that a cursor of the current format holds. Raises ValueError."""
    text = base64.urlsafe_b64decode(f"{cursor}==")
    _, timestamp, userid, question_ref, surveyid = json.loads(text)
    return timestamp.removesuffix("Z"), userid, question_ref, surveyid


def _csv_end(data: bytes) -> int:
    before = len(data)
    quotes = data.count(b'"')
    while (line_feed := data.rfind(b"\n", 0, before)) >= 0:
        quotes -= data.count(b'"', line_feed, before)
        if quotes % 2 == 0:
            return line_feed + 1
        before = line_feed
    return 0


def _csv_key(match: re.Match[bytes]) -> Key:
    surveyid, userid, question_ref, timestamp = [text_of(cell) or "" for cell in match.groups()]
    return timestamp.removesuffix("Z"), userid, question_ref, surveyid


def csv_of(columns: Iterable[str]) -> Format:
    """Return the format of a CSV file with these columns."""
    cells = [b"(%b)" % _TEXT if name in PRIMARY_KEY else _TEXT for name in columns]
    return Format("/responses/csv", True, _csv_end, re.compile(b",".join(cells) + b"\n"), _csv_key)


CSV = csv_of(RESPONSE_COLUMNS)
NDJSON = Format(
    "/responses/ndjson",
    False,
    lambda data: data.rfind(b"\n") + 1,
    _OBJECT,
    lambda match: key_of(match[1].decode()),
)


def blocks(pieces: Iterable[bytes], kind: Format) -> Iterator[bytes]:
    """Yield a file's bytes in blocks. Raises TransferError if the file ends within a record."""
    rest = b""
    for piece in pieces:
        rest += piece
        if end := kind.end(rest):
            yield rest[:end]
            rest = rest[end:]
        if len(rest) > LARGEST_RECORD:
            raise TransferError("the file has a record that is too large")
    if rest:
        raise TransferError("the file ends within a record")


def csv_table(file: IO[bytes], columns: list[str], *, more: bool = False) -> Iterator[bytes]:
    """Yield the records of a CSV file with these columns, and possibly more, after its header.

    Raises TransferError if the file has another header, ends within a record, or has a record of
    another length.
    """
    records = csv_records(blocks(iter(lambda: file.read(1 << 16), b""), CSV))
    header = names_in(next(records, b""))
    if header[: len(columns) if more else None] != columns:
        raise TransferError("the file is empty, damaged or something else")

    whole = re.compile(b"(?:%b,){%d}%b\n" % (_TEXT, len(header) - 1, _TEXT))
    for record in records:
        if not whole.fullmatch(record):
            raise TransferError("the file has a record of another length than its header")
        yield record


def csv_records(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the records of blocks of CSV."""
    return (match.group() for block in blocks for match in _RECORD.finditer(block))


def cells(record: bytes) -> list[bytes]:
    """Return the cells of a record of CSV, in quotes if they have them."""
    return _CELL.findall(record)


def names_in(header: bytes) -> list[str]:
    """Return the names of the columns, without the byte order mark that the file may begin with.

    Raises TransferError if there are more than the service has.
    """
    if header.count(b",") > MOST_COMMAS:
        raise TransferError("the file has too many columns")
    names = [value(cell) or b"" for cell in cells(header.removeprefix(BOM))]
    return [name.decode(errors="replace") for name in names]


def first_cell(record: bytes) -> bytes:
    """Return the first cell of a record, which may have thousands."""
    return next(_CELL.finditer(record))[1]


def value(cell: bytes) -> bytes | None:
    """Return the value of a cell of CSV. An empty cell is a null, `""` is an empty text."""
    if cell.startswith(b'"'):
        return cell[1:-1].replace(b'""', b'"')
    return cell or None


def text_of(cell: bytes) -> str | None:
    """Return the value of a cell as a text."""
    content = value(cell)
    return None if content is None else content.decode()
