# Resume a download
#
# With a progress bar. When the connection breaks off it goes on where the file ends, and so does the program when it was
# stopped and is started again: the file is the same in the end, byte for byte. Use one folder for each survey (and filter):
# nothing in `responses.csv.part` says what it is a part of.

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

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")
SURVEY = os.environ["SURVEY"]

csv.field_size_limit(2**31 - 1)  # a long answer is no error

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['SURVEY_KEY']}"
# When the service is busy (429, 503): ask again, after as many seconds as it says.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def cut_behind_last_record(file):
    """Removes a record that broke off from the file's end. Returns how many responses it has, and the last one's token."""
    records, start, end, position, in_quotes = 0, 0, 0, 0, False
    file.seek(0)
    for line in file:
        position += len(line)
        in_quotes ^= line.count(b'"') % 2 == 1  # an answer may have line breaks: it is between quotes then
        if line.endswith(b"\n") and not in_quotes:
            records, start, end = records + 1, end, position

    if records < 2:  # nothing but the header: the answer to a request without token has it again
        file.truncate(0)
        file.seek(0)
        return 0, None
    file.truncate(end)
    file.seek(0)
    header = next(csv.reader([file.readline().decode()]))
    file.seek(start)
    cells = next(csv.reader(io.StringIO(file.read().decode(), newline="")))  # the file ends here now
    record = dict(zip(header, cells))
    place = [1, record["timestamp"], record["userid"], record["question_ref"], record["surveyid"]]
    token = base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")
    return records - 1, token


def show_progress(done, total):
    share = min(done / total, 1) if total else 1
    print(f"\r[{'#' * int(40 * share):40}] {done:,} of {total:,}", end="", file=sys.stderr, flush=True)


def fetch_rest(file):
    """Fetches what the file lacks and writes it behind its end. Returns how many responses it has then and should have."""
    done, token = cut_behind_last_record(file)
    params = {"survey": SURVEY, "count": "true"}
    if token:
        params["after"] = token
    with session.get(f"{API}/responses/csv", params=params, stream=True, timeout=60) as answer:
        if answer.status_code != 200:
            sys.exit(answer.text)
        total = done + int(answer.headers["X-Total-Count"])
        in_quotes = False
        if not token:
            done = -1  # the header is a record, too
        for piece in answer.iter_content(chunk_size=65536):
            file.write(piece)
            parts = piece.split(b'"')  # by turns outside and between quotes
            done += sum(part.count(b"\n") for part in parts[in_quotes::2])
            in_quotes ^= len(parts) % 2 == 0
            show_progress(done, total)
    print(file=sys.stderr)
    return done, total


def download(path, attempts=10):
    """Downloads the survey. There is a file of this name only when all of it is there."""
    with open(f"{path}.part", "a+b") as file:
        for attempt in range(1, attempts + 1):
            try:
                done, total = fetch_rest(file)
                break
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                print(f"\nbroke off ({type(error).__name__}): going on", file=sys.stderr)
                if attempt == attempts:
                    raise
                time.sleep(min(attempt, 30))
    if done < total:
        sys.exit(f"{path}.part has {done} responses of {total}")
    os.replace(f"{path}.part", path)


download("responses.csv")
