# Join responses with their form versions
#
# Reads `responses.csv` and `form-data.csv` (`download_csv.py` saves them), joined by `surveyid`.
# `metadata` is JSON: in a response it describes the participant, in a form version the form. In a response it can be missing.

import csv
import json
import os
import sys

import pandas

try:
    responses = pandas.read_csv("responses.csv", dtype=str, keep_default_na=False)
    forms = pandas.read_csv("form-data.csv", dtype=str, keep_default_na=False)
except FileNotFoundError as error:
    sys.exit(f"{error.filename} is not in this folder: run download_csv.py first.")
forms = forms.rename(columns={"metadata": "form_metadata"})

# many_to_one: pandas raises an error unless each response has exactly one form version.
joined = responses.merge(forms, on="surveyid", how="left", validate="many_to_one", indicator=True)
assert (joined.pop("_merge") == "both").all(), "a form version was added during the download: download again"

# parse_float=str keeps all digits of decimal numbers. Python's integers have any length.
metadata = [json.loads(text, parse_float=str) if text else {} for text in joined["metadata"]]
joined["platform"] = [m.get("platform", "") for m in metadata]
joined["wave"] = [json.loads(text).get("wave", "") for text in joined["form_metadata"]]

joined.to_csv("joined.csv.part", index=False, quoting=csv.QUOTE_ALL)
os.replace("joined.csv.part", "joined.csv")
print(joined.groupby(["shortcode", "version", "wave", "platform"]).size())
