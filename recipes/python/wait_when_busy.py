# Wait when the service is busy
#
# 429 says that you ask too often, 503 that the database cannot be reached just now. Both say in `Retry-After` after how many
# seconds to come back. The recipes above leave that to `requests` (`Retry`); this is what it does, spelt out.

import os
import sys
import time

import requests

API = os.environ.get("SURVEY_API", "http://127.0.0.1:8787/api/v1")
KEY = os.environ["SURVEY_KEY"]


def get(path, attempts=8, **params):
    """Asks the service until it answers, and waits in between for as long as it says."""
    for _ in range(attempts):
        answer = requests.get(f"{API}{path}", params=params, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
        if answer.status_code not in (429, 503):
            break
        seconds = int(answer.headers.get("Retry-After", 10))
        print(f"busy ({answer.status_code}): waiting for {seconds} s", file=sys.stderr)
        time.sleep(seconds)
    if answer.status_code != 200:
        sys.exit(answer.text)
    return answer


for name in sorted({form["survey_name"] for form in get("/surveys").json()}):
    print(name)
