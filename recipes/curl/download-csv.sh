#!/bin/sh
# Download a survey as CSV
#
# `--fail` makes an error an error, and not a file with an error message in it; when the connection breaks off, curl ends
# with status 18 or 92. Either way the script ends there, and there is no `responses.csv`. What has come is counted all the
# same, and compared with what the service has counted.

set -eu # stop at the first thing that goes wrong
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

# --retry waits as long as the service says when it is busy (429, 503). It tries again after a 500, too, so that a
# mistyped name is reported after 7 seconds.
curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/csv" --data-urlencode "survey=$SURVEY" --data count=true \
  --dump-header responses.headers --output responses.csv.part

# A response is not a line: answers have line breaks, too. One ends at a line break that is not between quotes.
rows=$(LC_ALL=C awk '{ quotes += gsub(/"/, "") } quotes % 2 == 0 { n++ } END { print n - 1 }' responses.csv.part)
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers)
if ! [ "$rows" -ge "$total" ]; then
  echo "responses.csv.part has $rows responses of $total" >&2
  exit 1
fi

mv responses.csv.part responses.csv
rm responses.headers
echo "responses.csv: $rows responses"
