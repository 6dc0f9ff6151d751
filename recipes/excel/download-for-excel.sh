#!/bin/sh
# Download a workbook
#
# Saves `responses.xlsx`, for Excel (not tested) and LibreOffice: every cell is text, so ids keep all their digits and no answer
# runs as a formula. It can have up to 1,048,575 rows with cells of up to 32,767 characters; the service refuses more.
#
# For one row per participant, add `--data layout=wide`, and the other parameters of
# `participants.sh`.

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

get responses/xlsx responses.xlsx --data-urlencode "survey=$SURVEY"
mv responses.xlsx.part responses.xlsx
rm responses.xlsx.headers.part
