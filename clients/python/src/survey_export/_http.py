"""Requests, retries, and the bytes of responses. No other file knows httpx."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import httpx

from ._errors import NoResponsesError, ServiceError, SurveyExportError, TransferError
from ._line import Line
from ._models import loads
from ._parameters import Parameter, query

TIMEOUT = httpx.Timeout(150, connect=15)
"""The service lets a count, a wide file or a digest wait up to two minutes for its database."""
WRONG_ADDRESS = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ProxyError,
    httpx.RemoteProtocolError,
)
LARGEST_JSON, LARGEST_ERROR, LARGEST_PIECE = 1 << 25, 1 << 16, 1 << 20
ATTEMPTS = 7
LONGEST_WAIT = 600

Response: TypeAlias = httpx.Response
Result = TypeVar("Result")


class Http:
    """Sends requests with the key. The key is in no attribute that a repr or a traceback shows."""

    def __init__(self, url: str, key: str) -> None:
        # httpx would quote a key with a line break or an umlaut in its error message.
        if not all("!" <= character <= "~" for character in key):
            raise ValueError("the key has a character that no key has")

        headers = {
            "Authorization": f"Bearer {key}",
            "Accept-Encoding": "gzip",
            # A misspelt filter is an error then, instead of a file with every response.
            "Prefer": "handling=strict",
            "User-Agent": f"survey-export-python/{version('survey-export')}",
        }
        try:
            parts = httpx.URL(url)
            self._client = httpx.Client(headers=headers, timeout=TIMEOUT)
        except (httpx.InvalidURL, ImportError, OSError) as error:
            # A proxy can need another package, and SSL_CERT_FILE name a file that is not there.
            raise ValueError(
                f"the URL of the service or of a proxy, or SSL_CERT_FILE, is not valid: {error}"
            ) from None
        is_address = parts.scheme in ("http", "https") and parts.host
        has_port = 0 < (parts.port or 443) < 2**16
        if not is_address or not has_port or parts.userinfo or "?" in url or "#" in url:
            raise ValueError(
                "the URL of the service must be https://…, "
                "without a user name, a query or a fragment"
            )

        self.url = url.rstrip("/").removesuffix("/api/v1")
        self.line = Line()
        self._is_reached = False

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def open(
        self,
        path: str,
        parameters: Mapping[str, Parameter],
        headers: Mapping[str, str] | None = None,
    ) -> Generator[httpx.Response]:
        """Yield a response with status 2xx, before its body is read. Nothing is tried again.

        An error that is raised while it is read gets its status, code and request id.
        """
        # A command's arguments can have bytes that its locale does not know, as surrogates.
        text = urlencode(query(parameters), errors="surrogateescape", quote_via=quote)
        url = f"{self.url}/api/v1{path}?{text}"
        try:
            with self._client.stream("GET", url, headers=headers) as response:
                self._is_reached = True
                with _described(response):
                    is_web_page = response.headers.get("Content-Type", "").startswith("text/html")
                    if not response.is_success or is_web_page:
                        raise _service_error(response)
                    yield response
        except httpx.InvalidURL as error:
            raise ValueError(f"the parameters do not fit into a URL: {error}") from None
        except httpx.TransportError as error:
            failure = TransferError(f"cannot reach {self.url}: {_reason(error)}")
            # A wrong address stays wrong. One that was reached before may be reached again.
            failure._is_final = isinstance(error, WRONG_ADDRESS) and not self._is_reached
            raise failure from None

    def use(
        self,
        path: str,
        parameters: Mapping[str, Parameter],
        function: Callable[[httpx.Response], Result],
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """Return what the function makes of a response. Both start again if the transfer breaks."""
        failures = 0
        while True:
            try:
                with self.open(path, parameters, headers) as response:
                    return function(response)
            except (ServiceError, TransferError) as error:
                failures += 1
                self.wait(error, failures)

    def json(
        self, path: str, parameters: Mapping[str, Parameter], read: Callable[[Any], Result]
    ) -> Result:
        """Return what `read` makes of a response's JSON. See `parsed`."""
        return self.use(path, parameters, lambda response: parsed(response, read))

    def wait(self, failure: ServiceError | TransferError, failures: int) -> None:
        """Wait before another attempt, or raise the failure if it is the last, or would fail too.

        The waits take 31 seconds together, unless the service requests others.
        """
        seconds = failure._retry_after
        if seconds is None:
            seconds = 2.0 ** (failures - 2) * random.uniform(0.8, 1.0)
        if failure._is_final or failures == ATTEMPTS or seconds > LONGEST_WAIT:
            raise failure

        reason = failure.status if isinstance(failure, ServiceError) else failure
        self.line.show(f"trying again in {seconds:.0f} s ({reason})")
        try:
            time.sleep(seconds)
        finally:
            self.line.show("")


