"""The real service and its database, and a proxy that breaks what passes through it."""

import itertools
import json
import os
import random
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import httpx
import psycopg

_send = httpx.HTTPTransport.handle_request

URL = os.environ["SURVEY_EXPORT_TEST_URL"]
KEY = os.environ["SURVEY_EXPORT_TEST_KEY"]
OTHER_KEY = os.environ["SURVEY_EXPORT_TEST_OTHER_KEY"]
LIMITED_KEY = os.environ["SURVEY_EXPORT_TEST_LIMITED_KEY"]
"""Sees the metadata `note` alone, no page ids, and pseudonyms."""
os.environ.update(SURVEY_EXPORT_URL=URL, SURVEY_EXPORT_KEY=KEY)  # for the programs that tests start
DEMO_SURVEY = "Health & Habits 2026 – Saúde"
EMPTY_SURVEY = "Pilot study (nobody asked yet)"

CELL = re.compile(r'("(?:[^"]|"")*"|[^",\n]*)([,\n])')
METADATA = ['{"ad_id": "12", "ratio": 1.10}', '{"note": "a, \\"b\\""}']
TEXTS = ["", "NA", "007", 'a "quoted", one', "two\nlines\n", "Água, 水 💧", "null", "~"]
TEXTS += ["x\r\ny", "\u2028", "=1+1", "\\N"]


def get(path: str, key: str = KEY, **parameters: str | list[str]) -> bytes:
    """Return what the service has at a path, without the client."""
    url = f"{URL}/api/v1{path}{'?' if parameters else ''}{urlencode(parameters, doseq=True)}"
    with urlopen(Request(url, headers={"Authorization": f"Bearer {key}"})) as response:
        body: bytes = response.read()
    return body


def records_of(file: bytes) -> list[list[str | None]]:
    """Parse a CSV file, in which an empty cell is a null."""
    records: list[list[str | None]] = [[]]
    for cell, end in CELL.findall(file.decode()):
        records[-1].append(cell[1:-1].replace('""', '"') if cell.startswith('"') else cell or None)
        if end == "\n":
            records.append([])
    return records[:-1]


class Study:
    """A survey of the test account, which SQL changes."""

    def __init__(
        self,
        database: psycopg.Connection[Any],
        name: str,
        randomness: random.Random,
        *shortcodes: str,
    ) -> None:
        self.name = name
        self.key = KEY
        self.shortcodes = shortcodes
        self.forms: list[str] = []
        self._database = database
        self._random = randomness
        for shortcode in shortcodes:
            self.add_version(shortcode)

    def sql(self, statement: str, *values: object) -> None:
        """Run a statement, in which %s is a value."""
        self._database.execute(statement, values)

    def update(self, changes: str, where: str = "true", *values: object) -> None:
        """Change responses. The changes can have values."""
        self.sql(
            f"update responses set {changes} where surveyid = any(%s) and {where}",
            *values,
            self.forms,
        )

    def update_forms(self, changes: str, *values: object) -> None:
        self.sql(f"update surveys set {changes} where id = any(%s)", *values, self.forms)

    def delete(self, where: str = "true") -> None:
        """Delete responses."""
        self.sql(f"delete from responses where surveyid = any(%s) and {where}", self.forms)

    def add_version(self, shortcode: str) -> str:
        """Add a version of a form. Return its id."""
        form = str(uuid.uuid4())
        self.sql(
            "insert into surveys (id, userid, survey_name, shortcode, title, formid, metadata) "
            "select %s, id, %s, %s, 'A form', '1', '{\"wave\": 1.10}' from users "
            "where email = 'demo@example.org'",
            form,
            self.name,
            shortcode,
        )
        self.forms.append(form)
        return form

    def add(self, days: list[str], number: int = 1) -> None:
        """Add responses at random times of these days."""
        random = self._random
        rows = []
        for _ in range(number):
            clock = [f"{random.randrange(limit):02}" for limit in (24, 60, 60)]
            microseconds = random.choice(["", ".5", f".{random.randrange(10**6):06}"])
            rows.append(
                {
                    "parent_surveyid": random.choice([None, self.forms[0]]),
                    "parent_shortcode": random.choice(["", "début"]),
                    "surveyid": random.choice(self.forms),
                    "flowid": random.randrange(10**12),
                    "userid": f"00{random.randrange(40)}",
                    "question_ref": random.choice(["water", "fruit", 'q"1']),
                    "question_idx": random.randrange(9),
                    "question_text": random.choice(["How?\n- A. None\n- B. Much", *TEXTS]),
                    "response": random.choice(TEXTS),
                    "timestamp": f"{random.choice(days)} {':'.join(clock)}{microseconds}+00",
                    "metadata": random.choice([None, "null", *METADATA]),
                    "pageid": random.choice([None, "", "p1"]),
                    "translated_response": random.choice([None, *TEXTS]),
                }
            )
        self.insert(rows)

    def insert(self, rows: list[dict[str, Any]]) -> None:
        """Insert rows, which all have the same columns."""
        defaults = {"parent_shortcode": "start", "shortcode": "unused", "flowid": 1}
        rows = [defaults | row for row in rows]
        values = ", ".join(f"%({name})s" for name in rows[0])
        with self._database.cursor() as cursor:
            cursor.executemany(
                f"insert into responses ({', '.join(rows[0])}) values ({values}) "
                "on conflict do nothing",
                rows,
            )

    def change(self) -> None:
        """Change the survey in a random way."""
        random = self._random
        day = f"2026-03-{random.randrange(1, 15):02}"
        some = f"md5(ctid::text || '{random.random()}') < '{random.choice(['02', '1'])}'"
        column = random.choice(
            ["response", "question_text", "translated_response", "pageid", "parent_shortcode"]
        )
        interval = random.choice(["1 microsecond", "-3 hours", "30 hours", "-9 days"])
        ways: list[Callable[[], object]] = [
            lambda: self.add([f"2026-04-{random.randrange(1, 29):02}"], random.randrange(1, 20)),
            lambda: self.add([day], random.randrange(1, 4)),
            lambda: self.add_version(random.choice(self.shortcodes)),
            lambda: self.update_forms(
                "metadata = jsonb_build_object('wave', %s::int)", random.randrange(10**6)
            ),
            *[lambda: self.update(f"{column} = %s", some, random.choice(TEXTS))] * 2,
            lambda: self.update(f"timestamp = timestamp + interval '{interval}'", some),
            lambda: self.delete(some),
            lambda: self.delete(f"timestamp::date = '{day}'"),
            self.rename,
        ]
        random.choice(ways)()

    def rename(self) -> None:
        """Give a version of a form another shortcode."""
        self.sql(
            "update surveys set shortcode = %s where id = %s",
            f"{self._random.choice(['food', 'début', 'q,1'])}{self._random.randrange(10**6)}",
            self._random.choice(self.forms),
        )

    def mark(self) -> None:
        """Change all responses and forms, until `unmark` restores them."""
        self.update("response = response || '#'")
        self.update_forms("shortcode = '#' || shortcode")

    def unmark(self) -> None:
        self.update("response = left(response, -1)", "response like '%%#'")
        self.update_forms("shortcode = ltrim(shortcode, '#')")

    def export(self, path: str = "/responses/csv", **parameters: str | list[str]) -> bytes:
        return get(path, self.key, survey=self.name, **parameters)

    def digests(self, **parameters: str) -> dict[str, str]:
        body = json.loads(self.export("/responses/digests", **parameters))
        return {entry["start"]: entry["digest"] for entry in body["digests"]}

    def delete_survey(self) -> None:
        self.delete()
        self.sql("delete from surveys where id = any(%s)", self.forms)


