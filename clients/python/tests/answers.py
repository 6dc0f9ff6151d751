"""Surveys of given answers, in the service's database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

import psycopg

from survey_export import Survey


@dataclass(frozen=True)
class Answer:
    """A response. A participant's answers are one record of a wide file."""

    question_ref: str
    response: str
    question_text: str = "?"
    userid: str = "0042"
    shortcode: str = "form"
    version: int = 1
    translated_response: str | None = None
    pageid: str | None = None
    ad_id: str | None = None


def create(database: psycopg.Connection[Any], answers: list[Answer]) -> str:
    """Create a survey of the test account. Forms and questions are in the order of the answers. Return its name."""
    name = f"Answers {uuid.uuid4()}"
    versions = dict.fromkeys((answer.shortcode, answer.version) for answer in answers)
    forms = {version: str(uuid.uuid4()) for version in versions}
    for second, ((shortcode, _), form) in enumerate(forms.items()):
        database.execute(
            "insert into surveys (id, userid, survey_name, shortcode, title, formid, created) select %s, id, %s, %s, "
            "'A form', '1', timestamptz '2026-01-01' + interval '1 s' * %s from users where email = 'demo@example.org'",
            (form, name, shortcode, second),
        )
    columns = (
        "parent_shortcode, shortcode, flowid, surveyid, userid, question_ref, question_idx, question_text, response, "
        "translated_response, pageid, timestamp, metadata"
    )
    with database.cursor() as cursor, cursor.copy(f"copy responses ({columns}) from stdin") as copy:
        for second, answer in enumerate(answers):
            form = forms[answer.shortcode, answer.version]
            time = datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(seconds=second)
            metadata = None if answer.ad_id is None else json.dumps({"ad_id": answer.ad_id})
            texts = [answer.question_text, answer.response, answer.translated_response, answer.pageid]
            copy.write_row(
                ["start", "unused", 1, form, answer.userid, answer.question_ref, second, *texts, time, metadata]
            )
    return name


def delete(database: psycopg.Connection[Any], name: str) -> None:
    database.execute("delete from responses using surveys where surveyid = id and survey_name = %s", (name,))
    database.execute("delete from surveys where survey_name = %s", (name,))


Create: TypeAlias = Callable[[list[Answer]], Survey]
