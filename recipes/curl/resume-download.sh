#!/bin/sh
# Go on with a download that broke off
#
# Newline-delimited JSON is the easy format for this: one response is one line, and has its `token` with it. A line that broke
# off is thrown away, and the rest asked for from the last complete line's token on. When the script itself was stopped,
# start it again: it goes on with `responses.ndjson.part`. For a CSV see the [Python recipe](#resume-a-download-python).

set -eu # stop at the first thing that goes wrong
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
part=responses.ndjson.part

ask() { # the survey as NDJSON; the arguments go to curl as well
  curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
    --get "$api/responses/ndjson" --data-urlencode "survey=$SURVEY" "$@"
}

ask --head --data count=true --output responses.headers
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers)
rm responses.headers
echo "$total responses"

touch "$part"
tries=0
while :; do
  if [ -n "$(tail -c 1 "$part")" ]; then # it does not end with the end of a line: leave the last line out
    LC_ALL=C sed '$d' "$part" >"$part.cut"
    mv "$part.cut" "$part"
  fi
  token=$(tail -n 1 "$part" | sed -n 's/.*"token":"\([^"]*\)"}$/\1/p')

  status=0
  ask ${token:+--data "after=$token"} >>"$part" || status=$?
  if [ "$status" -eq 0 ]; then break; fi

  tries=$((tries + 1))
  if [ "$status" -eq 22 ] || [ "$tries" -eq 10 ]; then exit "$status"; fi # 22: the service said no
  echo "broke off after $(wc -l <"$part") responses: going on" >&2
  sleep 2
done

rows=$(($(wc -l <"$part")))
if ! [ "$rows" -ge "$total" ]; then
  echo "$part has $rows responses of $total" >&2
  exit 1
fi
mv "$part" responses.ndjson
echo "responses.ndjson: $rows responses"
