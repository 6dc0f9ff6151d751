#!/bin/sh
# Download a survey as CSV
#
# Saves the responses as `responses.csv` and the form versions as `form-data.csv`. If anything fails, neither file appears. The
# number of responses is compared with the service's count.
#
# To get one month, add `--data since=2026-02-01 --data until=2026-03-01` to the first `get`. `since` is inclusive and `until`
# exclusive. A date starts at midnight UTC; for another time zone write `--data-urlencode since=2026-02-01T00:00:00+03:00`.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
: "${SURVEY_KEY:?set it to your API key}" "${SURVEY:?set it to the name of a survey}"

get() { # path, file; passes further arguments to curl. Saves the response as <file>.part
  path=$1 file=$2
  shift 2
  for _ in 1 2 3 4 5 6 7 8; do
    rm -f "$file.part"
    status=0
    error=$(curl --silent --fail-with-body --write-out '%{errormsg}' --header "Authorization: Bearer $SURVEY_KEY" \
      --get "$api/$path" --output "$file.part" --dump-header "$file.headers.part" "$@") || status=$?
    if [ "$status" -eq 0 ]; then return; fi
    if [ "$status" -ne 22 ]; then break; fi # the connection failed
    message=$(sed -n 's/^{"error":{"message":"\(.*\)"}}$/\1/p' "$file.part") # the service's; a proxy's error has none
    error=${message:-$(head -n 1 "$file.headers.part" | tr -d '\r')}
    seconds=$(awk 'tolower($1) == "retry-after:" { print $2 + 0 }' "$file.headers.part")
    if [ -z "$seconds" ]; then break; fi # a busy service sends it; a wrong key or name stays wrong
    sleep "$seconds"
  done
  echo "$api/$path: $error" >&2
  exit "$status"
}

get responses/csv responses.csv --data-urlencode "survey=$SURVEY" --data count=true
get responses/form-data form-data.csv --data-urlencode "survey=$SURVEY"

# Answers can contain line breaks. A record ends at a line break that is not inside quotes.
rows=$(LC_ALL=C awk '{ quotes += gsub(/"/, "") } quotes % 2 == 0 { n++ } END { print n - 1 }' responses.csv.part)
total=$(awk 'tolower($1) == "x-total-count:" { n = $2 + 0 } END { print n }' responses.csv.headers.part)
if ! [ "$rows" -ge "$total" ]; then
  echo "responses.csv.part has $rows responses of $total" >&2
  exit 1
fi

mv responses.csv.part responses.csv
mv form-data.csv.part form-data.csv
rm responses.csv.headers.part form-data.csv.headers.part
echo "responses.csv: $rows responses"
