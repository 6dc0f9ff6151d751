# Wait when the service is busy
#
# 429 means too many requests, 503 that the database cannot be reached at the moment. `Retry-After` gives the number of seconds to wait. The
# recipes above leave this to the `Retry` class of `requests`; this one does the same step by step.

import os
import sys
import time

import requests

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")
KEY = os.environ["SURVEY_KEY"]


def get(path, attempts=8, **params):
    """Sends a request, and retries it while the service is busy."""
    for _ in range(attempts):
        response = requests.get(f"{API}{path}", params=params, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
        if response.status_code not in (429, 503):
            break
        seconds = int(response.headers.get("Retry-After", 10))
        print(f"busy ({response.status_code}): waiting {seconds} s", file=sys.stderr)
        time.sleep(seconds)
    if response.status_code != 200:
        sys.exit(response.text)
    return response


for name in sorted({form["survey_name"] for form in get("/surveys").json()}):
    print(name)
