"""The responses of a selection in their order, each once, whatever happens to the connection."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import IO
from zipfile import BadZipFile, ZipFile

import httpx

from ._errors import ServiceError, SurveyExportError, TransferError
from ._http import Http, Retries, pieces
from ._models import Parameter
from ._records import BOM, CSV, Format, blocks, csv_records

ROUNDS = 5
"""How often what has to agree is requested, while responses change."""


class Transfer:
    """A download that resumes after its last complete record when it breaks.

    Attributes:
        done: the number of responses so far.
        expected: the number of responses the file should have, if the parameters have `count`.
    """

    def __init__(self, http: Http, kind: Format, parameters: Mapping[str, Parameter], after: str | None = None) -> None:
        self._http = http
        self._kind = kind
        self._parameters = parameters
        self.done = 0
        self.expected: int | None = None
        self._after = after
        self._has_header = False

    def blocks(self) -> Iterator[bytes]:
        """Yield the file's bytes: the header alone, if the format has one, then blocks of records.

        Raises TransferError if transfers break without a new record.
        """
        retries = Retries()
        while True:
            before = self.done
            try:
                with self._http.open(self._kind.path, dict(**self._parameters, after=self._after)) as response:
                    if "count" in self._parameters:
                        count = response.headers.get("X-Total-Count", "")
                        if not count.isdecimal():
                            raise SurveyExportError(f"{self._http.url} returned a file without its number of responses")
                        self.expected = self.done + int(count)
                    yield from self.read(pieces(response))
                if self.expected is None or self.done >= self.expected:
                    return
                # A proxy shortened the file, or responses have been deleted. The next request counts what is left.
                raise TransferError(f"the file has {self.done} of {self.expected} responses", status=200)
            except (ServiceError, TransferError) as error:
                if self.done > before:
                    retries = Retries()
                retries.wait(error)

    def read(self, file: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the header, unless it was yielded before, and the blocks of a file that continues this one.

        Raises TransferError if the file is empty, ends within a record, or is something else.
        """
        header_comes = self._kind.has_header and self._after is None
        for block in blocks(file, self._kind):
            if header_comes:
                header_comes = False
                header = next(csv_records([block]))
                self._kind.cursor(header)  # raises an error unless it has the cells of a response
                if not self._has_header:
                    self._has_header = True
                    yield header
                block = block[len(header) :]
            if block:
                self._after = self._kind.cursor(block[self._kind.end(block, len(block) - 1) :])  # of the last record
                self.done += self._kind.count(block)
                yield block
        if header_comes:
            raise TransferError("the file is empty", status=200)


def fetch(http: Http, path: str, parameters: Mapping[str, Parameter], file: IO[bytes], start: bytes | None) -> None:
    """Write a file that cannot be resumed, starting again when the transfer breaks.

    Args:
        start: what a CSV file begins with; None for a workbook.

    Raises TransferError if transfers break, or the file is something else.
    """

    def write(response: httpx.Response) -> None:
        file.seek(0)
        file.truncate()
        body = pieces(response)
        for piece in body if start is None else blocks(body, CSV):
            file.write(piece)
        file.seek(0)
        if start is None:
            is_expected = _is_whole_zip(file)
        else:
            is_expected = file.read(len(BOM) + len(start)).removeprefix(BOM).startswith(start)
        if not is_expected:
            raise TransferError("the file is empty, damaged or something else", status=200)
        file.seek(0, os.SEEK_END)

    http.use(path, parameters, write)


def _is_whole_zip(file: IO[bytes]) -> bool:
    try:
        with ZipFile(file) as archive:
            return archive.testzip() is None
    except BadZipFile:
        return False
