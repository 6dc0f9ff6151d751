#!/bin/sh
# List the questions and count responses per day
#
# Saves `codebook.csv`, with every question, its text and the number of its responses and participants, and `summary.json`, with
# the number of responses and participants per day.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
: "${SURVEY_KEY:?set it to your API key}" "${SURVEY:?set it to the name of a survey}"

get() { # path, file; passes further arguments to curl. Saves the response as <file>.part
  path=$1 file=$2
  shift 2
  for _ in 1 2 3 4 5 6 7 8; do
    rm -f "$file.part"
    status=0
    error=$(curl --silent --fail-with-body --write-out '%{errormsg}' --header "Authorization: Bearer $SURVEY_KEY" \
      --get "$api/$path" --output "$file.part" --dump-header "$file.headers.part" "$@") || status=$?
    if [ "$status" -eq 0 ]; then return; fi
    if [ "$status" -ne 22 ]; then break; fi # the connection failed
    message=$(sed -n 's/^{"error":{"message":"\(.*\)"}}$/\1/p' "$file.part") # the service's; a proxy's error has none
    error=${message:-$(head -n 1 "$file.headers.part" | tr -d '\r')}
    seconds=$(awk 'tolower($1) == "retry-after:" { print $2 + 0 }' "$file.headers.part")
    if [ -z "$seconds" ]; then break; fi # a busy service sends it; a wrong key or name stays wrong
    sleep "$seconds"
  done
  echo "$api/$path: $error" >&2
  exit "$status"
}

get responses/questions codebook.csv --data-urlencode "survey=$SURVEY" --data format=csv
# Days begin at midnight in this time zone.
get responses/summary summary.json --data-urlencode "survey=$SURVEY" --data timezone=Africa/Nairobi

mv codebook.csv.part codebook.csv
mv summary.json.part summary.json
rm codebook.csv.headers.part summary.json.headers.part
