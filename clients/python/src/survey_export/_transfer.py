"""The responses of a selection in their order, each once, whatever happens to the connection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO

from ._errors import ServiceError, TransferError
from ._http import Http, Response, Result, pieces
from ._parameters import FILTERS, Parameter, texts
from ._records import PRIMARY_KEY, Format, Key, blocks, csv_of, csv_records, cursor_of, names_in

ROUNDS = 5
"""How often what has to agree is requested, while responses change."""


class CountError(TransferError):
    """A file is whole, but does not have as many responses as the service counts."""

    status = 200
    _is_final = True


class Transfer:
    """A download that resumes after its last complete record when it breaks.

    Attributes:
        done: the number of responses so far.
        expected: the number of responses the file should have, if the parameters have `count`.
    """

    def __init__(
        self,
        http: Http,
        kind: Format,
        parameters: Mapping[str, Parameter],
        after: str | None = None,
    ) -> None:
        needed = {*texts(parameters).get("omit", [])} & {*PRIMARY_KEY, "token"}
        if needed:
            raise ValueError(
                f"omit cannot name {min(needed)}, by which a download knows that it is whole"
            )

        self._http = http
        self._parameters = parameters
        self.done = 0
        self.expected: int | None = None
        self._start = self._after = after
        self._last: Key | None = None
        self._kind = kind
        self._has_header = False

    def blocks(self) -> Iterator[bytes]:
        """Yield the file's bytes: the header alone, if the format has one, then blocks of records.

        Raises TransferError if transfers break without a new record, or the number of responses is
        wrong in the end.
        """
        start, counts = self.done, []
        failures = 0
        while True:
            before = self.done
            following = dict(**self._parameters, after=self._after)
            try:
                with self._http.open(self._kind.path, following) as response:
                    if "count" in self._parameters:
                        self.expected = before + count_of(response)
                        counts.append(self.expected)
                    yield from self.read(pieces(response))

                    if self.expected is None or self.done >= self.expected:
                        break
                    # A proxy shortened the file, or responses have been deleted. The next request
                    # counts what is left.
                    raise TransferError(f"the file has {self.done} of {self.expected} responses")
            except (ServiceError, TransferError) as error:
                failures = 1 if self.done > before else failures + 1
                self._http.wait(error, failures)

        is_in_one_piece = start == 0 and counts == [self.done]
        if counts and not is_in_one_piece:
            self._check_count()

    def _check_count(self) -> None:
        """Raise CountError if there are more or fewer responses. Newer ones may be stored now."""
        left, whole, left_then = [
            count_responses(self._http, self._parameters, after)
            for after in (self._after, self._start, self._after)
        ]
        if not whole - max(left, left_then) <= self.done <= whole - min(left, left_then):
            raise CountError(f"the file has {self.done} responses, and the service {whole - left}")

    def read(self, file: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the blocks of a file that continues this one, and first the header, once.

        Raises TransferError if the file is empty, ends within a record, is something else, or not
        in order.
        """
        header_comes = self._kind.has_header and self._after is None
        for block in blocks(file, self._kind):
            if header_comes:
                header_comes = False
                header = next(csv_records([block]))
                if not {*PRIMARY_KEY} <= {*names_in(header)}:
                    raise TransferError("the file does not begin with the names of its columns")
                self._kind = csv_of(names_in(header))
                if not self._has_header:
                    self._has_header = True
                    yield header
                block = block[len(header) :]

            if block:
                self._continue(self._kind.keys(block))
                yield block

        if header_comes:
            raise TransferError("the file is empty")

    def _continue(self, keys: list[Key]) -> None:
        """Note that these responses follow. Raises TransferError if they are not in order."""
        last = self._last
        for key in keys:
            # The database's collation decides the order of responses with the same time.
            if last and (last[0] > key[0] or last == key):
                raise TransferError("the file has responses that are not in order")
            last = key
        self._last = last
        self._after = cursor_of(keys[-1])
        self.done += len(keys)


def filters_of(parameters: Mapping[str, Parameter], *others: str) -> dict[str, Parameter]:
    """Return the parameters that select responses, and others that another endpoint has too."""
    return {name: parameters[name] for name in ("survey", *FILTERS, *others) if name in parameters}


def count_responses(
    http: Http, parameters: Mapping[str, Parameter], after: str | None = None
) -> int:
    """Return the number of responses of a selection that follow a cursor."""
    return http.use(
        "/responses",
        {**filters_of(parameters), "count": True, "pageSize": 1, "after": after},
        count_of,
    )


def count_of(response: Response) -> int:
    """Return the number of responses that a response to a request with `count` has."""
    count = response.headers.get("X-Total-Count", "")
    if not count.isdecimal():
        raise ServiceError("the service returned a file without its number of responses")
    return int(count)


def fetch(
    http: Http,
    path: str,
    parameters: Mapping[str, Parameter],
    file: IO[bytes],
    check: Callable[[IO[bytes]], Result],
) -> Result:
    """Write a file that cannot be resumed, and return what `check` does.

    Both start again when the transfer breaks, or `check` raises TransferError.
    """

    def write(response: Response) -> Result:
        file.seek(0)
        file.truncate()
        for piece in pieces(response):
            file.write(piece)
            http.line.show(f"{file.tell() / 1e6:,.1f} MB")
        file.seek(0)
        try:
            result = check(file)
        except ValueError as error:
            raise TransferError(f"the file is damaged: {error}") from None
        file.seek(0, os.SEEK_END)
        return result

    return http.use(path, parameters, write)
