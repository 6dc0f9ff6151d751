#!/bin/sh
# Download a file for Excel
#
# `bom=true` starts the file with a byte order mark, by which Excel recognises UTF-8. `safe=true` puts an apostrophe before answers
# that Excel would run as a formula. This changes the data (`-5` becomes `'-5`): use this file for viewing, and `responses.csv` for
# everything else.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}

curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
  --get "$api/responses/csv" --data-urlencode "survey=$SURVEY" --data bom=true --data safe=true \
  --output responses-for-excel.csv.part
mv responses-for-excel.csv.part responses-for-excel.csv
