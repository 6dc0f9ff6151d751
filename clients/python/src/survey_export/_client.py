"""The service with a key, and one survey: its responses, its codebook, and copies on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ._changes import changes
from ._download import download
from ._frame import answers, frame
from ._http import Http
from ._labels import save_spss, save_stata
from ._mirror import mirror
from ._models import (
    Change,
    Changes,
    Key,
    Question,
    Summary,
    SurveyInfo,
    codebook,
    key,
    loads,
    summary,
    surveys,
)
from ._parameters import OWN, Parameter, texts
from ._records import NDJSON
from ._transfer import Transfer

if TYPE_CHECKING:
    import pandas


class Client:
    """A connection to the service, for one key.

    A request is tried again after a broken connection, 429, 502, 503, 504 or 520 to 529, once the
    seconds of its `Retry-After` have passed. An address that was never reached is not.

    Args:
        url: where the service is, such as "https://export.example.org", also with "/api/v1"; by
            default the environment variable SURVEY_EXPORT_URL.
        key: your API key; by default the environment variable SURVEY_EXPORT_KEY.

    Raises:
        ValueError: the URL or the key is not valid.

    Every method that sends a request raises:
        ServiceError: the service responded with an error. `status` is 401 if the key is refused.
        TransferError: the service cannot be reached.

    Example:
        >>> with Client("https://export.example.org") as client:
        ...     print([survey.name for survey in client.surveys()])
    """

    def __init__(self, url: str | None = None, key: str | None = None) -> None:
        self._http = Http(
            _setting("URL", url, "SURVEY_EXPORT_URL"), _setting("key", key, "SURVEY_EXPORT_KEY")
        )

    @property
    def url(self) -> str:
        """The service's URL, without a slash at its end."""
        return self._http.url

    def key(self) -> Key:
        """Return whose key this is, when it expires, and what it sees. Cost: one small request.

        Example:
            >>> limits = client.key().limits  # None for a key that sees everything of its account
        """
        return self._http.json("/key", {}, key)

    def surveys(self) -> list[SurveyInfo]:
        """Return the surveys that the key sees, with forms and versions, ordered by name.

        Cost: one small request.
        """
        return self._http.json("/surveys", {}, surveys)

    def survey(self, name: str) -> Survey:
        """Return the survey of this name, exactly as `surveys` has it.

        No request is sent. A name that does not exist is noticed by the first method that needs it.
        """
        return Survey(self, self._http, name)

    def close(self) -> None:
        """Close the connections. `with Client(…) as client:` does this too."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


def _setting(what: str, value: str | None, variable: str) -> str:
    """Return a value, or else that of an environment variable, without white space around it."""
    found = (os.environ.get(variable, "") if value is None else value).strip()
    if not found:
        raise ValueError(f"pass the {what}, or set the environment variable {variable}")
    return found


class Survey:
    """One survey of an account: `client.survey("Health & Habits")`.

    Parameters are those of the HTTP API: the filters `since`, `until`, `question_ref`, `shortcode`
    and `userid`, and those of the endpoint. Times are texts, dates (midnight UTC) or datetimes with
    a time zone; lists repeat a parameter, and None leaves it out. An unknown parameter is an error
    (400). An empty list, which would select everybody, is a ValueError, as are a value that is not
    text, an integer or a time, a datetime without a time zone, more than 64 KiB of parameters, and
    a parameter that the method sets itself, such as `format`.

    Every method that sends a request raises, besides what `Client` lists:
        NoResponsesError: there is no such survey, or it has no responses yet.
        TransferError: what the service sends is broken or not exact each time.
    """

    def __init__(self, client: Client, http: Http, name: str) -> None:
        self.client = client
        self.name = name
        self._http = http

    def __repr__(self) -> str:
        return f"{self.client!r}.survey({self.name!r})"

    def _selection(self, parameters: Mapping[str, Parameter]) -> dict[str, list[str]]:
        for name in OWN:
            if name in parameters:
                raise ValueError(f"{name} is not a parameter of this method, which sets it itself")
        return texts({**parameters, "survey": self.name})

    def rows(self, *, after: str | None = None, **filters: Parameter) -> Iterator[dict[str, Any]]:
        """Yield the responses in the order of their timestamps, while they are downloaded.

        Each is a dict, whose values are texts or None, except `metadata`, which is a dict or None.
        Its numbers are ints and floats (17 digits), and an integer of more than 4,300 digits is a
        Decimal. After a
        broken connection, the download resumes after the last response, so each one comes once.
        It ends after as many as the service counts.

        Args:
            after: the `token` of a response, to begin with the one that follows it.

        Cost: one request for any number of responses, which the service counts first. Memory does
        not grow with them.

        Example:
            >>> for row in survey.rows(since="2026-03-01", shortcode="food"):
            ...     print(row["userid"], row["question_ref"], row["response"])
        """
        selection = {**self._selection(filters), "count": ["true"]}
        for block in Transfer(self._http, NDJSON, selection, after).blocks():
            yield from map(loads, block.splitlines())

    def codebook(self, **parameters: Parameter) -> list[Question]:
        """Return the questions that have responses, in the order of the columns of a wide file.

        The parameters are filters, and `columns` as for a wide file.

        Cost: one request, for which the service reads all responses of the selection.

        Example:
            >>> {question.column: question.question_text for question in survey.codebook()}
        """
        return self._http.json("/responses/questions", self._selection(parameters), codebook)

    def summary(self, **parameters: Parameter) -> Summary:
        """Return the number of responses and participants, in total, per day and per form.

        The parameters are filters, `timezone` (such as "Africa/Nairobi"), `repeats`,
        `require_metadata`, `require_question` and `stops`.

        Cost: one request, for which the service reads all responses of the selection.

        Example:
            >>> survey.summary(timezone="Africa/Nairobi").participants
            400
        """
        return self._http.json("/responses/summary", self._selection(parameters), summary)

    def download(
        self, path: str | os.PathLike[str], *, progress: bool | None = None, **parameters: Parameter
    ) -> int:
        """Download the responses into a file, which gets its name only when it is complete.

        The file's name selects the format: `.csv`, `.ndjson`, each also with `.gz`, `.xlsx`, or
        `.dta` or `.sav`, as `save_stata` and `save_spss` write them. If the connection breaks, or
        the program is stopped and run again, the download resumes after the last complete record of
        the `.part` file beside it; workbooks and the wide layout start again. The file is complete
        if it has each response once, in order, and as many as the service counts; a wide file, as
        many participants as the summary. Returns the number of records.

        Args:
            path: the file, which is replaced if it exists.
            progress: whether to show progress on stderr; by default if that is a terminal.
            **parameters: filters, and those of the format, such as `layout`, `value`, `metadata`
                and `safe`.

        Raises, besides what `Survey` lists:
            ValueError: the file's name has another ending.
            SurveyExportError: another process is downloading this file, there is no such folder, or
                there are more responses than the service counts.
            OSError: the file cannot be written. What has been downloaded stays for the next run.

        Cost: a request for the account and one for the file, and one for each time that it resumes,
        or for the count of a workbook. The service counts the responses, then reads them. Memory
        does not grow with them, but by about 10 MB for 100,000 participants of a wide file, which
        also costs the summary. The disk holds the uncompressed file until a `.gz` is complete.

        Example:
            >>> survey.download("food.xlsx", layout="wide", value="label", shortcode="food")
        """
        write = {".dta": save_stata, ".sav": save_spss}.get(Path(path).suffix, download)
        with self._http.line.used(progress):
            return write(self._http, Path(path), self._selection(parameters))

    def mirror(
        self,
        folder: str | os.PathLike[str],
        interval: Literal["day", "hour", "month"] = "day",
        **filters: Parameter,
    ) -> Changes:
        """Make a folder an exact copy of the survey, late, edited and deleted responses included.

        The folder then has `responses/2026-03-01.csv.gz` for each day that has responses,
        `form-data.csv`, `codebook.csv`, unless the survey has too many questions for one,
        `manifest.json` and `datapackage.json`, which describes the files for programs that read
        Data Packages. Only intervals that changed are downloaded, and each file is compared with
        the service's digest before it replaces another. A run that is stopped at any point leaves a
        folder that the next run completes, and every file in `responses/` is complete at any time.
        Returns the intervals that changed since the last run that was completed.

        Args:
            folder: created if it is missing. It always holds the same survey, with the same
                filters and interval, as keys with the same limits see it.
            interval: what a file covers: "day", "hour" or "month", in UTC.
            **filters: the responses to copy.

        Raises, besides what `Survey` lists:
            MirrorError: the folder is the mirror of something else, was made with a key that has
                other limits, has a file that no mirror contains, or is used by another process.
            MirrorChangingError: the survey changed in each of five rounds. What is verified stays;
                run it again.
            NoResponsesError: there is no such survey. Nothing is deleted. (A survey without
                responses is no error.)
            OSError: a file cannot be written.

        Cost: the SHA-256 of each file in the folder (about 0.1 s for 100 MB), which finds a bit
        that the disk has lost, and one request if nothing changed, for which the service reads
        all responses of the selection (about 8 CPU-seconds for a million). Otherwise also the
        account, the codebook, the digests again, and one request for each group of neighbouring
        intervals that changed. Memory does not grow with the responses.

        Example:
            >>> changes = survey.mirror("data/")
            >>> changes.added
            ('2026-03-14T00:00:00.000Z',)
        """
        return mirror(self._http, self.name, Path(folder), interval, texts(filters))

    def changes(self, folder: str | os.PathLike[str]) -> AbstractContextManager[Iterator[Change]]:
        """Yield the responses that were inserted, updated or deleted in a mirror.

        They are for a copy in a database, and come in the order of their times, each once. At
        first, all responses are inserted. Changes are confirmed when the `with` block ends without
        an exception, after they were read to the end. Until then they come again, with those that
        later runs of `mirror` made: whatever part of them was applied, the copy is exact once all
        have been. So insert or replace the row with the same `PRIMARY_KEY`, or delete it, if it is
        there.

        Args:
            folder: a folder in which `mirror` was completed. Until the block ends, it is locked.

        Raises:
            MirrorError: the folder is not a mirror of this survey, is not as a run of `mirror`
                leaves it, or is used by another process; or a file in its `.changes` is damaged.
            OSError: there is no such folder, or a file cannot be written.

        Cost: the SHA-256 of each file, and reading those that changed; no request. Memory does not
        grow with the responses. The files that were replaced stay in `.changes` until the changes
        are confirmed.

        Example:
            >>> survey.mirror("data/")
            >>> with survey.changes("data/") as changes:
            ...     for change in changes:
            ...         print(change.kind, change.key, change.row["response"])
        """
        return changes(Path(folder), self._http.url, self.name)

    def frame(self, **parameters: Parameter) -> pandas.DataFrame:
        """Return the responses as a pandas data frame in which every column is text.

        Ids keep their leading zeros, the answer `NA` is a text, and an empty answer differs from a
        missing one, which is `pandas.NA`. The codebook is in `.attrs["codebook"]`. The parameters
        are filters, and those of a CSV file, such as `layout`, `value` and `metadata`. If pandas is
        not installed, that is a SurveyExportError.

        Cost: `download` to a temporary file, and a request for the codebook. All responses are in
        memory.

        Example:
            >>> frame = survey.frame(layout="wide", value="label")
            >>> frame["food.water"].value_counts()
        """
        return frame(self._http, self._selection(parameters))

    def answers(self, **parameters: Parameter) -> pandas.DataFrame:
        """Return what participants answered, as a pandas data frame with a row for each answer.

        Its columns are `column`, `shortcode`, `question_ref`, `value` and `records`, the number of
        records of the wide layout that have the answer. Each question has its 20 most frequent
        answers, or `top`, and a row for all others together, whose `value` is `pandas.NA`.

        With `by`, a column of the wide layout, there is a row for each of its 20 most frequent
        values, `group`, and one for the records in none of them. With `numbers=True`,
        `.attrs["numbers"]` has the distribution of the numbers in each column, with decimals as
        texts, or None.

        The other parameters are filters, those of the wide layout that choose its records and
        texts, and `column`, the names of some columns. If pandas is not installed, that is a
        SurveyExportError.

        Cost: one request, for which the service reads all responses of the selection.

        Example:
            >>> survey.answers(column="food.water", value="label", by="metadata.cluster")
        """
        return answers(self._http, self._selection(parameters))

    def save_stata(self, path: str | os.PathLike[str], **parameters: Parameter) -> int:
        """Save the wide layout as a file for Stata 14 or newer.

        The questions' texts are the variable labels. A question whose answers are all letters that
        its text lists becomes 1, 2, 3 … with value labels. All other columns are text, in which a
        missing answer and an empty one are the same. Names are changed to those that Stata allows.
        Labels that are too long end with an ellipsis. If versions of a question list different
        choices under the same letters, it has no value labels, and there is a warning.

        The parameters are filters, and those of the wide layout. An existing file is replaced once
        the new one is complete. Returns the number of records.

        Raises, besides what `Survey` lists:
            SurveyExportError: pandas or pyreadstat is not installed (`pip install pandas
                pyreadstat`); there is no such folder; a text cannot be stored, and the message
                names its column and row; or responses were edited during each of five downloads.

        Cost: the codebook, and the wide file, which is downloaded twice if a question has choices,
        since the versions of a form can list different ones. All responses are in memory.

        Example:
            >>> survey.save_stata("responses.dta", repeats="first")
        """
        return save_stata(self._http, Path(path), self._selection(parameters))

    def save_spss(self, path: str | os.PathLike[str], **parameters: Parameter) -> int:
        """Save the wide layout as an SPSS file, with the questions' texts as variable labels.

        All columns are text, in which a missing answer and an empty one are the same, and spaces at
        the end are lost. Letters that a question's text lists have value labels. Names and labels
        are as in `save_stata`, within the limits of SPSS, and so are the parameters, result, errors
        and cost.
        """
        return save_spss(self._http, Path(path), self._selection(parameters))
