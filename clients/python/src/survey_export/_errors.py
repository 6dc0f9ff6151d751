"""The client's exceptions. None of them contains the key."""

from __future__ import annotations

from ._line import printable


class SurveyExportError(Exception):
    """The base class of this package's exceptions.

    Attributes:
        status: the HTTP status, or None if there was no response.
        code: the response's X-Error-Code, such as "invalid_token". These codes never change.
        request_id: the response's X-Request-Id. Quote it when you report a problem.
    """

    status: int | None = None
    code: str | None = None
    request_id: str | None = None
    _retry_after: float | None = None
    """The seconds of the response's Retry-After."""
    _is_final = False
    """Whether another attempt would have the same result."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class ServiceError(SurveyExportError):
    """The service responded with an error, or something that is not the service responded."""

    _is_final = True


class NoResponsesError(ServiceError):
    """The account has no survey of this name, or the survey has no responses yet."""


class TransferError(SurveyExportError):
    """The service could not be reached, or what it sent was broken or not exact each time."""


class MirrorError(SurveyExportError):
    """The folder cannot hold this mirror: it holds another one, or another process is using it."""


class MirrorChangingError(SurveyExportError):
    """The responses changed in every round, so the mirror is not done. What is verified stays."""
