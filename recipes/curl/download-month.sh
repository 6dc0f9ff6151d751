#!/bin/sh
# Download one month
#
# `since` is inclusive and `until` exclusive, so consecutive months neither overlap nor leave gaps. A date starts at midnight UTC;
# for another time zone write `2026-02-01T00:00:00+03:00`. Some responses reach the service late: download a month a few days
# after it ends, or [pull new responses](#pull-new-responses-python).

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/csv" --data-urlencode "survey=$SURVEY" \
  --data-urlencode since=2026-02-01 --data-urlencode until=2026-03-01 \
  --output responses-2026-02.csv.part
mv responses-2026-02.csv.part responses-2026-02.csv