@contextmanager
def _described(response: httpx.Response) -> Generator[None]:
    try:
        try:
            yield
        except httpx.TransportError as error:
            path = response.url.path
            raise TransferError(f"the transfer of {path} broke: {_reason(error)}") from None
    except SurveyExportError as error:
        error.status = response.status_code
        error.code = response.headers.get("X-Error-Code")
        error.request_id = response.headers.get("X-Request-Id")
        raise


def _reason(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__


def pieces(response: httpx.Response) -> Iterator[bytes]:
    """Yield the bytes of the decompressed body. A gzip body that ends early is a TransferError.

    httpx's own iterators do not notice that, and read only the first member of a gzip body, which
    can have several (RFC 1952 section 2.2).
    """
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding == "identity":
        yield from response.iter_raw()
        return
    if encoding not in ("gzip", "x-gzip"):
        raise TransferError(f"the transfer has an encoding that was not requested: {encoding}")

    decompressor = zlib.decompressobj(wbits=31)
    damage = "it ends early"
    try:
        for compressed in response.iter_raw():
            while compressed:
                if decompressor.eof:
                    decompressor = zlib.decompressobj(wbits=31)
                yield decompressor.decompress(compressed, LARGEST_PIECE)
                compressed = decompressor.unconsumed_tail or decompressor.unused_data
    except zlib.error as error:
        damage = str(error)
    if not decompressor.eof:
        raise TransferError(f"the transfer broke: {damage}")


def parsed(response: httpx.Response, read: Callable[[Any], Result]) -> Result:
    """Return what `read` makes of a response's JSON.

    Raises TransferError if it is no JSON, or not all of it, and ServiceError if it is not what
    `read` expects.
    """
    body = loads(_body(response, LARGEST_JSON))
    try:
        return read(body)
    except (LookupError, TypeError, ValueError, AttributeError):
        address = response.url.copy_with(query=None)
        message = f"{address} returned something else than survey-export expects"
        raise ServiceError(message) from None


def _body(response: httpx.Response, limit: int) -> bytes:
    """Return a response's body. Raises ServiceError if it has more bytes than the limit."""
    body = bytearray()
    for piece in pieces(response):
        body += piece
        if len(body) > limit:
            raise ServiceError(
                f"the service returned more than {limit:,} bytes where it never has so many"
            )
    return bytes(body)


def _service_error(response: httpx.Response) -> ServiceError:
    """Return the error that a response is, whether it comes from the service or from a proxy."""
    message = ""
    with suppress(httpx.TransportError, SurveyExportError, LookupError, TypeError):
        message = loads(_body(response, LARGEST_ERROR))["error"]["message"]

    is_empty = response.headers.get("X-Error-Code") == "no_responses"
    kind = NoResponsesError if is_empty else ServiceError
    if is_empty and message:
        message = f"{message}; `surveys` lists the names"

    status = response.status_code
    target = response.headers.get("Location")
    if target and 300 <= status < 400:
        address = response.url.copy_with(query=None)
        target = response.url.join(target).copy_with(query=None)
        message = f"HTTP status {status}: {address} has moved to {target}"
    default = f"HTTP status {status}, and no message of the service: check its URL"

    failure = kind(str(message or default))
    failure._retry_after = _seconds(response.headers.get("Retry-After", ""))
    failure._is_final = status not in (429, 502, 503, 504) and not 520 <= status < 530
    return failure


def _seconds(retry_after: str) -> float | None:
    """Return the seconds to wait, given as a number or as a date, or None."""
    if retry_after.isdecimal():
        return float(retry_after)
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    return None
