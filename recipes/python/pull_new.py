# Pull what is new
#
# Run it every night: each time it fetches what has come since, into a new file in the folder `pulls` (nothing new, no file).
# Where it goes on is the `token` of the last response it has, and so needs no file of its own, which might disagree with the
# data. Read all of it with `pandas.concat` or DuckDB's `'pulls/*.ndjson'`.
#
# This is better than asking `since` yesterday: no clock is involved, and a night in which it did not run is made up for. But
# responses are ordered by when they were given, and some reach the service late, from a phone that was offline: those have
# their place before the token. Therefore the program compares how many responses there should be up to the token with how
# many it has. When some came late it says so and ends with status 3: fetch all anew (remove `pulls`), or overlap: ask `since`
# some days before the end, and leave out what you have (`timestamp`, `userid`, `question_ref` and `surveyid` together are
# what tells responses apart).

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
# When the service is busy (429, 503): ask again, after as many seconds as it says.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def ask(method, **params):
    answer = session.request(
        method, f"{API}/responses/ndjson", params={"survey": SURVEY, **params}, stream=True, timeout=60
    )
    if answer.status_code != 200:
        sys.exit(answer.text or f"status {answer.status_code}")
    return answer


def count(**params):
    return int(ask("HEAD", count="true", **params).headers["X-Total-Count"])


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
    should_have = count() - count(**token)  # all, but for those behind the token
    if should_have > have:
        print(f"{have} responses in {folder}, and now {should_have} up to the same place", file=sys.stderr)
        sys.exit(3)

part = folder / "new.part"
lines = 0
with ask("GET", count="true", **token) as answer, open(part, "wb") as file:
    total = int(answer.headers["X-Total-Count"])
    for piece in answer.iter_content(chunk_size=65536):
        file.write(piece)
        lines += piece.count(b"\n")
if lines < total:  # more there may be: responses that came in meanwhile
    sys.exit(f"{part} has {lines} responses of {total}")
if lines > 0:
    part.rename(folder / f"{number + 1:06}.ndjson")
    print(f"{folder}/{number + 1:06}.ndjson: {lines} responses")
else:
    part.unlink()
    print("nothing new")
