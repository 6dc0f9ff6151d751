#!/bin/sh
# One row per participant
#
# Saves `participants.csv`: one row per participant and chain of forms, one column per question, with translated answers where
# there are any. Leaves out testers, whose metadata lacks a key, and participants who took a form more than once; to keep their
# last answers instead, leave out `repeats=drop`.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
key=cluster # a key of the metadata that testers lack; it also becomes the column metadata.cluster
file=participants.csv

curl --fail-with-body --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/csv" --data-urlencode "survey=$SURVEY" --data layout=wide --data value=translated \
  --data repeats=drop --data-urlencode "require_metadata=$key" --data-urlencode "metadata=$key" --output "$file.part" || {
  status=$?
  if [ "$status" -eq 22 ]; then cat "$file.part" >&2; fi # the service's message
  exit "$status"
}
mv "$file.part" "$file"
