"""The service's JSON as dataclasses. Timestamps are texts, as the service writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from ._errors import ServiceError, TransferError


@dataclass(frozen=True)
class Key:
    """A key: its account, when it expires (None: never), and what it sees.

    `limits` are those of `/key`, with sorted lists, such as `{"v": 1, "surveys": ["Health"]}`, or
    None if the key sees everything of its account.
    """

    email: str
    expires: str | None
    limits: dict[str, Any] | None = None


@dataclass(frozen=True)
class FormVersion:
    """One version of a form. `id` is the `surveyid` of its responses."""

    id: str
    survey_name: str
    shortcode: str
    title: str
    formid: str
    created: str
    metadata: dict[str, Any]
    translation_conf: dict[str, Any]
    off_time: str | None
    timeouts: Any


@dataclass(frozen=True)
class Form:
    """A form with its versions, oldest first."""

    shortcode: str
    versions: tuple[FormVersion, ...]


@dataclass(frozen=True)
class SurveyInfo:
    """A survey with its forms, ordered by shortcode."""

    name: str
    forms: tuple[Form, ...]


@dataclass(frozen=True)
class Choice:
    """A choice that a question's text lists: a capital letter and its label."""

    value: str
    label: str


@dataclass(frozen=True)
class Question:
    """An entry of the codebook. `choices` is None if the question's text lists none."""

    column: str
    shortcode: str
    question_ref: str
    question_idx: str
    question_text: str
    responses: int
    participants: int
    first: str
    last: str
    choices: tuple[Choice, ...] | None


@dataclass(frozen=True)
class Day:
    """The numbers of one day."""

    day: str
    responses: int
    participants: int


@dataclass(frozen=True)
class FormCount:
    """The numbers of one form."""

    shortcode: str
    responses: int
    participants: int


@dataclass(frozen=True)
class LeftOut:
    """The number of participants that a parameter leaves out, and the first 100 of them.

    `rule` is the parameter, and `name` its value, None for `repeats`.
    """

    rule: str
    name: str | None
    participants: int
    userids: tuple[str, ...]


@dataclass(frozen=True)
class Stop:
    """The number of participants whose last response is to a question."""

    shortcode: str
    question_ref: str
    participants: int


@dataclass(frozen=True)
class Summary:
    """The numbers of a survey: in total, per day with responses, and per form.

    They are those of the participants that a wide file with the same parameters has; `left_out` is
    the number of the others. A participant can be in several entries of `left_out_by`. `stops` has
    an entry for each question with `stops=True`, and none without.
    """

    responses: int
    participants: int
    first: str | None
    last: str | None
    days: tuple[Day, ...]
    left_out: int
    forms: tuple[FormCount, ...]
    left_out_by: tuple[LeftOut, ...]
    stops: tuple[Stop, ...]


@dataclass(frozen=True)
class Changes:
    """What a run of `mirror` changed: the intervals' starts, as `/responses/digests` has them."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A response that was inserted, updated or deleted since the changes were last confirmed.

    Attributes:
        kind: "inserted", "updated" or "deleted".
        key: the values of `PRIMARY_KEY` in the row.
        row: the response, with the columns of a CSV file, as texts and None; if it was deleted, as
            it was before.
    """

    kind: str
    key: tuple[str, ...]
    row: dict[str, str | None]


MOST_VALUES = 1 << 21
"""How many commas and brackets are parsed: a value takes up to 100 times the memory of its text."""


def loads(text: bytes) -> Any:
    """Parse JSON. Python's `int` parses at most 4,300 digits.

    Raises TransferError if it is no JSON, or not all of it.
    """
    if sum(map(text.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise ServiceError("the service returned more values than it ever has")
    try:
        return json.loads(
            text, parse_int=lambda digits: int(digits) if len(digits) < 4300 else Decimal(digits)
        )
    except (ValueError, RecursionError):
        raise TransferError("what was received is no JSON, or nested too deep") from None


T = TypeVar("T")


def from_json(kind: type[T], entry: Mapping[str, Any]) -> T:
    """Return the dataclass that has an entry's fields, but not those that it does not know."""
    return kind(**{name: entry[name] for name in kind.__annotations__})


def key(body: dict[str, Any]) -> Key:
    """Return the key of the body of `/key`."""
    limits = body["limits"]
    for limit in (limits or {}).values():
        if isinstance(limit, list):
            limit.sort()
    return Key(body["email"], body["expires"], limits)


def surveys(entries: list[Any]) -> list[SurveyInfo]:
    """Return the surveys of the body of `/surveys`."""
    versions = [from_json(FormVersion, entry) for entry in entries]
    name, shortcode = attrgetter("survey_name"), attrgetter("shortcode")
    versions.sort(key=lambda each: (name(each), shortcode(each), each.created[:-1], each.id))
    return [
        SurveyInfo(
            survey, tuple(Form(form, tuple(each)) for form, each in groupby(of_survey, shortcode))
        )
        for survey, of_survey in groupby(versions, name)
    ]


def codebook(body: dict[str, Any]) -> list[Question]:
    """Return the questions of the body of `/responses/questions`."""
    for entry in body["questions"]:
        if entry["choices"] is not None:
            entry["choices"] = tuple(from_json(Choice, choice) for choice in entry["choices"])
    return [from_json(Question, entry) for entry in body["questions"]]


def summary(body: dict[str, Any]) -> Summary:
    """Return the numbers of the body of `/responses/summary`."""
    for entry in body.get("left_out_by", ()):
        entry["userids"] = tuple(entry["userids"])
    kinds = {"days": Day, "forms": FormCount, "left_out_by": LeftOut, "stops": Stop}
    for name, kind in kinds.items():
        body[name] = tuple(from_json(kind, entry) for entry in body.get(name, ()))
    return from_json(Summary, body)
