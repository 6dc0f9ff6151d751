"""One survey: its responses, its codebook, and copies of it on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal

import httpx

from ._http import Http
from ._models import Changes, Choice, Day, Parameter, Question, Summary, from_json

if TYPE_CHECKING:
    import pandas

    from ._client import Client


class Survey:
    """One survey of an account: `client.survey("Health & Habits")`.

    Parameters are those of the HTTP API: the filters `since`, `until`, `question_ref`, `shortcode` and `userid`,
    and those of the endpoint. Times are texts, dates (midnight UTC) or datetimes with a time zone; lists repeat a
    parameter; an unknown parameter is an error (400).
    """

    def __init__(self, client: Client, http: Http, name: str) -> None:
        """Use `Client.survey` instead."""
        self.client = client
        self.name = name
        self._http = http

    def __repr__(self) -> str:
        """Return the URL and the name, without the key."""
        return f"{self.client!r}.survey({self.name!r})"

    def open(self, path: str, **parameters: Parameter) -> AbstractContextManager[httpx.Response]:
        """Request a path under `/responses`, and return the response before its body is read.

        Retries are done by then. Read the body within the `with` block: a transfer that breaks there raises
        TransferError.

        Raises:
            NoResponsesError: there is no such survey, or it has no responses yet.
            ServiceError: the service responded with another error.
            TransferError: the service cannot be reached, or the transfer broke.

        Cost: one request.

        Example:
            >>> with survey.open("/responses/xlsx", codebook=True) as response, open("food.xlsx", "wb") as file:
            ...     for piece in response.iter_bytes():
            ...         file.write(piece)
        """
        return self._http.open(path, {"survey": self.name, **parameters})

    def rows(self, **filters: Parameter) -> Iterator[dict[str, Any]]:
        """Yield the responses in the order of their timestamps, as dicts, while they are downloaded.

        Every value is a text or None, but `metadata`, which is a dict or None. If the connection breaks, the
        download resumes after the last response, so each comes once.

        Raises:
            NoResponsesError: there is no such survey, or it has no responses yet.
            ServiceError: the service responded with another error.
            TransferError: the service cannot be reached.

        Cost: one request for any number of responses. Memory does not grow with them.

        Example:
            >>> for row in survey.rows(since="2026-03-01", shortcode="food"):
            ...     print(row["userid"], row["question_ref"], row["response"])
        """
        from ._rows import rows

        return rows(self, **filters)

    def codebook(self, **parameters: Parameter) -> list[Question]:
        """Return the questions that have responses, in the order of the columns of a wide file.

        Args:
            **parameters: filters, and `columns` as for a wide file.

        Raises:
            NoResponsesError: there is no such survey, or it has no responses yet.
            ServiceError: the service responded with another error.
            TransferError: the service cannot be reached, or the transfer broke.

        Cost: one request, for which the service reads all responses of the selection.

        Example:
            >>> {question.column: question.question_text for question in survey.codebook()}
        """
        entries = self._http.json("/responses/questions", {"survey": self.name, **parameters})["questions"]
        for entry in entries:
            if entry["choices"] is not None:
                entry["choices"] = tuple(from_json(Choice, choice) for choice in entry["choices"])
        return [from_json(Question, entry) for entry in entries]

    def summary(self, **parameters: Parameter) -> Summary:
        """Return the number of responses and participants, in total and per day.

        Args:
            **parameters: filters, `timezone` (such as "Africa/Nairobi"), `repeats` and `require_metadata`.

        Raises:
            NoResponsesError: there is no such survey, or it has no responses yet.
            ServiceError: the service responded with another error.
            TransferError: the service cannot be reached, or the transfer broke.

        Cost: one request, for which the service reads all responses of the selection.

        Example:
            >>> survey.summary(timezone="Africa/Nairobi").participants
            400
        """
        entry = self._http.json("/responses/summary", {"survey": self.name, **parameters})
        return from_json(Summary, {**entry, "days": tuple(from_json(Day, day) for day in entry["days"])})

    def download(
        self, path: str | os.PathLike[str], *, progress: bool | None = None, **parameters: Parameter
    ) -> None:
        """Skeleton."""
        raise NotImplementedError

    def mirror(
        self,
        folder: str | os.PathLike[str],
        interval: Literal["day", "hour", "month"] = "day",
        **filters: Parameter,
    ) -> Changes:
        """Skeleton."""
        raise NotImplementedError

    def frame(self, **parameters: Parameter) -> pandas.DataFrame:
        """Skeleton."""
        from ._frame import frame

        return frame(self, **parameters)

    def save_stata(self, path: str | os.PathLike[str], **parameters: Parameter) -> None:
        """Skeleton."""
        from ._labels import save_stata

        save_stata(self, path, **parameters)

    def save_spss(self, path: str | os.PathLike[str], **parameters: Parameter) -> None:
        """Skeleton."""
        from ._labels import save_spss

        save_spss(self, path, **parameters)
