# Join responses with their form versions
#
# `/responses/form-data` has one row per form version, with its creation time and metadata; `surveyid` joins the two files.
# `metadata` is JSON: in a response it describes the participant, in a form version the form.

import io
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
# When the service is busy (429, 503), retry after the number of seconds it returns.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def table_from(path):
    response = session.get(f"{API}{path}", params={"survey": SURVEY}, timeout=600)
    if response.status_code != 200:
        sys.exit(response.text)
    return pandas.read_csv(io.BytesIO(response.content), dtype=str, keep_default_na=False)


responses = table_from("/responses/csv")
forms = table_from("/responses/form-data").rename(columns={"metadata": "form_metadata"})

# many_to_one: pandas raises an error unless each response has exactly one form version.
joined = responses.merge(forms, on="surveyid", how="left", validate="many_to_one", indicator=True)
assert (joined.pop("_merge") == "both").all(), "a form version was added during the download: run this again"

# parse_float=str keeps all digits of decimal numbers. Python's integers have any length.
metadata = [json.loads(text, parse_float=str) if text else {} for text in joined["metadata"]]
joined["platform"] = [m.get("platform", "") for m in metadata]
joined["wave"] = [json.loads(text).get("wave", "") for text in joined["form_metadata"]]

joined.to_csv("joined.csv.part", index=False)
os.replace("joined.csv.part", "joined.csv")
print(joined.groupby(["shortcode", "version", "wave", "platform"]).size())
