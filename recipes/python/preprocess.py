# Preprocess with vlab_prepro
#
# [vlab-prepro](https://pypi.org/project/vlab-prepro/) has the steps of the survey platform's own export: final answers, duplicate
# participants, testers, one row per participant. It reads `metadata` as JSON and stops at a response without metadata, so an empty
# cell becomes `{}` first. Reads `responses.csv` and `form-data.csv` (`download_csv.py` saves them), and
# requires `python3 -m pip install vlab-prepro`. Its argument is a key of the metadata that testers lack, such as `platform`.

import csv
import os
import sys

import pandas
from vlab_prepro import Preprocessor

KEY = sys.argv[1] if len(sys.argv) == 2 else sys.exit("Name a key of the metadata, such as platform.")
try:
    responses = pandas.read_csv("responses.csv", dtype=str, keep_default_na=False)
    forms = pandas.read_csv("form-data.csv", dtype=str, keep_default_na=False)
except FileNotFoundError as error:
    sys.exit(f"{error.filename} is not in this folder: run download_csv.py first.")
responses["metadata"] = responses["metadata"].replace("", "{}")
forms["metadata"] = "{}"  # or keep it, if no form version has a list in it: pivot would fail

p = Preprocessor()
table = p.add_form_data(forms, responses)
table = p.add_metadata([KEY], table)
table = p.keep_final_answer(table)
table = p.drop_users_without(KEY, table)  # testers
table = p.drop_duplicated_users(["shortcode"], table)
if table.empty:
    sys.exit(f'All participants are left out: each lacks the metadata key "{KEY}", or took a form more than once.')
table = p.pivot("response", table)

table.to_csv("preprocessed.csv.part", index=False, quoting=csv.QUOTE_ALL)
os.replace("preprocessed.csv.part", "preprocessed.csv")
print(table)
