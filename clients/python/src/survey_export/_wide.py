"""Wide files and workbooks: what is known of their records without the service's."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import IO, TypeAlias
from zipfile import BadZipFile, ZipFile

from ._errors import TransferError
from ._records import csv_table, first_cells, value

Counts: TypeAlias = tuple[int, int]
"""The numbers of records and of participants."""

_SHEET = "xl/worksheets/sheet1.xml"
_ROW = re.compile(rb'(?:<\?xml.*?)?<row r="(\d+)">(?:<c r="A\d+"(.*?)</c>)?', re.DOTALL)


def count_csv(columns: list[str], file: IO[bytes]) -> Counts:
    """Count a wide file that begins with these columns. Raises TransferError unless its records are in order."""
    records = 0
    participants: set[bytes] = set()
    chains: set[tuple[bytes, ...]] = set()
    userid = started = b""
    for record in csv_table(file, columns, more=True):
        before, before_started = userid, started
        userid, *chain, _, started = first_cells(record, 5)
        started = started.removesuffix(b"Z")
        if userid == before:
            is_next = tuple(chain) not in chains and started >= before_started
        else:
            is_next = userid not in participants and _can_follow(before, userid)
            chains.clear()
        if not is_next:
            raise TransferError("the file has records that are not in order", status=200)
        records += 1
        participants.add(userid)
        chains.add(tuple(chain))
    return records, len(participants)


def _can_follow(cell: bytes, other: bytes) -> bool:
    """Return whether a database can sort texts like this. Only of digits does every collation sort alike."""
    return (value(cell) or b"") < (value(other) or b"") or not (cell + other).isdigit()


def count_workbook(file: IO[bytes]) -> Counts:
    """Count the rows of a workbook. Raises TransferError if it is damaged, or a row is not where it should be.

    The number of participants is that of a wide table, whose first column is `userid`.
    """
    number = 0
    participants = set()
    try:
        with ZipFile(file) as archive, archive.open(_SHEET) as sheet:
            for number, row in enumerate(_rows(sheet), start=1):
                found = _ROW.match(row)
                if not found or int(found[1]) != number:
                    raise TransferError("the workbook has rows that are not in order", status=200)
                if number > 1:
                    participants.add(found[2])
            for name in {*archive.namelist()} - {_SHEET}:
                archive.read(name)  # which checks it
    except (BadZipFile, zlib.error, EOFError, LookupError):
        number = 0
    if number == 0:
        raise TransferError("the workbook is empty, damaged or something else", status=200)
    return number - 1, len(participants)


def _rows(sheet: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while piece := sheet.read(1 << 16):
        *rows, rest = (rest + piece).split(b"</row>")
        yield from rows
