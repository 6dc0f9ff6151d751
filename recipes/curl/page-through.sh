#!/bin/sh
# Read page by page
#
# Saves each page as a file in the folder `pages`. The `token` of a page's last response requests the next page; the page after the
# last response is empty. Pages suit programs that need a few responses quickly. To get a whole survey, one file is faster.

set -eu # stop at the first error
api=${SURVEY_API:-http://127.0.0.1:8787/api/v1}
if [ -e pages ]; then
  echo 'the folder pages already exists: move it first' >&2
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
  # The token is at the end of the page: {"responses":[{…},{…,"token":"…"}]}
  token=$(sed -n 's/.*"token":"\([^"]*\)"}]}$/\1/p' "$page")
  if [ -z "$token" ]; then break; fi
  number=$((number + 1))
done

[ "$(cat "$page")" = '{"responses":[]}' ] # anything else is not the empty page
rm "$page"
mv pages.part pages
echo "pages: $((number - 1)) files"
