#!/bin/sh
# Download a workbook
#
# Saves `responses.xlsx`, for Excel (not tested) and LibreOffice: every cell is text, so ids keep all their digits and no answer
# runs as a formula. It can have up to 1,048,575 rows with cells of up to 32,767 characters; the service refuses more.
#
# For one row per participant, add `--data layout=wide`, and the other parameters of
# [that recipe](#one-row-per-participant-curl).

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
file=responses.xlsx

curl --fail-with-body --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/xlsx" --data-urlencode "survey=$SURVEY" --output "$file.part" || {
  status=$?
  if [ "$status" -eq 22 ]; then cat "$file.part" >&2; fi # the service's message
  exit "$status"
}
mv "$file.part" "$file"
