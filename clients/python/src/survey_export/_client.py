"""The service, with a key."""

from __future__ import annotations

import os
from typing import Any

from ._http import Http
from ._models import Account, Form, FormVersion, SurveyInfo, from_json
from ._survey import Survey


class Client:
    """A connection to the service, for one key.

    Connection failures, 429 and 503 are tried again, after the seconds that the service's `Retry-After` names.

    Args:
        url: where the service is, such as "https://export.example.org".
        key: your API key; by default the environment variable SURVEY_EXPORT_KEY.

    Raises:
        ValueError: the URL or the key cannot be one.

    Every method that sends a request raises:
        ServiceError: the service responded with an error. `status` is 401 if the key is refused.
        TransferError: the service cannot be reached.

    Cost: nothing; the first method that needs the service connects to it.

    Example:
        >>> with Client("https://export.example.org") as client:
        ...     print([survey.name for survey in client.surveys()])
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        key = os.environ.get("SURVEY_EXPORT_KEY", "") if key is None else key
        if not key.strip():
            raise ValueError("pass the key, or set the environment variable SURVEY_EXPORT_KEY")
        self._http = Http(url, key.strip())

    @property
    def url(self) -> str:
        """The service's URL, without a slash at its end."""
        return self._http.url

    def account(self) -> Account:
        """Return whose key this is, and when it expires.

        Raises: ServiceError, TransferError; see `Client`.

        Cost: one small request.

        Example:
            >>> client.account().email
            'demo@example.org'
        """
        return self._http.json("/key", {}, lambda body: from_json(Account, body))

    def surveys(self) -> list[SurveyInfo]:
        """Return the account's surveys with their forms and versions, ordered by name.

        Raises: ServiceError, TransferError; see `Client`.

        Cost: one small request.

        Example:
            >>> [survey.name for survey in client.surveys()]
            ['Health & Habits']
        """
        return self._http.json("/surveys", {}, _surveys)

    def survey(self, name: str) -> Survey:
        """Return the survey of this name, exactly as `surveys` has it.

        Cost: nothing. A name that does not exist is noticed by the first method that needs it.

        Example:
            >>> survey = client.survey("Health & Habits")
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


def _surveys(entries: list[Any]) -> list[SurveyInfo]:
    versions = [from_json(FormVersion, entry) for entry in entries]
    versions.sort(key=lambda version: (version.created[:-1], version.id))
    surveys: dict[str, dict[str, list[FormVersion]]] = {}
    for version in versions:
        surveys.setdefault(version.survey_name, {}).setdefault(version.shortcode, []).append(version)
    return [
        SurveyInfo(name, tuple(Form(shortcode, tuple(forms[shortcode])) for shortcode in sorted(forms)))
        for name, forms in sorted(surveys.items())
    ]
