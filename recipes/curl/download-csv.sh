#!/bin/sh
# Download a survey as CSV
#
# Saves the responses as `responses.csv` and the form versions as `form-data.csv`. If anything fails, neither file appears. The
# number of responses is compared with the service's count. When the service is busy (429, 503), `--retry` waits for the seconds
# in `Retry-After`. It also retries after a 500, so a mistyped survey name is reported only after 7 seconds.
#
# To get one month, add `--data since=2026-02-01 --data until=2026-03-01` to the first `get`. `since` is inclusive and `until`
# exclusive. A date starts at midnight UTC; for another time zone write `--data-urlencode since=2026-02-01T00:00:00+03:00`.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

get() { # path, file; passes further arguments to curl
  path=$1 file=$2
  shift 2
  curl --fail-with-body --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
    --get "$api/$path" --data-urlencode "survey=$SURVEY" --output "$file.part" "$@" || {
    status=$?
    if [ "$status" -eq 22 ]; then cat "$file.part" >&2; fi # the service's message
    exit "$status"
  }
}

get responses/csv responses.csv --data count=true --dump-header responses.headers
get responses/form-data form-data.csv

# Answers can contain line breaks. A record ends at a line break that is not inside quotes.
rows=$(LC_ALL=C awk '{ quotes += gsub(/"/, "") } quotes % 2 == 0 { n++ } END { print n - 1 }' responses.csv.part)
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers)
if ! [ "$rows" -ge "$total" ]; then
  echo "responses.csv.part has $rows responses of $total" >&2
  exit 1
fi

mv responses.csv.part responses.csv
mv form-data.csv.part form-data.csv
rm responses.headers
echo "responses.csv: $rows responses"
