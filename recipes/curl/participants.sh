#!/bin/sh
# One row per participant
#
# Saves `participants.csv`: one row per participant and chain of forms, one column per question, with translated answers where
# there are any. Its argument is a key of the metadata, such as `cluster`, which becomes the column `metadata.cluster`.
#
# Leaves out participants who have a response without this key, such as testers, and participants who took a form more than once;
# to keep the last answers of these, write `repeats=last`. Prints how many were left out, and fails if it was everybody.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
: "${SURVEY_KEY:?set it to your API key}" "${SURVEY:?set it to the name of a survey}"
if [ $# -ne 1 ]; then
  echo 'Name a key of the metadata, such as cluster.' >&2
  exit 2
fi
key=$1

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

set -- --data-urlencode "survey=$SURVEY" --data repeats=drop --data-urlencode "require_metadata=$key"
get responses/summary summary.json "$@"
kept=$(sed 's/^{"responses":[0-9]*,"participants":\([0-9]*\).*/\1/' summary.json.part)
left_out=$(sed 's/.*"left_out":\([0-9]*\).*/\1/' summary.json.part)
if [ "$kept" -eq 0 ]; then
  echo "All $left_out participants are left out: each has a response without the metadata key" \
    "\"$key\", or took a form more than once." >&2
  exit 1
fi
echo "$left_out of $((kept + left_out)) participants are left out" >&2

get responses/csv participants.csv "$@" --data layout=wide --data value=translated --data-urlencode "metadata=$key"
mv participants.csv.part participants.csv
rm participants.csv.headers.part summary.json.part summary.json.headers.part
