#!/bin/sh
# List the questions and count responses per day
#
# Saves `codebook.csv`, with every question, its text and the number of its responses and participants, and `summary.json`, with
# the number of responses and participants per day.

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
  mv "$file.part" "$file"
}

get responses/questions codebook.csv --data format=csv
get responses/summary summary.json --data timezone=Africa/Nairobi # days begin at midnight there
