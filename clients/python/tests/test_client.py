from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import pytest

from service import DEMO_SURVEY, EMPTY_SURVEY, URL, Proxy, get, records_of
from survey_export import Client, NoResponsesError, ServiceError, Survey


def test_surveys(client: Client) -> None:
    surveys = client.surveys()
    versions = json.loads(get("/surveys"))
    assert {survey.name for survey in surveys} == {version["survey_name"] for version in versions}
    [demo] = [survey for survey in surveys if survey.name == DEMO_SURVEY]
    assert [form.shortcode for form in demo.forms] == ["healthfood", "healthlater", "healthstart"]
    found = {version.id: version.metadata for form in demo.forms for version in form.versions}
    of_demo = [version for version in versions if version["survey_name"] == DEMO_SURVEY]
    assert found == {version["id"]: version["metadata"] for version in of_demo}
    for form in demo.forms:
        created = [version.created for version in form.versions]
        assert created == sorted(created)


def test_summary(client: Client) -> None:
    summary = client.survey(DEMO_SURVEY).summary(timezone="Africa/Nairobi", until=date(2026, 1, 8))
    assert (summary.responses, summary.participants, summary.left_out) == (107, 28, 0)
    assert [(day.day, day.responses) for day in summary.days] == [
        *(("2026-01-06", 59), ("2026-01-07", 48)),
    ]
    by_form = [(form.shortcode, form.responses, form.participants) for form in summary.forms]
    assert by_form == [("healthstart", 103, 28), ("healthfood", 4, 1)]
    assert summary.left_out_by == ()
    some = client.survey(DEMO_SURVEY).summary(repeats="drop", require_metadata="none")
    assert [(rule.rule, rule.name, rule.participants) for rule in some.left_out_by] == [
        ("repeats", None, 0),
        ("require_metadata", "none", 400),
    ]
    assert some.left_out_by[1].userids[0] == min(some.left_out_by[1].userids)
    assert summary.stops == ()
    stops = client.survey(DEMO_SURVEY).summary(stops=True).stops
    assert sum(stop.participants for stop in stops) == 400
    assert (stops[0].shortcode, stops[0].question_ref) == ("healthstart", "consent")


def test_answers(client: Client) -> None:
    survey = client.survey(DEMO_SURVEY)
    table = survey.answers(top=2, by="metadata.language")
    given = {"top": "2", "by": "metadata.language", "format": "csv"}
    records = records_of(get("/responses/answers", survey=DEMO_SURVEY, **given))
    rows = [[None if pandas.isna(cell) else str(cell) for cell in row] for row in table.to_numpy()]
    assert [[*table.columns], *rows] == records
    body = json.loads(get("/responses/answers", survey=DEMO_SURVEY, numbers="true"))
    expected = {question["column"]: question["numbers"] for question in body["questions"]}
    assert survey.answers(numbers=True).attrs["numbers"] == expected
    assert survey.answers(numbers=False).attrs == {}


def test_parameters(client: Client) -> None:
    survey = client.survey(DEMO_SURVEY)
    whole = survey.summary().responses
    noon = datetime(2026, 1, 8, 12, tzinfo=timezone.utc)
    assert survey.summary(since=noon).responses + survey.summary(until=noon).responses == whole
    assert survey.summary(since=None).responses == whole
    with pytest.raises(ValueError, match="since: a datetime needs a time zone"):
        survey.summary(since=datetime(2026, 1, 8))
    with pytest.raises(ServiceError, match="sinse"):
        next(survey.rows(sinse="2026-01-08"))


@pytest.mark.parametrize("name", ["survey", "after", "count", "format", "pageSize", "bom"])
def test_refuses_what_it_sets_itself(
    survey: Survey, proxy: Proxy, tmp_path: Path, name: str
) -> None:
    calls: list[Callable[..., object]] = [survey.frame, partial(survey.mirror, tmp_path)]
    if name != "bom":
        calls += [survey.answers, survey.codebook, survey.summary]
        calls += [
            partial(survey.download, tmp_path / f"r.{each}") for each in ("csv", "xlsx", "sav")
        ]
    if name not in ("after", "bom"):
        calls.append(lambda **given: next(survey.rows(**given)))
    for call in calls:
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
    client: Client, tmp_path: Path, name: str, value: Any
) -> None:
    survey = client.survey(DEMO_SURVEY)
    calls: list[Callable[..., object]] = [survey.summary, survey.codebook, survey.frame]
    calls += [partial(survey.download, tmp_path / "x.csv"), partial(survey.mirror, tmp_path)]
    for call in [*calls, lambda **given: next(survey.rows(**given))]:
        with pytest.raises(ValueError, match=name):
            call(**{name: value})
    assert [*tmp_path.iterdir()] == []


def test_collections_of_values(client: Client) -> None:
    survey = client.survey(DEMO_SURVEY)
    users = [*dict.fromkeys(row["userid"] for row in survey.rows())][:3]
    expected = survey.summary(userid=users).responses
    numbers = pandas.Series([int(user) for user in users])
    for collection in (iter(users), {*users}, numbers, numbers.to_numpy()):
        assert survey.frame(userid=collection).shape[0] == expected


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
    with (
        Client(URL, "sres_wrong") as other,
        pytest.raises(ServiceError, match=r"^Invalid Token\.$") as refused,
    ):
        other.surveys()
    assert (refused.value.status, refused.value.code) == (401, "invalid_token")
