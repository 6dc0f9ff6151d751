"""Surveys of given answers."""

import json
from collections.abc import Callable
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
    rows = []
    for second, answer in enumerate(answers):
        row = vars(answer).copy()
        version = (row.pop("shortcode"), row.pop("version"))
        if version not in forms:
            forms[version] = study.add_version(answer.shortcode)
        ad_id = row.pop("ad_id")
        row |= {
            "surveyid": forms[version],
            "question_idx": second,
            "timestamp": datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(seconds=second),
            "metadata": None if ad_id is None else json.dumps({"ad_id": ad_id}),
        }
        rows.append(row)
    study.insert(rows)


Create: TypeAlias = Callable[[list[Answer]], Survey]
