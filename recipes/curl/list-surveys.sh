#!/bin/sh
# List your surveys
#
# The list has one entry for each form version; all entries of a survey have the same `survey_name`. The script saves the list as
# `surveys.json`, and prints the names if [jq](https://jqlang.org) is installed.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

curl --fail-with-body --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --output surveys.json.part "$api/surveys" || {
  status=$?
  if [ "$status" -eq 22 ]; then cat surveys.json.part >&2; fi # the service's message
  exit "$status"
}
mv surveys.json.part surveys.json

if command -v jq >/dev/null; then
  jq --raw-output 'map(.survey_name) | unique | .[]' surveys.json
else
  echo 'saved surveys.json'
fi
