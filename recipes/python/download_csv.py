# Download a survey as CSV
#
# As long as the file is being written it is called `responses.csv.part`. When the connection breaks off, `requests` raises an
# exception, and the program ends there.

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

with session.get(
    f"{API}/responses/csv",
    params={"survey": SURVEY, "count": "true"},
    stream=True,  # piece by piece: a large survey need not fit into the memory
    timeout=60,
) as answer:
    if answer.status_code != 200:
        sys.exit(answer.text)  # the service says what is wrong
    total = int(answer.headers["X-Total-Count"])
    with open("responses.csv.part", "wb") as file:
        for piece in answer.iter_content(chunk_size=65536):
            file.write(piece)

table = pandas.read_csv("responses.csv.part", dtype=str, keep_default_na=False)
if len(table) < total:  # more there may be: responses that came in meanwhile
    sys.exit(f"responses.csv.part has {len(table)} responses of {total}")
os.replace("responses.csv.part", "responses.csv")

print(table[["timestamp", "userid", "question_ref", "response"]])
