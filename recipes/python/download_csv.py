# Download a survey as CSV
#
# The file is called `responses.csv.part` until it is complete. If the connection breaks, `requests` raises an exception, which ends
# the program.

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
# When the service is busy (429, 503), retry after the number of seconds it returns.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))

with session.get(
    f"{API}/responses/csv",
    params={"survey": SURVEY, "count": "true"},
    stream=True,  # a large survey need not fit into memory
    timeout=60,
) as response:
    if response.status_code != 200:
        sys.exit(response.text)  # the service's message
    total = int(response.headers["X-Total-Count"])
    with open("responses.csv.part", "wb") as file:
        for piece in response.iter_content(chunk_size=65536):
            file.write(piece)

table = pandas.read_csv("responses.csv.part", dtype=str, keep_default_na=False)
if len(table) < total:  # there can be more, if responses arrived in the meantime
    sys.exit(f"responses.csv.part has {len(table)} responses of {total}")
os.replace("responses.csv.part", "responses.csv")

print(table[["timestamp", "userid", "question_ref", "response"]])
