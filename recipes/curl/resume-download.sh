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
  curl --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
    --get "$api/responses/ndjson" --data-urlencode "survey=$SURVEY" --data count=true --dump-header responses.headers "$@"
}

touch "$part"
tries=0
while :; do
  if [ -n "$(tail -c 1 "$part")" ]; then # the last line is incomplete: remove it
    LC_ALL=C sed '$d' "$part" >"$part.cut"
    mv "$part.cut" "$part"
  fi
  token=$(tail -n 1 "$part" | sed -n 's/.*"token":"\([^"]*\)"}$/\1/p')
  have=$(($(wc -l <"$part")))

  status=0
  get --fail ${token:+--data "after=$token"} >>"$part" || status=$?
  if [ "$status" -eq 0 ]; then break; fi
  if [ "$status" -eq 22 ]; then # an error response: show the service's message, which must not get into the file
    get --fail-with-body --retry 0 ${token:+--data "after=$token"} | head -c 1000 >&2
    exit 22
  fi

  tries=$((tries + 1))
  if [ "$tries" -eq 10 ]; then exit "$status"; fi
  echo "interrupted after $(wc -l <"$part") responses: resuming" >&2
  sleep 2
done

rows=$(($(wc -l <"$part")))
total=$((have + $(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.headers)))
if ! [ "$rows" -ge "$total" ]; then
  echo "$part has $rows responses of $total" >&2
  exit 1
fi
mv "$part" responses.ndjson
rm responses.headers
echo "responses.ndjson: $rows responses"
