# Read page by page
#
# The `token` of a page's last response requests the next page; the page after the last response is empty. Pages suit programs that
# need a few responses quickly. To get a whole survey, one file is faster.

import csv
import json
import os
import sys

import pandas
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


def all_responses():
    """Yields the responses of the survey."""
    params = {"survey": SURVEY, "pageSize": 1000}
    while True:
        response = session.get(f"{API}/responses", params=params, timeout=60)
        check(response)
        # parse_float=str keeps all digits of decimal numbers. Python's integers have any length.
        page = response.json(parse_float=str)["responses"]
        if not page:
            return
        yield from page
        params["after"] = page[-1]["token"]


try:
    table = pandas.DataFrame(all_responses(), dtype=object)
except requests.RequestException as error:
    sys.exit(f"The download failed: {error}")
table["metadata"] = [json.dumps(m, ensure_ascii=False) if m is not None else None for m in table["metadata"]]

# pandas writes missing values and empty strings alike.
table.to_csv("responses-from-pages.csv.part", index=False, quoting=csv.QUOTE_ALL)
os.replace("responses-from-pages.csv.part", "responses-from-pages.csv")
print(table["question_ref"].value_counts())
