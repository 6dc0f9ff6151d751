# One row per participant
#
# Saves `participants.csv` and reads it: one row per participant and chain of forms, one column per question, with translated
# answers where there are any. Leaves out testers, whose metadata lacks a key, and participants who took a form more than once.

import os
import sys

import pandas
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")
KEY = "cluster"  # a key of the metadata that testers lack; it also becomes the column metadata.cluster
PARAMS = {
    "survey": os.environ["SURVEY"],
    "layout": "wide",
    "value": "translated",  # or "response"
    "repeats": "drop",  # "first" keeps the first attempt; "last", the last answer to each question
    "require_metadata": KEY,
    "metadata": KEY,
}

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['SURVEY_KEY']}"
# When the service is busy (429, 503), retry after the number of seconds it returns.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))

with session.get(f"{API}/responses/csv", params=PARAMS, stream=True, timeout=60) as response:
    if response.status_code != 200:
        sys.exit(response.text)  # the service's message
    with open("participants.csv.part", "wb") as file:
        for piece in response.iter_content(chunk_size=65536):
            file.write(piece)
os.replace("participants.csv.part", "participants.csv")

table = pandas.read_csv("participants.csv", dtype=str, keep_default_na=False)
print(table)
