"""Wide files and workbooks: what is known of their records without the service's."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import IO, TypeAlias
from zipfile import BadZipFile, ZipFile

from ._errors import TransferError
from ._records import csv_table, first_cells

Counts: TypeAlias = tuple[int, int]
"""The numbers of records and of participants."""

_SHEET = "xl/worksheets/sheet1.xml"
_ROW = re.compile(rb'(?:<\?xml.*?)?<row r="(\d+)">(?:<c r="A\d+"(.*?)</c>)?', re.DOTALL)


def count_csv(columns: list[str], file: IO[bytes]) -> Counts:
    """Count a wide file that begins with these columns. Raises TransferError if it has a record twice."""
    records = 0
    participants: set[bytes] = set()
    of_participant: set[tuple[bytes, ...]] = set()
    before = None
    for record in csv_table(file, columns, more=True):
        userid, *chain = first_cells(record, 4)
        if userid != before:
            of_participant.clear()
        if tuple(chain) in of_participant or (userid != before and userid in participants):
            raise TransferError("the file has a record twice", status=200)
        before = userid
        records += 1
        participants.add(userid)
        of_participant.add(tuple(chain))
    return records, len(participants)


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
