# Resume a download
#
# Shows a progress bar. If the connection breaks, or the program is stopped and started again, it resumes where the file ends. The
# result equals an uninterrupted download byte for byte. Use one folder for each survey (and filter): `responses.csv.part` does not
# record which survey it belongs to.

import base64
import csv
import io
import json
import os
import sys
import time

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

API = os.environ.get("SURVEY_API") or "http://127.0.0.1:8787/api/v1"
KEY = os.environ.get("SURVEY_KEY") or sys.exit("Set the environment variable SURVEY_KEY to your API key.")
SURVEY = os.environ.get("SURVEY") or sys.exit("Set the environment variable SURVEY to the name of a survey.")

csv.field_size_limit(2**31 - 1)  # allow long answers

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


def truncate_to_last_record(file):
    """Removes an incomplete record from the end of the file. Returns the number of responses and the last one's token."""
    records, start, end, position, in_quotes = 0, 0, 0, 0, False
    file.seek(0)
    for line in file:
        position += len(line)
        in_quotes ^= line.count(b'"') % 2 == 1  # answers with line breaks are quoted
        if line.endswith(b"\n") and not in_quotes:
            records, start, end = records + 1, end, position

    if records < 2:  # at most the header, which the next response will contain
        file.truncate(0)
        file.seek(0)
        return 0, None
    file.truncate(end)
    file.seek(0)
    header = next(csv.reader([file.readline().decode()]))
    file.seek(start)
    cells = next(csv.reader(io.StringIO(file.read().decode(), newline="")))  # up to the end of the file
    record = dict(zip(header, cells))
    cursor = [1, record["timestamp"], record["userid"], record["question_ref"], record["surveyid"]]
    token = base64.urlsafe_b64encode(json.dumps(cursor).encode()).decode().rstrip("=")
    return records - 1, token


def show_progress(done, total):
    share = min(done / total, 1) if total else 1
    print(f"\r[{'#' * int(40 * share):40}] {done:,} of {total:,}", end="", file=sys.stderr, flush=True)


def fetch_rest(file):
    """Downloads the missing rest of the file. Returns the number of responses it has, and the number it should have."""
    done, token = truncate_to_last_record(file)
    params = {"survey": SURVEY, "count": "true"}
    if token:
        params["after"] = token
    with session.get(f"{API}/responses/csv", params=params, stream=True, timeout=60) as response:
        check(response)
        total = done + int(response.headers["X-Total-Count"])
        in_quotes = False
        if not token:
            done = -1  # do not count the header
        for piece in response.iter_content(chunk_size=65536):
            file.write(piece)
            parts = piece.split(b'"')  # alternately outside and inside quotes
            done += sum(part.count(b"\n") for part in parts[in_quotes::2])
            in_quotes ^= len(parts) % 2 == 0
            show_progress(done, total)
    print(file=sys.stderr)
    return done, total


def download(path, attempts=10):
    """Downloads the survey. The file gets this name only when it is complete."""
    with open(f"{path}.part", "a+b") as file:
        for attempt in range(1, attempts + 1):
            try:
                done, total = fetch_rest(file)
                break
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                print(f"\ninterrupted ({type(error).__name__}): resuming", file=sys.stderr)
                if attempt == attempts:
                    raise
                time.sleep(min(attempt, 30))
    if done < total:
        sys.exit(f"{path}.part has {done} responses of {total}")
    os.replace(f"{path}.part", path)


try:
    check(session.get(f"{API}/key", timeout=60))  # what fails here is no interruption
    download("responses.csv")
except requests.RequestException as error:
    sys.exit(f"The download failed: {error}")
