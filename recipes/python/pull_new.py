# Pull new responses
#
# Run it every night: it downloads the responses added since the last run into a new file in the folder `pulls`. Read all files with
# `pandas.concat` or DuckDB's `'pulls/*.ndjson'`.
#
# It requests responses with later times than those it has. That cannot find a response that is stored late, for example from a phone
# that was offline, nor one that is edited or deleted afterwards. So each run also compares the digests of the responses up to the
# last run with those that it has recorded. If they differ, it downloads nothing and exits with status 3. Then remove the folder and
# run it again, which downloads everything. To download only the days that differ, see `docs/sync.md`.

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
    # A digest reads every response, which takes a while.
    response = session.get(f"{API}{path}", params={"survey": SURVEY, **params}, stream=True, timeout=150)
    check(response)
    return response


def digests(**params):
    """Returns the digest of the responses of each day."""
    return {day["start"][:10]: day["digest"] for day in get("/responses/digests", **params).json()["digests"]}


def pull():
    """Downloads the new responses into a file of their own."""
    folder = pathlib.Path("pulls")
    folder.mkdir(exist_ok=True)
    state_file = folder / "state.json"
    state = json.loads(state_file.read_text()) if state_file.exists() else {"files": 0, "until": None, "digests": {}}
    file_name = folder / f"{state['files'] + 1:06}.ndjson"
    file_name.unlink(missing_ok=True)  # from a run that was stopped before it saved its state
    if len(list(folder.glob("*.ndjson"))) != state["files"]:
        sys.exit(f"{folder} does not have the files of the earlier runs: remove it and run this again")

    # The new responses are those from `since` until just after the newest one. (Times have up to 6 fraction digits.)
    since, recorded = state["until"], state["digests"]
    newest = get("/responses", order="desc", pageSize=1).json()["responses"][0]["timestamp"]
    until = newest[:-1].ljust(len("2026-03-01T00:03:43.770047"), "0") + "1Z"
    last_days = {"since": since and since[:10], "until": until}
    new = digests(**last_days)
    if since:
        now = digests(until=since)
        changed = [day for day in sorted({*now, *recorded}) if now.get(day) != recorded.get(day)]
        if changed:
            message = "since the last run, responses were stored late, edited or deleted"
            print(f"{message}, the earliest on {changed[0]}: remove {folder} and run this again", file=sys.stderr)
            sys.exit(3)
        if until <= since:
            print("no new responses; those that were pulled have not changed")
            return

    part = folder / "new.part"
    lines = 0
    with get("/responses/ndjson", count="true", since=since, until=until) as response, open(part, "wb") as file:
        total = int(response.headers["X-Total-Count"])
        for piece in response.iter_content(chunk_size=65536):
            file.write(piece)
            lines += piece.count(b"\n")
    if lines < total:
        sys.exit(f"{part} has {lines} responses of {total}")
    if digests(**last_days) != new:
        sys.exit("responses were stored late, edited or deleted during the download: run this again")
    part.rename(file_name)
    state = {"files": state["files"] + 1, "until": until, "digests": {**recorded, **new}}
    (folder / "state.part").write_text(json.dumps(state))
    os.replace(folder / "state.part", state_file)
    print(f"{file_name}: {lines} responses")


try:
    pull()
except requests.RequestException as error:
    sys.exit(f"The download failed: {error}")
