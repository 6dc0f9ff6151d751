import json
import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import date, datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import pytest

from service import DEMO_SURVEY, EMPTY_SURVEY, Proxy, get, records_of
from survey_export import (
    Client,
    Day,
    FormCount,
    NoResponsesError,
    ServiceError,
    Survey,
)


def test_surveys(client: Client) -> None:
    surveys = client.surveys()
    versions = json.loads(get("/surveys"))
    assert {survey.name for survey in surveys} == {version["survey_name"] for version in versions}
    [demo] = [survey for survey in surveys if survey.name == DEMO_SURVEY]
    assert [form.shortcode for form in demo.forms] == ["healthfood", "healthlater", "healthstart"]
    of_demo = [version for version in versions[::-1] if version["survey_name"] == DEMO_SURVEY]
    for form in demo.forms:  # its versions are the oldest first
        of_form = [version for version in of_demo if version["shortcode"] == form.shortcode]
        assert [asdict(version) for version in form.versions] == of_form


def test_summary(demo: Survey) -> None:
    summary = demo.summary(timezone="Africa/Nairobi", until=date(2026, 1, 8))
    assert (summary.responses, summary.participants, summary.left_out) == (107, 28, 0)
    assert summary.days == (Day("2026-01-06", 59, 17), Day("2026-01-07", 48, 12))
    assert summary.forms == (FormCount("healthstart", 103, 28), FormCount("healthfood", 4, 1))
    assert (summary.left_out_by, summary.stops) == ((), ())
    rules = demo.summary(repeats="drop", require_metadata="none").left_out_by
    assert [(rule.rule, rule.name, rule.participants, len(rule.userids)) for rule in rules] == [
        ("repeats", None, 0, 0),
        ("require_metadata", "none", 400, 100),
    ]
    assert rules[0].userids == ()  # a tuple, so that a rule can be hashed
    [first, *_] = stops = demo.summary(stops=True).stops
    assert (first.shortcode, first.question_ref) == ("healthstart", "consent")
    assert sum(stop.participants for stop in stops) == 400


def test_answers(demo: Survey) -> None:
    table = demo.answers(top=2, by="metadata.language")
    given = {"top": "2", "by": "metadata.language", "format": "csv"}
    records = records_of(get("/responses/answers", survey=DEMO_SURVEY, **given))
    rows = [[None if pandas.isna(cell) else str(cell) for cell in row] for row in table.to_numpy()]
    assert [[*table.columns], *rows] == records
    body = json.loads(get("/responses/answers", survey=DEMO_SURVEY, numbers="true"))
    expected = {question["column"]: question["numbers"] for question in body["questions"]}
    assert demo.answers(numbers=True).attrs["numbers"] == expected
    assert demo.answers(numbers=False).attrs == {}


def test_parameters(demo: Survey) -> None:
    whole = demo.summary().responses
    noon = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)
    assert demo.summary(since=noon).responses + demo.summary(until=noon).responses == whole
    assert demo.summary(since=None).responses == whole
    with pytest.raises(ValueError, match="since: a datetime needs a time zone"):
        demo.summary(since=datetime(2026, 1, 8))
    with pytest.raises(ServiceError, match="sinse"):
        next(demo.rows(sinse="2026-01-08"))


def calls_of(survey: Survey, folder: Path) -> list[Callable[..., object]]:
    downloads = [partial(survey.download, folder / f"r.{ending}") for ending in ("csv", "xlsx")]
    return [
        survey.frame,
        partial(survey.mirror, folder),
        *downloads,
        survey.answers,
        survey.codebook,
        survey.summary,
        lambda **given: next(survey.rows(**given)),
    ]


@pytest.mark.parametrize(
    ("name", "calls"),
    [("survey", 8), ("count", 8), ("format", 8), ("pageSize", 8), ("after", 7), ("bom", 2)],
)
def test_refuses_what_it_sets_itself(
    survey: Survey, proxy: Proxy, tmp_path: Path, name: str, calls: int
) -> None:
    for call in calls_of(survey, tmp_path)[:calls]:
        with pytest.raises(ValueError, match=name):
            call(**{name: "csv"})
    assert proxy.paths() == []


@pytest.mark.parametrize("name", ["userid", "since", "require_metadata"])
@pytest.mark.parametrize(
    "value",
    [
        *([], (), set(), iter([]), pandas.Series([], dtype=str), [None], [[]]),
        *(9272908327168660.0, float("nan"), pandas.NA, b"1", b"", object(), [b"1"], ["1", 2.0]),
        pandas.Series([1.5]),
    ],
    ids=repr,
)
def test_refuses_a_value_that_selects_all_or_nobody(
    demo: Survey, tmp_path: Path, name: str, value: Any
) -> None:
    for call in calls_of(demo, tmp_path):
        with pytest.raises(ValueError, match=name):
            call(**{name: value})
    assert [*tmp_path.iterdir()] == []


def test_collections_of_values(demo: Survey) -> None:
    users = [*dict.fromkeys(row["userid"] for row in demo.rows())][:3]
    expected = demo.summary(userid=users).responses
    numbers = pandas.Series([int(user) for user in users])
    for collection in (iter(users), {*users}, numbers, numbers.to_numpy()):
        assert demo.frame(userid=collection).shape[0] == expected


@pytest.mark.usefixtures("working_folder")
def test_the_examples_of_the_readme_run_on_the_demo() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n((?!>>>).*?)```", text, re.DOTALL):
        exec(code, names)
    assert len(names["frame"]) == 3221


def test_errors(client: Client) -> None:
    with pytest.raises(
        NoResponsesError, match=r"^No responses were found.*; `surveys` lists the names$"
    ) as failed:
        client.survey(EMPTY_SURVEY).summary()
    assert (failed.value.status, failed.value.code) == (500, "no_responses")
    assert failed.value.request_id
