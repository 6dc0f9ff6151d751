#!/bin/sh
# Resume a download
#
# Newline-delimited JSON makes this easy: each response is one line and includes its `token`. The script drops an incomplete last
# line and requests the rest, starting after the token of the last complete line. If the script itself was stopped, start it again:
# it continues `responses.ndjson.part`, so use one folder for each survey. For CSV, use `resume_download.py`.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
: "${SURVEY_KEY:?set it to your API key}" "${SURVEY:?set it to the name of a survey}"
part=responses.ndjson.part
headers=responses.headers.part

get() { # the survey as NDJSON; passes its arguments to curl
  curl --silent --header "Authorization: Bearer $SURVEY_KEY" --get "$api/responses/ndjson" \
    --data-urlencode "survey=$SURVEY" --data count=true --dump-header "$headers" "$@"
}
header() { # a name in lower case
  awk -v name="$1:" 'tolower($1) == name { n = $2 + 0 } END { print n }' "$headers"
}

touch "$part"
rm -f "$headers"
tries=0
while :; do
  if [ -n "$(tail -c 1 "$part")" ]; then # the last line is incomplete: remove it
    LC_ALL=C sed '$d' "$part" >"$part.cut"
    mv "$part.cut" "$part"
  fi
  token=$(tail -n 1 "$part" | sed -n 's/.*"token":"\([^"]*\)"}$/\1/p')
  have=$(($(wc -l <"$part")))

  status=0
  error=$(get --fail --write-out '%{stderr}%{errormsg}' ${token:+--data "after=$token"} 2>&1 >>"$part") || status=$?
  if [ "$status" -eq 0 ]; then break; fi
  seconds=2
  if [ "$status" -eq 22 ]; then seconds=$(header retry-after); fi # an error response; only a busy service sends that header
  if [ -z "$seconds" ]; then # request the service's message, which must not get into the file
    message=$(get ${token:+--data "after=$token"} | sed -n 's/^{"error":{"message":"\(.*\)"}}$/\1/p; q')
    error=${message:-$(head -n 1 "$headers" | tr -d '\r')}
  fi

  tries=$((tries + 1))
  # If the first request gets no response, the address is wrong.
  if [ -z "$seconds" ] || [ "$tries" -eq 10 ] || ! [ -s "$headers" ]; then
    echo "$api/responses/ndjson: $error" >&2
    exit "$status"
  fi
  echo "interrupted after $(($(wc -l <"$part"))) responses ($error): resuming" >&2
  sleep "$seconds"
done

rows=$(($(wc -l <"$part")))
total=$((have + $(header x-total-count)))
if ! [ "$rows" -ge "$total" ]; then
  echo "$part has $rows responses of $total" >&2
  exit 1
fi
mv "$part" responses.ndjson
rm "$headers"
echo "responses.ndjson: $rows responses"
