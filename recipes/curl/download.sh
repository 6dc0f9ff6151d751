#!/bin/sh
# Download a survey as CSV
#
# Saves `responses.csv`, once it is complete. To get one month, add
# `--data since=2026-02-01 --data until=2026-03-01`: `since` is inclusive and `until` exclusive.

set -eu # stop at the first error
# SURVEY_API and SURVEY_KEY are earlier names
url=${SURVEY_EXPORT_URL:-${SURVEY_API:-http://127.0.0.1:8787}}
url=${url%/}
api=${url%/api/v1}/api/v1
: "${SURVEY_EXPORT_KEY:=${SURVEY_KEY-}}"
: "${SURVEY_EXPORT_KEY:?set it to your API key}" "${SURVEY:?set it to the name of a survey}"

status=0
# -q, which must come first, ignores ~/.curlrc: an option such as `include` would change the file
curl -q --silent --show-error --fail-with-body --get "$api/responses/csv" \
  --header "Authorization: Bearer $SURVEY_EXPORT_KEY" --data-urlencode "survey=$SURVEY" \
  --data count=true --dump-header responses.headers.part >responses.csv.part || status=$?
# 22 is an error response, whose body says what is wrong; others, such as 18 or 92, a transfer that
# broke off
if [ "$status" -eq 22 ]; then cat responses.csv.part >&2; fi
if [ "$status" -ne 0 ]; then exit "$status"; fi

# Answers can contain line breaks. A record ends at a line break that is not inside quotes.
rows=$(LC_ALL=C awk '{ quotes += gsub(/"/, "") } quotes % 2 == 0 { n++ } END { print n - 1 }' responses.csv.part)
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers.part)
if ! [ "$rows" -ge "$total" ]; then # there can be more, if responses arrived in the meantime
  echo "responses.csv.part has $rows responses of $total" >&2
  exit 1
fi
mv responses.csv.part responses.csv
rm responses.headers.part
