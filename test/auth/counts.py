"""Hold what a service counts against its files, without the service's code and without SQL.

    SURVEY_EXPORT_KEY=... python3 counts.py ORIGIN SEED REQUESTS SURVEY...

Sends random requests to /responses/answers and /responses/summary?stops=true, and computes each response from the wide file
with the same parameters, and from the long file. Stops at the first difference.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from fractions import Fraction
from math import floor
from random import Random
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

Cell = str | None
Parameters = dict[str, Any]  # texts, or lists of texts

FIXED = 8  # userid ... metadata
LEFT_OUT = ("repeats", "require_metadata", "require_question")
METADATA = ("m", "group", "group", "none", "pageid")
ARMS = ("seed_2", "seed_2_1", "seed_7_10", "seed_1000000_3")


def get(path: str, parameters: Parameters) -> tuple[int, str]:
    request = Request(f"{sys.argv[1]}/api/v1{path}?{urlencode(parameters, doseq=True)}")
    request.add_header("Authorization", f"Bearer {os.environ['SURVEY_EXPORT_KEY']}")
    try:
        with urlopen(request) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def cells_of(text: str) -> list[list[Cell]]:
    """Read CSV, in which a null is an empty cell, and an empty text is quoted."""
    rows: list[list[Cell]] = [[]]
    for cell in re.finditer(r'(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])', text):
        quoted, plain, end = cell.groups()
        rows[-1].append(plain or None if quoted is None else quoted.replace('""', '"'))
        if end == "\n":
            rows.append([])
    return rows[:-1]


def file(path: str, parameters: Parameters) -> tuple[list[str], list[list[Cell]]]:
    status, text = get(path, parameters)
    if status != 200:
        raise SystemExit(f"{path} {parameters}: {status} {text}")
    header, *rows = cells_of(text)
    return [name or "" for name in header], rows


class Survey:
    """The long files of a survey, and the wide ones."""

    def __init__(self, name: str) -> None:
        self.name = name
        forms = self.dicts("/responses/form-data", {})
        created = lambda form: form["survey_created"].rstrip("Z").ljust(26, "0")  # noqa: E731
        forms.sort(key=lambda form: (created(form), form["surveyid"]))
        self.shortcodes = {form["surveyid"]: form["shortcode"] for form in forms}
        self.rows = self.long({})
        self.columns = {
            columns: self.file("/responses/csv", {"columns": columns, "layout": "wide"})[0][FIXED:]
            for columns in ("form_question", "question")
        }

    def file(self, path: str, parameters: Parameters) -> tuple[list[str], list[list[Cell]]]:
        return file(path, {**parameters, "survey": self.name, "missing": "404"})

    def dicts(self, path: str, parameters: Parameters) -> list[dict[str, Any]]:
        header, rows = self.file(path, parameters)
        return [dict(zip(header, row, strict=True)) for row in rows]

    def long(self, filters: Parameters) -> list[dict[str, Any]]:
        rows = self.dicts("/responses/csv", filters)
        return [{**row, "shortcode": self.shortcodes[row["surveyid"]]} for row in rows]

    def questions(self, rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
        """Return the forms and questions in the order of the columns."""
        order = [*dict.fromkeys(self.shortcodes.values())]
        first: dict[tuple[str, str], int] = {}
        for row in rows:
            question, index = (row["shortcode"], row["question_ref"] or ""), int(row["question_idx"])
            first[question] = min(index, first.get(question, index))
        return sorted(first, key=lambda one: (order.index(one[0]), first[one], one[1].encode()))


def plain(number: Fraction) -> str:
    places = places_of(number)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    whole = digits[: len(digits) - places]
    return ("-" if number < 0 else "") + whole + ("." + digits[-places:] if places else "")


def places_of(number: Fraction) -> int:
    return next(places for places in range(99) if number * 10**places % 1 == 0)


def numbers_of(cells: list[str]) -> Any:
    texts = [text for text in cells if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", text)]
    values = sorted(Fraction(text) for text in texts if len(re.sub("[.-]", "", text)) <= 15)
    if not values:
        return None

    def quartile(quarter: int) -> Fraction:
        place = Fraction(quarter, 4) * (len(values) - 1)
        low, high = values[floor(place)], values[-floor(-place)]
        return low + (high - low) * (place - floor(place))

    least, most = values[0], values[-1]
    unit = Fraction(1, 10 ** max(map(places_of, values)))
    steps = (digit * Fraction(10) ** power for power in range(-20, 20) for digit in (1, 2, 5))
    step = next(one for one in steps if one >= unit and floor(most / one) - floor(least / one) < 20)
    bins = [(plain(least), len(values))]
    if least < most:
        counts = Counter(floor(value / step) for value in values)
        bins = [(plain(i * step), counts[i]) for i in range(floor(least / step), floor(most / step) + 1)]
    return [
        ("records", len(values)),
        ("min", plain(least)),
        *((name, plain(quartile(i + 1))) for i, name in enumerate(("q1", "median", "q3"))),
        ("max", plain(most)),
        ("sum", plain(sum(values, Fraction()))),
        ("step", plain(step) if least < most else None),
        ("bins", [[("from", start), ("records", count)] for start, count in bins]),
    ]


def ranked(cells: list[Cell]) -> list[tuple[str, int]]:
    counts = Counter(cell for cell in cells if cell is not None)
    return sorted(counts.items(), key=lambda one: (-one[1], one[0].encode()))


def cut(text: str) -> str:
    return text if len(text) <= 1000 else text[:1000] + "…"


def answers_of(survey: Survey, filters: Parameters, wide: Parameters, counted: Parameters) -> Any:
    """Return what the service must count: a status for an error, rows of CSV, or JSON as pairs."""
    by = counted.get("by")
    prefix, _, name = (by or "").partition(".")
    added = {prefix: name} if prefix in ("metadata", "arm") else {}
    header, records = survey.file("/responses/csv", {**filters, **wide, **added, "layout": "wide"})
    columns = header[FIXED + len(added) :]
    known = {*columns, *survey.columns[wide.get("columns", "form_question")]}
    if survey.rows and not {*counted.get("column", []), *([] if added or by is None else [by])} <= known:
        return 400

    group = header.index(by) if by in header[FIXED:] else None
    groups = ranked([record[group] for record in records if group is not None])
    positions = {value: position for position, (value, _) in enumerate(groups[:20])}

    def spread(members: list[list[Cell]]) -> list[int]:
        """Count records in each group, and in none of them."""
        counts = Counter(positions.get(record[group]) if group is not None else None for record in members)
        return [counts[position] for position in [*positions.values(), None]]

    long = survey.long(filters)
    questions = survey.questions(long)
    if wide.get("columns") == "question":
        unique: dict[str, tuple[str, str]] = {}
        for question in questions:
            unique.setdefault(question[1], question)
        questions = [*unique.values()]

    csv: list[list[Cell]] = []
    listed: list[Any] = []
    for i, (column, (shortcode, ref)) in enumerate(zip(columns, questions, strict=True)):
        if "column" in counted and column not in counted["column"]:
            continue
        at = FIXED + len(added) + i
        answered = [record for record in records if record[at] is not None]
        values = ranked([record[at] for record in answered])
        top = [value for value, _ in values[: counted.get("top", 20)]]
        having = [(cut(value), [record for record in answered if record[at] == value]) for value in top]
        others = [record for record in answered if record[at] not in top]
        for value, some in [*having, (None, others)]:
            rows = zip([*(cut(value) for value in positions), None], spread(some), strict=True)
            rows = [([name], count) for name, count in rows] if by is not None else [([], len(some))]
            csv += [[column, shortcode, ref, value, *name, str(count)] for name, count in rows if count > 0]
        in_groups = lambda some: [("groups", spread(some)[:-1])] if by is not None else []  # noqa: E731
        numbers = [("numbers", numbers_of([record[at] or "" for record in answered]))] if "numbers" in counted else []
        listed.append(
            [
                ("column", column),
                ("shortcode", shortcode),
                ("question_ref", ref),
                ("records", len(answered)),
                ("distinct", len(values)),
                ("values", [[("value", value), ("records", len(some)), *in_groups(some)] for value, some in having]),
                ("other", len(others)),
                *numbers,
                *in_groups(answered),
            ]
        )
    if counted.get("format") == "csv":
        return [["column", "shortcode", "question_ref", "value", *([] if by is None else ["group"]), "records"], *csv]
    left_out = len({row["userid"] for row in long} - {record[0] for record in records})
    grouping = [
        ("by", by),
        ("groups", [[("value", cut(value)), ("records", count)] for value, count in groups[:20]]),
        ("ungrouped", len(records) - sum(count for _, count in groups)),
        ("other_groups", sum(count for _, count in groups[20:])),
    ]
    return [("records", len(records)), ("left_out", left_out), *([] if by is None else grouping), ("questions", listed)]


def stops_of(survey: Survey, filters: Parameters, leaving: Parameters) -> Any:
    rows = survey.long(filters)
    kept = {record[0] for record in survey.file("/responses/csv", {**filters, **leaving, "layout": "wide"})[1]}
    first: dict[Any, str] = {}
    last: dict[Cell, tuple[str, str]] = {}
    for row in rows:
        record = (row["userid"], row["parent_surveyid"], row["parent_shortcode"], row["shortcode"])
        flow = first.setdefault(record, row["flowid"])
        if row["userid"] in kept and (leaving.get("repeats") != "first" or row["flowid"] == flow):
            last[row["userid"]] = (row["shortcode"], row["question_ref"] or "")
    counts = Counter(last.values())
    names = ("shortcode", "question_ref", "participants")
    entries = [(*question, counts[question]) for question in survey.questions(rows)]
    return len(kept), [[*zip(names, entry, strict=True)] for entry in entries]


def some(random: Random, names: list[str]) -> list[str]:
    return [*{name: 0 for name in random.choices(names, k=random.randint(1, 3))}]


def random_request(random: Random, survey: Survey) -> tuple[Parameters, Parameters, Parameters]:
    given: list[Parameters] = [{}, {}, {}]

    def maybe(part: int, name: str, chance: float, value: Any) -> None:
        if random.random() < chance:
            given[part][name] = value

    rows = survey.rows or [{"timestamp": "2026-03-01", "question_ref": "q", "shortcode": "f", "userid": "u"}]
    if random.random() < 0.3:
        maybe(0, "since", 0.3, random.choice(rows)["timestamp"])
        maybe(0, "until", 0.3, random.choice(rows)["timestamp"])
        for name in ("question_ref", "shortcode", "userid"):
            maybe(0, name, 0.3, some(random, [row[name] or "" for row in rows]))
    maybe(1, "value", 0.5, random.choice(["response", "translated", "translated_label", "label"]))
    maybe(1, "repeats", 0.5, random.choice(["last", "first", "drop"]))
    maybe(1, "columns", 0.4, random.choice(["form_question", "question"]))
    maybe(1, "require_metadata", 0.1, some(random, ["m", "group"]))
    maybe(1, "require_question", 0.1, some(random, [row["question_ref"] or "" for row in rows]))
    names = [*survey.columns[given[1].get("columns", "form_question")], "none"]
    added = [*(f"metadata.{key}" for key in METADATA), *(f"arm.{name}" for name in ARMS)]
    maybe(2, "by", 0.8, random.choice(random.choice([names, added])))
    maybe(2, "column", 0.25, some(random, names))
    maybe(2, "top", 0.6, random.choice([1, 2, 3, 1000]))
    maybe(2, *random.choice([("numbers", 0.8, "true"), ("format", 0.8, "csv")]))
    return given[0], given[1], given[2]


def main() -> None:
    random = Random(int(sys.argv[2]))
    surveys = [Survey(name) for name in sys.argv[4:]]
    counts: Counter[str] = Counter()
    for _ in range(int(sys.argv[3])):
        survey = random.choice(surveys)
        filters, wide, counted = random_request(random, survey)
        parameters = {**filters, **wide, **counted, "survey": survey.name, "missing": "404"}
        expected = answers_of(survey, filters, wide, counted)
        status, text = get("/responses/answers", parameters)
        found: Any = status
        if status == 200:
            is_csv = counted.get("format") == "csv"
            found = cells_of(text) if is_csv else json.loads(text, object_pairs_hook=list)
        if expected != found:
            raise SystemExit(f"{parameters}\nexpected {expected}\nfound    {found}\n{text[:300]}")
        counts.update([f"{status}", *counted, *(["grouped"] if '"groups":[{' in text else [])])

        leaving = {name: value for name, value in wide.items() if name in LEFT_OUT}
        status, text = get("/responses/summary", {**filters, **leaving, "stops": "true", "survey": survey.name, "missing": "404"})
        members = json.loads(text, object_pairs_hook=list)
        expected = stops_of(survey, filters, leaving)
        if status != 200 or members[-1] != ("stops", expected[1]) or ("participants", expected[0]) not in members:
            raise SystemExit(f"{filters} {leaving}\nexpected {expected}\nfound    {text}")
        if sum(entry[-1][1] for entry in expected[1]) != expected[0]:
            raise SystemExit(f"{filters} {leaving}: the stops do not add up to the participants")
    print(json.dumps(counts))


main()
