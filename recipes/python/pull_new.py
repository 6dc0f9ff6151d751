# Pull new responses
#
# Run it every night: it downloads the responses added since the last run into a new file in the folder `pulls`. If there are none,
# it creates no file. It resumes after the `token` of the last response in the folder. Read all files with `pandas.concat` or
# DuckDB's `'pulls/*.ndjson'`.
#
# This is more reliable than `since` with yesterday's date: it depends on no clock, and makes up for nights without a run. But
# responses are ordered by the time they were given, and some reach the service late, for example from a phone that was offline.
# These come before the token, so the program would miss them. It therefore compares the number of responses up to the token with
# the number it has. If they differ, it exits with status 3. Then either download everything again (remove `pulls`), or request
# an overlap with `since` a few days earlier, and drop duplicates (`timestamp`, `userid`, `question_ref` and `surveyid` together
# identify a response).

import json
import os
import pathlib
import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

API = os.environ.get("SURVEY_API") or "http://127.0.0.1:8787/api/v1"
KEY = os.environ.get("SURVEY_KEY") or sys.exit("Set the environment variable SURVEY_KEY to your API key.")
SURVEY = os.environ.get("SURVEY") or sys.exit("Set the environment variable SURVEY to the name of a survey.")

session = requests.Session()
session.headers["Authorization"] = f"Bearer {KEY.strip()}".encode()
# When the service is busy (429, 503), retry after the number of seconds it returns.
retry = Retry(
    total=8, connect=2, read=2, other=2, backoff_factor=1, status_forcelist=[429, 503], raise_on_status=False
)
session.mount(API, HTTPAdapter(max_retries=retry))


def check(response):
    """Ends the program with the service's message if the response is an error."""
    if "X-Error-Code" in response.headers:
        sys.exit(response.json()["error"]["message"])
    response.raise_for_status()  # an error of a proxy


def get(path, **params):
    response = session.get(f"{API}{path}", params={"survey": SURVEY, **params}, stream=True, timeout=60)
    check(response)
    return response


def count(**params):
    """Counts the responses, all or those after a token."""
    return int(get("/responses", pageSize=1, count="true", **params).headers["X-Total-Count"])


def pull():
    """Downloads the new responses into a file of their own."""
    folder = pathlib.Path("pulls")
    folder.mkdir(exist_ok=True)
    number, have, token = 0, 0, {}
    for path in sorted(folder.glob("*.ndjson")):
        number = int(path.stem)
        with open(path, "rb") as file:
            for line in file:
                have += 1
        token = {"after": json.loads(line)["token"]}

    if token:
        should_have = count() - count(**token)  # the responses up to the token
        if should_have > have:
            message = f"{folder} has {have} responses, but the service has {should_have} up to the same token"
            print(message, file=sys.stderr)
            sys.exit(3)

    part = folder / "new.part"
    lines = 0
    with get("/responses/ndjson", count="true", **token) as response, open(part, "wb") as file:
        total = int(response.headers["X-Total-Count"])
        for piece in response.iter_content(chunk_size=65536):
            file.write(piece)
            lines += piece.count(b"\n")
    if lines < total:  # there can be more, if responses arrived in the meantime
        sys.exit(f"{part} has {lines} responses of {total}")
    if lines > 0:
        part.rename(folder / f"{number + 1:06}.ndjson")
        print(f"{folder}/{number + 1:06}.ndjson: {lines} responses")
    else:
        part.unlink()
        print("no new responses")


try:
    pull()
except requests.RequestException as error:
    sys.exit(f"The download failed: {error}")
