#!/bin/sh
# Download a survey as CSV
#
# With `--fail`, curl fails on an error instead of saving the error message. If the connection breaks, curl exits with status 18
# or 92. In both cases the script stops, and there is no `responses.csv`. As a further check, the script compares the number of
# responses in the file with the service's count.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

# When the service is busy (429, 503), --retry waits for the seconds in `Retry-After`. It also retries after a 500, so a mistyped
# survey name is reported only after 7 seconds.
curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/csv" --data-urlencode "survey=$SURVEY" --data count=true \
  --dump-header responses.headers --output responses.csv.part

# Answers can contain line breaks. A record ends at a line break that is not inside quotes.
rows=$(LC_ALL=C awk '{ quotes += gsub(/"/, "") } quotes % 2 == 0 { n++ } END { print n - 1 }' responses.csv.part)
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers)
if ! [ "$rows" -ge "$total" ]; then
  echo "responses.csv.part has $rows responses of $total" >&2
  exit 1
fi

mv responses.csv.part responses.csv
rm responses.headers
echo "responses.csv: $rows responses"
