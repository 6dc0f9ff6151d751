#!/bin/sh
# Resume a download
#
# Newline-delimited JSON makes this easy: each response is one line and includes its `token`. The script drops an incomplete last
# line and requests the rest, starting after the token of the last complete line. If the script itself was stopped, start it again:
# it continues `responses.ndjson.part`. For CSV, see the [Python recipe](#resume-a-download-python).

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
part=responses.ndjson.part

get() { # the survey as NDJSON; passes its arguments to curl
  curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
    --get "$api/responses/ndjson" --data-urlencode "survey=$SURVEY" "$@"
}

get --head --data count=true --output responses.headers
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers)
rm responses.headers
echo "$total responses"

touch "$part"
tries=0
while :; do
  if [ -n "$(tail -c 1 "$part")" ]; then # the last line is incomplete: remove it
    LC_ALL=C sed '$d' "$part" >"$part.cut"
    mv "$part.cut" "$part"
  fi
  token=$(tail -n 1 "$part" | sed -n 's/.*"token":"\([^"]*\)"}$/\1/p')

  status=0
  get ${token:+--data "after=$token"} >>"$part" || status=$?
  if [ "$status" -eq 0 ]; then break; fi

  tries=$((tries + 1))
  if [ "$status" -eq 22 ] || [ "$tries" -eq 10 ]; then exit "$status"; fi # 22: an error response
  echo "interrupted after $(wc -l <"$part") responses: resuming" >&2
  sleep 2
done

rows=$(($(wc -l <"$part")))
if ! [ "$rows" -ge "$total" ]; then
  echo "$part has $rows responses of $total" >&2
  exit 1
fi
mv "$part" responses.ndjson
echo "responses.ndjson: $rows responses"
