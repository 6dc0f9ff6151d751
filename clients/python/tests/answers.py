"""Surveys of given answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TypeAlias

from service import Study
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


def add_answers(study: Study, answers: list[Answer]) -> None:
    """Add answers to a survey. Forms and questions are in the order of the answers."""
    forms: dict[tuple[str, int], str] = {}
    rows: list[Sequence[object]] = []
    for second, answer in enumerate(answers):
        version = (answer.shortcode, answer.version)
        if version not in forms:
            forms[version] = study.add_version(answer.shortcode)
        time = datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(seconds=second)
        metadata = None if answer.ad_id is None else json.dumps({"ad_id": answer.ad_id})
        row = [
            None,
            "start",
            forms[version],
            "unused",
            1,
            answer.userid,
            answer.question_ref,
            second,
        ]
        texts = [answer.pageid, answer.translated_response]
        rows.append([*row, answer.question_text, answer.response, time, metadata, *texts])
    study.insert(rows)


Create: TypeAlias = Callable[[list[Answer]], Survey]
