# Keep a copy up to date
#
# Makes the folder `data` an exact copy of the survey, with one file per day. Run it every night: it downloads the days that have
# changed since the last run, including those with responses that were stored late, edited or deleted. If it is stopped or the
# connection breaks, run it again. Read all files with DuckDB's `'data/responses/*.csv.gz'`, or `pandas.concat`.
#
# Requires the client: `python3 -m pip install ./clients/python`. Its command does the same: `survey-export mirror`.

import os
import sys

from survey_export import Client, SurveyExportError

API = os.environ.get("SURVEY_API") or "http://127.0.0.1:8787/api/v1"
KEY = os.environ.get("SURVEY_KEY") or sys.exit("Set the environment variable SURVEY_KEY to your API key.")
SURVEY = os.environ.get("SURVEY") or sys.exit("Set the environment variable SURVEY to the name of a survey.")

try:
    changes = Client(API, KEY).survey(SURVEY).mirror("data")
except SurveyExportError as error:
    sys.exit(str(error))
print(f"days: {len(changes.added)} added, {len(changes.changed)} changed, {len(changes.removed)} removed")
