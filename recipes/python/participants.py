# One row per participant
#
# Saves `participants.csv` and reads it: one row per participant and chain of forms, one column per question, with translated
# answers where there are any. Its argument is a key of the metadata, such as `cluster`, which becomes the column `metadata.cluster`.
#
# Leaves out participants who have a response without this key, such as testers, and participants who took a form more than once.
# Prints how many were left out, and fails if it was everybody.

import os
import sys

import pandas
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

API = os.environ.get("SURVEY_API") or "http://127.0.0.1:8787/api/v1"
KEY = os.environ.get("SURVEY_KEY") or sys.exit("Set the environment variable SURVEY_KEY to your API key.")
SURVEY = os.environ.get("SURVEY") or sys.exit("Set the environment variable SURVEY to the name of a survey.")
METADATA_KEY = sys.argv[1] if len(sys.argv) == 2 else sys.exit("Name a key of the metadata, such as cluster.")
WHO = {
    "survey": SURVEY,
    "repeats": "drop",  # "first" keeps the first attempt; "last", the last answer to each question
    "require_metadata": METADATA_KEY,
}

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


def download(name):
    """Saves the file as `<name>.part`. Prints how many participants it leaves out."""
    with session.get(f"{API}/responses/summary", params=WHO, timeout=60) as response:
        check(response)
        summary = response.json()
    kept, left_out = summary["participants"], summary["left_out"]
    if kept == 0:
        sys.exit(
            f"All {left_out} participants are left out: each has a response without the metadata key "
            f'"{METADATA_KEY}", or took a form more than once.'
        )
    print(f"{left_out} of {kept + left_out} participants are left out", file=sys.stderr)

    # "value" can also be "response", or "label": the texts of choices that the question lists as A, B, C.
    params = {**WHO, "layout": "wide", "value": "translated", "metadata": METADATA_KEY}
    with session.get(f"{API}/responses/csv", params=params, stream=True, timeout=60) as response:
        check(response)
        with open(f"{name}.part", "wb") as file:
            for piece in response.iter_content(chunk_size=65536):
                file.write(piece)


try:
    download("participants.csv")
except requests.RequestException as error:
    sys.exit(f"The download failed: {error}")
os.replace("participants.csv.part", "participants.csv")

table = pandas.read_csv("participants.csv", dtype=str, keep_default_na=False)
print(table)
