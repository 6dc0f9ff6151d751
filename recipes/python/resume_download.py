# Resume a download
#
# Shows progress on a terminal. If the connection breaks, or the program is stopped and started again, it resumes after the last
# complete response of the file `responses.csv.….part`. The result equals an uninterrupted download byte for byte.
#
# Requires the client: `python3 -m pip install ./clients/python`. Its command does the same: `survey-export download`.

import os
import sys

from survey_export import Client, SurveyExportError

API = os.environ.get("SURVEY_API") or "http://127.0.0.1:8787/api/v1"
KEY = os.environ.get("SURVEY_KEY") or sys.exit("Set the environment variable SURVEY_KEY to your API key.")
SURVEY = os.environ.get("SURVEY") or sys.exit("Set the environment variable SURVEY to the name of a survey.")

try:
    Client(API, KEY).survey(SURVEY).download("responses.csv")
except SurveyExportError as error:
    sys.exit(str(error))
