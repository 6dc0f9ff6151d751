# Download a survey as CSV
#
# Saves the responses as `responses.csv` and the form versions as `form-data.csv`. If anything fails, neither file appears: when
# the connection breaks, `requests` raises an exception, which ends the program.

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


def download(path, name, **params):
    """Saves a file as `<name>.part`. Returns the response's headers."""
    with session.get(f"{API}{path}", params={"survey": SURVEY, **params}, stream=True, timeout=60) as response:
        if response.status_code != 200:
            sys.exit(response.text)  # the service's message
        with open(f"{name}.part", "wb") as file:
            for piece in response.iter_content(chunk_size=65536):
                file.write(piece)
        return response.headers


total = int(download("/responses/csv", "responses.csv", count="true")["X-Total-Count"])
download("/responses/form-data", "form-data.csv")

table = pandas.read_csv("responses.csv.part", dtype=str, keep_default_na=False)
if len(table) < total:  # there can be more, if responses arrived in the meantime
    sys.exit(f"responses.csv.part has {len(table)} responses of {total}")
for name in ["responses.csv", "form-data.csv"]:
    os.replace(f"{name}.part", name)

print(table[["timestamp", "userid", "question_ref", "response"]])