@dataclass
class Fault:
    """What happens to a request or its response."""

    status: int | None = None
    """Respond with this status and body in place of the service."""
    body: bytes = b'{"error":{"message":"busy"}}'
    headers: Mapping[str, str] = field(default_factory=dict)
    is_endless: bool = False
    """Repeat that body without end."""
    cut: int | None = None
    """Break the connection after so many bytes of the body."""
    alter: Callable[[bytes], bytes] | None = None
    """Replace the uncompressed body. It still ends as if it were complete."""
    error: BaseException = field(default_factory=lambda: httpx.ReadError("cut"))
    """What httpx raises when the connection has been cut."""


class Proxy:
    """Stands between this process's clients and the service, and counts requests.

    `fault` is called with the path of each request before it is sent.
    """

    def __init__(self) -> None:
        self.fault: Callable[[str], Fault | None] = lambda path: None
        self.requests: list[str] = []

    def faults(self, *faults: Fault | None, path: str = "") -> None:
        """Set the faults of the next requests for this path. Further requests pass."""
        left = [*faults]
        self.fault = lambda request: left.pop(0) if left and path in request else None

    def always(self, fault: Fault, path: str = "") -> None:
        """Set the fault of all further requests for this path."""
        self.fault = lambda request: fault if path in request else None

    def paths(self) -> list[str]:
        """Return the paths of the requests so far, without queries, and forget them."""
        paths = [request.split("?")[0].removeprefix("/api/v1") for request in self.requests]
        self.requests.clear()
        return paths

    def send(self, transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        """Send a request in place of `HTTPTransport.handle_request`."""
        path = request.url.raw_path.decode()
        self.requests.append(path)
        fault = self.fault(path) or Fault()
        if fault.status is not None:
            repeated = itertools.repeat(fault.body, *[] if fault.is_endless else [1])
            return httpx.Response(fault.status, headers=fault.headers, stream=_Pieces(repeated))
        response = _send(transport, request)
        headers = response.headers
        if fault.alter:
            body = fault.alter(response.read())
            headers["Content-Encoding"] = "identity"
        else:
            body = b"".join(response.iter_raw())
        headers.update(fault.headers)
        return httpx.Response(response.status_code, headers=headers, stream=_Body(body, fault))


@dataclass
class _Pieces(httpx.SyncByteStream):
    pieces: Iterator[bytes]

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces


@dataclass
class _Body(httpx.SyncByteStream):
    content: bytes
    fault: Fault

    def __iter__(self) -> Iterator[bytes]:
        content = self.content[: self.fault.cut]
        for start in range(0, len(content), 1000):  # records and characters are divided at any byte
            yield content[start : start + 1000]
        if self.fault.cut is not None:
            raise self.fault.error
