#!/bin/sh
# List your surveys
#
# The list has one entry for each form version; all entries of a survey have the same `survey_name`. The script saves the list as
# `surveys.json`, and prints the names if [jq](https://jqlang.org) is installed.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
: "${SURVEY_KEY:?set it to your API key}"

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

get surveys surveys.json
mv surveys.json.part surveys.json
rm surveys.json.headers.part

if command -v jq >/dev/null; then
  jq --raw-output 'map(.survey_name) | unique | .[]' surveys.json
else
  echo 'saved surveys.json'
fi
