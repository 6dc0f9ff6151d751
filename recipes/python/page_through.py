# Read page by page
#
# Saves `responses.ndjson`, one response per line. The `token` of a page's last response requests
# the next page; the page after the last response is empty. Pages suit programs that need a few
# responses quickly: to get a whole survey, one file is faster. Requires `python3 -m pip install
# requests`.

import json
import os

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

# SURVEY_API and SURVEY_KEY are earlier names.
url = os.environ.get("SURVEY_EXPORT_URL") or os.environ.get("SURVEY_API") or "http://127.0.0.1:8787"
api = url.rstrip("/").removesuffix("/api/v1") + "/api/v1"
key = os.environ.get("SURVEY_EXPORT_KEY") or os.environ.get("SURVEY_KEY")
if not key:
    raise SystemExit("SURVEY_EXPORT_KEY: set it to your API key")
session = requests.Session()
session.headers["Authorization"] = f"Bearer {key}"
# A busy service responds with 429 or 503 and the number of seconds to wait. Any other error stays
# the same.
retry = Retry(8, connect=2, read=2, status_forcelist=[429, 503], raise_on_status=False)
session.mount(api, HTTPAdapter(max_retries=retry))

params = {"survey": os.environ["SURVEY"], "pageSize": 1000}
with open("responses.ndjson.part", "w", encoding="utf-8") as file:
    while True:
        response = session.get(f"{api}/responses", params=params, timeout=60)
        if not response.ok:
            raise SystemExit(f"{response.status_code}: {response.text}")
        # Integers have any length in Python. Other numbers become texts, which keep all their
        # digits.
        page = response.json(parse_float=str)["responses"]
        if not page:
            break
        for row in page:  # null is None, and an empty answer is ""
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        params["after"] = page[-1]["token"]
os.replace("responses.ndjson.part", "responses.ndjson")
