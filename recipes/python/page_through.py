# Read page by page
#
# The last response of a page has the `token` to ask for the next page with; behind the last response there is an empty page.
# Pages are for programs that want some responses now. All of a survey comes faster as one file.

import json
import os
import sys

import pandas
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")
SURVEY = os.environ["SURVEY"]

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['SURVEY_KEY']}"
# When the service is busy (429, 503): ask again, after as many seconds as it says.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def all_responses():
    """Gives a survey's responses, one after the other."""
    params = {"survey": SURVEY, "pageSize": 1000}
    while True:
        answer = session.get(f"{API}/responses", params=params, timeout=60)
        if answer.status_code != 200:
            sys.exit(answer.text)
        # Numbers with a decimal point stay text, or they would lose digits. Python's whole numbers have any length.
        page = answer.json(parse_float=str)["responses"]
        if not page:
            return
        yield from page
        params["after"] = page[-1]["token"]


table = pandas.DataFrame(all_responses(), dtype=object)
table["platform"] = [(metadata or {}).get("platform") for metadata in table["metadata"]]
print(table["platform"].value_counts(dropna=False))

# In the CSV that pandas writes, a missing value and an empty text are the same.
table["metadata"] = [json.dumps(m, ensure_ascii=False) if m is not None else None for m in table["metadata"]]
table.to_csv("responses-from-pages.csv.part", index=False)
os.replace("responses-from-pages.csv.part", "responses-from-pages.csv")
