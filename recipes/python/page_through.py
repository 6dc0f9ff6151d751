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

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['SURVEY_KEY']}"
# When the service is busy (429, 503), retry after the number of seconds it returns.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def all_responses():
    """Yields the responses of the survey."""
    params = {"survey": os.environ["SURVEY"], "pageSize": 1000}
    while True:
        response = session.get(f"{API}/responses", params=params, timeout=60)
        if response.status_code != 200:
            sys.exit(response.text)  # the service's message
        # parse_float=str keeps all digits of decimal numbers. Python's integers have any length.
        page = response.json(parse_float=str)["responses"]
        if not page:
            return
        yield from page
        params["after"] = page[-1]["token"]


table = pandas.DataFrame(all_responses(), dtype=object)
table["metadata"] = [json.dumps(m, ensure_ascii=False) if m is not None else None for m in table["metadata"]]

# pandas writes missing values and empty strings alike.
table.to_csv("responses-from-pages.csv.part", index=False, quoting=csv.QUOTE_ALL)
os.replace("responses-from-pages.csv.part", "responses-from-pages.csv")
print(table["question_ref"].value_counts())
