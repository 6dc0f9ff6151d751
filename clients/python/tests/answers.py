"""Surveys of given answers, in the service's database."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
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


def create(database: psycopg.Connection[Any], answers: list[Answer]) -> str:
    """Create a survey of the test account. Forms and questions are in the order of the answers. Return its name."""
    name = f"Answers {uuid.uuid4()}"
    forms: dict[tuple[str, int], str] = {}
    for second, answer in enumerate(answers):
        form = (answer.shortcode, answer.version)
        if form not in forms:
            forms[form] = str(uuid.uuid4())
            database.execute(
                """
                insert into surveys (id, userid, survey_name, shortcode, title, formid, created)
                select %s, id, %s, %s, 'A form', '1', timestamptz '2026-01-01' + interval '1 s' * %s
                from users where email = 'demo@example.org'
                """,
                (forms[form], name, answer.shortcode, second),
            )
        database.execute(
            """
            insert into responses (parent_shortcode, shortcode, flowid, surveyid, userid, question_ref, question_idx,
              question_text, response, translated_response, timestamp)
            values ('start', 'unused', 1, %s, %s, %s, %s, %s, %s, %s, timestamptz '2026-03-01' + interval '1 s' * %s)
            """,
            (
                *(forms[form], answer.userid, answer.question_ref, second),
                *(answer.question_text, answer.response, answer.translated_response, second),
            ),
        )
    return name


def delete(database: psycopg.Connection[Any], name: str) -> None:
    database.execute("delete from responses using surveys where surveyid = id and survey_name = %s", (name,))
    database.execute("delete from surveys where survey_name = %s", (name,))


Create: TypeAlias = Callable[[list[Answer]], Survey]
