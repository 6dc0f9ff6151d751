# Download a survey as CSV
#
# Saves the responses as `responses.csv` and the form versions as `form-data.csv`. If anything fails, neither file appears.

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


def download(path, name, **params):
    """Saves a file as `<name>.part`. Returns the response's headers."""
    with session.get(f"{API}{path}", params={"survey": SURVEY, **params}, stream=True, timeout=60) as response:
        check(response)
        with open(f"{name}.part", "wb") as file:
            for piece in response.iter_content(chunk_size=65536):
                file.write(piece)
        return response.headers


try:
    total = int(download("/responses/csv", "responses.csv", count="true")["X-Total-Count"])
    download("/responses/form-data", "form-data.csv")
except requests.RequestException as error:
    sys.exit(f"The download failed: {error}")

table = pandas.read_csv("responses.csv.part", dtype=str, keep_default_na=False)
if len(table) < total:  # there can be more, if responses arrived in the meantime
    sys.exit(f"responses.csv.part has {len(table)} responses of {total}")
for name in ["responses.csv", "form-data.csv"]:
    os.replace(f"{name}.part", name)

print(table[["timestamp", "userid", "question_ref", "response"]])
