#!/bin/sh
# Read page by page
#
# Each page goes into a file of its own in the folder `pages`. The last response of a page has the `token` to ask for the next
# page with; behind the last response there is an empty page. Pages are for programs that want some responses now. All of a
# survey comes faster as one file.

set -eu # stop at the first thing that goes wrong
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
if [ -e pages ]; then
  echo 'there is a folder named pages already: move it away first' >&2
  exit 1
fi

rm -rf pages.part
mkdir pages.part
number=1
token=
while :; do
  page=$(printf 'pages.part/%06d.json' "$number")
  curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $SURVEY_KEY" \
    --get "$api/responses" --data-urlencode "survey=$SURVEY" --data pageSize=1000 ${token:+--data "after=$token"} \
    --output "$page"
  # The token is the last thing on the page: {"responses":[{…},{…,"token":"…"}]}
  token=$(sed -n 's/.*"token":"\([^"]*\)"}]}$/\1/p' "$page")
  if [ -z "$token" ]; then break; fi
  number=$((number + 1))
done

[ "$(cat "$page")" = '{"responses":[]}' ] # or else that was not the empty page, but something else
rm "$page"
mv pages.part pages
echo "pages: $((number - 1)) files"
