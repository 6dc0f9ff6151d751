#!/bin/sh
# Download a survey as NDJSON, and resume if the transfer breaks off
#
# Each line is a response and ends in its `token`. The script drops an incomplete last line and requests what follows the token of
# the last complete line. Stop it and start it again in the same folder: it continues `responses.ndjson.part`. Use one folder for
# each survey.

set -eu # stop at the first error
url=${SURVEY_EXPORT_URL:-${SURVEY_API:-http://127.0.0.1:8787}} # SURVEY_API and SURVEY_KEY are earlier names
url=${url%/}
api=${url%/api/v1}/api/v1
: "${SURVEY_EXPORT_KEY:=${SURVEY_KEY-}}"
: "${SURVEY_EXPORT_KEY:?set it to your API key}" "${SURVEY:?set it to the name of a survey}"
part=responses.ndjson.part headers=responses.headers.part
header() { awk -v name="$1:" 'tolower($1) == name { n = $2 + 0 } END { print n }' "$headers"; }

touch "$part"
for _ in 1 2 3 4 5 6 7 8 9 10; do
  if [ -n "$(tail -c 1 "$part")" ]; then # the last line is incomplete
    LC_ALL=C sed '$d' "$part" >"$part.cut"
    mv "$part.cut" "$part"
  fi
  rows=$(($(wc -l <"$part")))
  token=$(tail -n 1 "$part" | sed -n 's/.*"token":"\([^"]*\)"}$/\1/p')
  status=0
  : >"$headers"
  curl --silent --show-error --fail --header "Authorization: Bearer $SURVEY_EXPORT_KEY" --get "$api/responses/ndjson" \
    --data-urlencode "survey=$SURVEY" --data count=true ${token:+--data "after=$token"} --dump-header "$headers" >>"$part" || status=$?
  if [ "$status" -eq 0 ]; then break; fi
  seconds=1
  if [ "$status" -eq 22 ]; then # an error response: only a busy service says how long to wait
    seconds=$(header retry-after)
    if [ -z "$seconds" ]; then
      grep -i '^x-error-code' "$headers" >&2
      exit 22
    fi
  fi
  sleep "$seconds"
done
if [ "$status" -ne 0 ]; then exit "$status"; fi

total=$((rows + $(header x-total-count))) # the count is of the responses after the token
if ! [ "$(($(wc -l <"$part")))" -ge "$total" ]; then
  echo "$part has not all $total responses: start the script again" >&2
  exit 1
fi
mv "$part" responses.ndjson
rm "$headers"
