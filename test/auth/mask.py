"""Make the database that a limited key sees, as docs/keys.md describes it, without the service's code and without SQL.

    python3 mask.py FOLDER SEED

FOLDER has limits.json, and in real/ what COPY ... TO STDOUT (HEADER) writes of an account's tables. Writes masked/, and
varied/: a random database that differs from the real one only in what is hidden.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

Row = dict[str, Any]  # texts, or None for null
Tables = dict[str, list[Row]]

TABLES = ("surveys", "survey_settings", "responses")
KEY = ("surveyid", "timestamp", "userid", "question_ref")
NULL = "\\N"
ESCAPES = {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
UNESCAPED = {escape[1]: char for char, escape in ESCAPES.items()}
ODD_METADATA = (None, "null", "[1]", '"m"', "7")


class Limits:
    def __init__(self, limits: Row) -> None:
        self._limits = limits

    def _allows(self, member: str, name: str) -> bool:
        return member not in self._limits or name in self._limits[member]

    def sees_form(self, form: Row) -> bool:
        return self._allows("surveys", form["survey_name"]) and self._allows("shortcodes", form["shortcode"])

    def sees_question(self, response: Row) -> bool:
        name = response["question_ref"]
        return self._allows("questions", name) and name not in self._limits.get("without_questions", [])

    def sees_key(self, name: str) -> bool:
        return self._allows("metadata", name) and not (self.hides_pageid and name == "pageid")

    @property
    def hides_pageid(self) -> bool:
        return "pageid" in self._limits

    @property
    def hides_metadata(self) -> bool:
        return self.hides_pageid or "metadata" in self._limits

    def userid(self, userid: str) -> str:
        if "secret" not in self._limits:
            return userid
        secret = bytes.fromhex(self._limits["secret"])
        return "p" + hmac.new(secret, userid.encode(), hashlib.sha256).hexdigest()[:32]

    def metadata(self, text: str | None) -> str | None:
        if text is None or not self.hides_metadata:
            return text
        if not text.startswith("{"):
            return None
        return "{" + ", ".join(member for name, member in members(text) if self.sees_key(name)) + "}"

    def response(self, row: Row) -> Row:
        pageid = None if self.hides_pageid else row["pageid"]
        return row | {
            "userid": self.userid(row["userid"]),
            "metadata": self.metadata(row["metadata"]),
            "pageid": pageid,
        }

    def mask(self, tables: Tables) -> Tables:
        forms = [form for form in tables["surveys"] if self.sees_form(form)]
        ids = {form["id"] for form in forms}
        return {
            "surveys": forms,
            "survey_settings": [row for row in tables["survey_settings"] if row["surveyid"] in ids],
            "responses": [
                self.response(row) for row in tables["responses"] if row["surveyid"] in ids and self.sees_question(row)
            ],
        }

    def vary(self, tables: Tables, random: Random) -> Tables:
        """Delete, change and add what is hidden."""
        surveys, responses = tables["surveys"], tables["responses"]

        def changed(row: Row, of: list[Row], *names: str) -> Row:
            return {**row, **{name: random.choice(of)[name] for name in names}}

        def other_form(form: Row) -> Row:
            return {**changed(form, surveys, "survey_name", "shortcode", "created", "metadata"), "title": "another"}

        forms = {form["id"]: form for form in surveys if self.sees_form(form) or random.random() < 0.8}
        added = [{**form, "id": str(uuid.UUID(int=random.getrandbits(128), version=4))} for form in surveys]
        for form in [form for form in forms.values() if not self.sees_form(form)] + added:
            other = other_form(form)
            if not self.sees_form(other):
                forms[form["id"]] = other

        def sees(row: Row) -> bool:
            return self.sees_form(forms[row["surveyid"]]) and self.sees_question(row)

        ids = [{"surveyid": id} for id in forms]
        stored = [row for row in responses if row["surveyid"] in forms]
        hidden = [row for row in stored if not sees(row) and random.random() < 0.8]
        for row in random.choices(stored, k=300 if stored else 0):
            other = changed(row, stored, "timestamp", "question_ref", "response", "flowid", "metadata", "pageid")
            other["userid"] = random.choice([row["userid"], "a ghost", "p" + 32 * "0"])
            other = changed(other, ids, "surveyid")
            hidden += [] if sees(other) else [other]
        visible = [self._vary_cells(row, random) for row in stored if sees(row)]
        settings = [row for row in tables["survey_settings"] if row["surveyid"] in forms]
        unique = {tuple(row[name] for name in KEY): row for row in hidden + visible}
        return {"surveys": [*forms.values()], "survey_settings": settings, "responses": [*unique.values()]}

    def _vary_cells(self, row: Row, random: Random) -> Row:
        text = row["metadata"]
        if self.hides_metadata and text is not None and text.startswith("{"):
            kept = {name: member for name, member in members(text) if self.sees_key(name) or random.random() < 0.5}
            hidden = [name for name in ("pageid", "ad_id", "m", "seed", "phone") if not self.sees_key(name)]
            text = "{" + ", ".join([*kept.values(), *(f'"{name}": {random.random()}' for name in hidden[:2])]) + "}"
        elif self.hides_metadata and random.random() < 0.5:
            text = random.choice(ODD_METADATA)
        pageid = random.choice([None, "", "another"]) if self.hides_pageid else row["pageid"]
        return {**row, "metadata": text, "pageid": pageid, "shortcode": "another", "seed": "7"}


def members(text: str) -> Iterator[tuple[str, str]]:
    """Yield the members of an object as jsonb prints them, with all digits of their numbers."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    start = 1
    while text[start] != "}":
        name, end = decoder.raw_decode(text, start)
        _, end = decoder.raw_decode(text, end + len(": "))
        yield name, text[start:end]
        start = end + len(", ") if text[end] == "," else end


def read(file: Path) -> list[Row]:
    with file.open(encoding="utf-8", newline="\n") as lines:
        names, *rows = (line[:-1].split("\t") for line in lines)
    return [{name: decoded(cell) for name, cell in zip(names, row, strict=True)} for row in rows]


def decoded(cell: str) -> str | None:
    return None if cell == NULL else re.sub(r"\\(.)", lambda match: UNESCAPED[match[1]], cell)


def write(file: Path, names: list[str], rows: list[Row]) -> None:
    encoded = str.maketrans(ESCAPES)
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        for row in [dict(zip(names, names, strict=True)), *rows]:
            lines.write("\t".join(NULL if row[name] is None else row[name].translate(encoded) for name in names) + "\n")


def unordered(tables: Tables) -> dict[str, list[str]]:
    # In a varied copy, what the service does not read of a response may differ.
    return {
        table: sorted(json.dumps({**row, "shortcode": "", "seed": ""} if table == "responses" else row) for row in rows)
        for table, rows in tables.items()
    }


def main() -> None:
    folder, random = Path(sys.argv[1]), Random(int(sys.argv[2]))
    limits = Limits(json.loads((folder / "limits.json").read_text(encoding="utf-8")))
    tables = {table: read(folder / "real" / table) for table in TABLES}
    masked, varied = limits.mask(tables), limits.vary(tables, random)
    if unordered(limits.mask(varied)) != unordered(masked):
        raise SystemExit("the varied database differs in what is visible")
    for name, result in (("masked", masked), ("varied", varied)):
        (folder / name).mkdir(exist_ok=True)
        for table, rows in result.items():
            names = (folder / "real" / table).open(encoding="utf-8", newline="\n").readline()[:-1].split("\t")
            write(folder / name / table, names, rows)


main()
