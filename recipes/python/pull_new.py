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

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")
SURVEY = os.environ["SURVEY"]

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['SURVEY_KEY']}"
# When the service is busy (429, 503), retry after the number of seconds it returns.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def send(method, **params):
    response = session.request(
        method, f"{API}/responses/ndjson", params={"survey": SURVEY, **params}, stream=True, timeout=60
    )
    if response.status_code != 200:
        sys.exit(response.text or f"status {response.status_code}")
    return response


def count(**params):
    return int(send("HEAD", count="true", **params).headers["X-Total-Count"])


folder = pathlib.Path("pulls")
folder.mkdir(exist_ok=True)
number, have, token = 0, 0, {}
for pull in sorted(folder.glob("*.ndjson")):
    number = int(pull.stem)
    with open(pull, "rb") as file:
        for line in file:
            have += 1
    token = {"after": json.loads(line)["token"]}

if token:
    should_have = count() - count(**token)  # the responses up to the token
    if should_have > have:
        print(f"{folder} has {have} responses, but the service has {should_have} up to the same token", file=sys.stderr)
        sys.exit(3)

part = folder / "new.part"
lines = 0
with send("GET", count="true", **token) as response, open(part, "wb") as file:
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
