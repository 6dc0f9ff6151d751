#!/bin/sh
# Download one month
#
# `since` is the first moment, `until` the first one that is no longer wanted: month after month, nothing is left out and
# nothing comes twice. A date begins in UTC; for another time zone write `2026-02-01T00:00:00+03:00`. Responses can reach
# the service late: fetch a month some days after its end, or see [how to pull what is new](#pull-what-is-new-python).

set -eu # stop at the first thing that goes wrong
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/csv" --data-urlencode "survey=$SURVEY" \
  --data-urlencode since=2026-02-01 --data-urlencode until=2026-03-01 \
  --output responses-2026-02.csv.part
mv responses-2026-02.csv.part responses-2026-02.csv
