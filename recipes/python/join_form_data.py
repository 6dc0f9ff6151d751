# Join responses with their form versions
#
# `/responses/form-data` says of each form version when it was made and what its metadata is; `surveyid` is what both files
# have in common. `metadata` is JSON: of a response, what is known of the participant; of a form version, what its maker wrote.

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
# When the service is busy (429, 503): ask again, after as many seconds as it says.
session.mount(API, HTTPAdapter(max_retries=Retry(total=8, backoff_factor=1, status_forcelist=[429, 503])))


def table_from(path):
    answer = session.get(f"{API}{path}", params={"survey": SURVEY}, timeout=600)
    if answer.status_code != 200:
        sys.exit(answer.text)
    return pandas.read_csv(io.BytesIO(answer.content), dtype=str, keep_default_na=False)


responses = table_from("/responses/csv")
forms = table_from("/responses/form-data").rename(columns={"metadata": "form_metadata"})

# many_to_one: each response has one form version. pandas raises an error where that is not so.
joined = responses.merge(forms, on="surveyid", how="left", validate="many_to_one", indicator=True)
assert (joined.pop("_merge") == "both").all(), "a form version was added meanwhile: run it again"

# Numbers with a decimal point stay text, or they would lose digits. Python's whole numbers have any length.
metadata = [json.loads(text, parse_float=str) if text else {} for text in joined["metadata"]]
joined["platform"] = [m.get("platform", "") for m in metadata]
joined["wave"] = [json.loads(text).get("wave", "") for text in joined["form_metadata"]]

joined.to_csv("joined.csv.part", index=False)
os.replace("joined.csv.part", "joined.csv")
print(joined.groupby(["shortcode", "version", "wave", "platform"]).size())
