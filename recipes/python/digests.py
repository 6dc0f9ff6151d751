# Compute the digests of a file
#
# Prints the JSON of `/responses/digests`, computed from a survey's CSV file and form data:
#
#     python3 digests.py responses.csv form-data.csv [--interval day|hour|month]
#
# If the service prints the same for the same filters and interval, the file has exactly the responses that the service has. The file
# must be as `/responses/csv` returns it, in the long layout, without `safe` or `bom`. It can have any size, and its records any order.
# `docs/sync.md` describes the computation. Requires Python's standard library alone.

import argparse
import hashlib
import json
import re
import sys

RESPONSE = [
    *["parent_surveyid", "parent_shortcode", "shortcode", "surveyid", "flowid", "userid", "question_ref"],
    *["question_idx", "question_text", "response", "timestamp", "metadata", "pageid", "translated_response"],
]
FORM_VERSION = ["surveyid", "shortcode", "survey_name", "version", "survey_created", "metadata"]
STARTS = {"day": len("2026-03-01"), "hour": len("2026-03-01T05"), "month": len("2026-03")}

# Python's csv module does not distinguish a null, which is an empty cell, from an empty text, which is "".
CELL = re.compile(rb'("[^"]*(?:""[^"]*)*"|[^",\n]*)[,\n]')


def value(cell):
    if cell.startswith(b'"'):
        return cell[1:-1].replace(b'""', b'"')
    return cell or None


def records(path, columns):
    """Yields the records of a CSV file as dictionaries of bytes, in which null is None."""
    names, lines, in_quotes = None, [], False
    with open(path, "rb") as file:
        for line in file:
            lines.append(line)
            in_quotes ^= line.count(b'"') % 2 == 1
            if in_quotes:  # the record continues on the next line
                continue
            cells = [value(cell) for cell in CELL.findall(b"".join(lines))]
            lines = []
            if names is None:
                names = [(name or b"").decode() for name in cells]
                missing = [name for name in columns if name not in names]
                if missing:
                    sys.exit(f"{path} has no column {missing[0]}.")
            elif len(cells) == len(names):
                yield dict(zip(names, cells))
            else:
                break
    if lines or names is None or len(cells) != len(names):
        sys.exit(f"{path} is incomplete, or no file of the service.")


class Digest:
    """Sums the hashes of records. Their order does not matter."""

    def __init__(self):
        self.records = self.first = self.last = 0

    def add(self, record, fields):
        values = [record[field] for field in fields]
        text = b"".join(b"~" if value is None else b"%d:%s" % (len(value), value) for value in values)
        md5 = hashlib.md5(text, usedforsecurity=False).digest()
        self.records += 1
        self.first += int.from_bytes(md5[:8], "big")
        self.last += int.from_bytes(md5[8:], "big")

    def __str__(self):
        return f"{self.first % 2**64:016x}{self.last % 2**64:016x}"


def digests(responses, form_data, interval):
    forms, shortcodes = Digest(), {}
    for version in records(form_data, FORM_VERSION):
        forms.add(version, FORM_VERSION)
        shortcodes[version["surveyid"]] = version["shortcode"]

    intervals = {}
    for response in records(responses, [field for field in RESPONSE if field != "shortcode"]):
        if response["surveyid"] not in shortcodes:
            sys.exit(f"{responses} has a response to a form version that is not in {form_data}: download both again.")
        response["shortcode"] = shortcodes[response["surveyid"]]
        start = response["timestamp"].decode()[: STARTS[interval]]
        intervals.setdefault(start, Digest()).add(response, RESPONSE)

    return {
        "version": 1,
        "interval": interval,
        "forms": str(forms),
        "digests": [
            {
                "start": start + "0000-01-01T00:00:00.000Z"[len(start) :],
                "responses": digest.records,
                "digest": str(digest),
            }
            for start, digest in sorted(intervals.items())
        ],
    }


parser = argparse.ArgumentParser(description="Prints the JSON of /responses/digests, computed from files.")
parser.add_argument("responses", help="the file of /responses/csv")
parser.add_argument("form_data", help="the file of /responses/form-data")
parser.add_argument("--interval", choices=STARTS, default="day")
arguments = parser.parse_args()
try:
    result = digests(arguments.responses, arguments.form_data, arguments.interval)
except OSError as error:
    sys.exit(f"{error.filename}: {error.strerror}")
print(json.dumps(result, separators=(",", ":")))
