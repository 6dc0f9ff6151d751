from __future__ import annotations

import json
import random
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest

from lies import lie_of
from mirrors import CODEBOOK, CSV, DIGESTS, FORM_DATA, assert_exact, assert_responses_exact, assert_unchanged
from service import EMPTY_SURVEY, Fault, Proxy, Study
from survey_export import Client, MirrorChangingError, ServiceError, Survey, TransferError

FILTERS: dict[str, Any] = {
    "since": "2026-03-03T10:00:00Z",
    "until": "2026-03-09T12:00:00.5+02:00",
    "question_ref": "water",
}


@pytest.mark.parametrize(
    ("interval", "filters"),
    [("day", {}), ("hour", {}), ("month", {}), ("day", FILTERS)],
    ids=["d", "h", "m", "filters"],
)
def test_random_rounds(
    study: Study,
    survey: Survey,
    proxy: Proxy,
    tmp_path: Path,
    randomness: random.Random,
    rounds: int,
    interval: Literal["day", "hour", "month"],
    filters: dict[str, Any],
) -> None:
    """Whatever is cut is requested again."""
    length = {"hour": 13, "day": 10, "month": 7}[interval]
    before: dict[str, str] = {}
    for _ in range(rounds if (interval, filters) == ("day", {}) else rounds // 3):
        proxy.fault = lambda path: Fault(cut=randomness.randrange(6000)) if randomness.random() < 0.1 else None
        changes = survey.mirror(tmp_path, interval, **filters)
        after = study.digests(interval=interval, **filters)
        assert_exact(tmp_path, study, **filters)
        assert {path.name for path in (tmp_path / "responses").iterdir()} == {f"{s[:length]}.csv.gz" for s in after}
        assert changes.added == tuple(start for start in after if start not in before)
        assert changes.changed == tuple(s for s in after if s in before and before[s] != after[s])
        assert changes.removed == tuple(start for start in before if start not in after)
        assert_unchanged(survey, proxy, tmp_path, interval, **dict(reversed(filters.items())))
        before = after
        study.add(["2026-03-03", "2026-03-09"], 5)
        for _ in range(randomness.randrange(1, 5)):
            study.change()


def test_changes_while_it_runs(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random, rounds: int
) -> None:
    """Also rows that change and change back between two requests."""
    outcomes = []
    marked = [False]

    def change(path: str) -> None:
        if marked[-1] and randomness.random() < 0.7:
            study.unmark()
            marked.append(False)
        elif not marked[-1] and randomness.random() < 0.3:
            study.mark()
            marked.append(True)
        elif randomness.random() < 0.2:
            study.change()

    for _ in range(rounds):
        proxy.fault = change
        try:
            survey.mirror(tmp_path)
            outcomes.append(True)
            assert_responses_exact(tmp_path, study)  # digests do not cover the codebook
        except MirrorChangingError:
            outcomes.append(False)
    assert any(outcomes)
    proxy.faults()
    study.change()
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)


def add_version(study: Study) -> None:
    study.add_version("food")
    study.update(f"surveyid = '{study.forms[-1]}'", "question_idx = 3")


def edit_questions(study: Study) -> None:
    study.update("question_text = question_text || '?'")


@pytest.mark.parametrize(
    ("file", "path", "changes"),
    [
        # The digests before and after are the same, but what was downloaded in between is not what they are of.
        ("form-data.csv", FORM_DATA, [Study.mark, Study.unmark]),
        ("responses/*", CSV, [Study.mark, Study.unmark]),
        ("responses/*", CSV, [add_version]),
        ("responses/*", CSV, [Study.delete]),
        ("codebook.csv", CODEBOOK, [edit_questions, edit_questions]),
    ],
)
def test_change_during_one_request(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, file: str, path: str, changes: list[Any]
) -> None:
    """The file is missing. The first change comes with the request for it, and the other with the next request."""
    left = [*changes]

    def change(request: str) -> None:
        if left and (path in request or left != changes):
            left.pop(0)(study)

    survey.mirror(tmp_path)
    next(tmp_path.glob(file)).unlink()
    proxy.fault = change
    survey.mirror(tmp_path)
    assert left == []
    if changes == [Study.delete]:
        assert {found.name for found in tmp_path.rglob("*")} == {".lock", "manifest.json", "responses"}
    else:
        assert_exact(tmp_path, study)


def test_response_in_an_interval_that_the_digests_did_not_list(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    study.delete("timestamp::date = '2026-03-07'")

    def add(path: str) -> None:
        if CSV in path:
            proxy.faults()
            study.add(["2026-03-07"], 5)

    proxy.fault = add
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)
    assert [request.partition("since=")[2][:10] for request in proxy.requests if CSV in request] == [
        "2026-03-01",
        "2026-03-07",
    ]


def test_ends_as_not_done_after_five_rounds(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path)

    def change(path: str) -> None:
        if CSV in path:
            study.update("response = response || 'x'", "timestamp::date = '2026-03-05'")

    study.add(["2026-03-05"])
    study.add(["2026-03-09"])
    proxy.paths()
    proxy.fault = change
    with pytest.raises(MirrorChangingError):
        survey.mirror(tmp_path)
    assert proxy.paths().count(DIGESTS) == 6
    # What was verified stays, so the day that kept still is not downloaded again.
    proxy.faults()
    assert survey.mirror(tmp_path).changed == ("2026-03-05T00:00:00.000Z", "2026-03-09T00:00:00.000Z")
    assert [request.count("since=2026-03-05") for request in proxy.requests if CSV in request] == [1]
    assert_exact(tmp_path, study)


def test_neighbouring_intervals_share_a_request(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    for day in ("2026-03-03", "2026-03-04", "2026-03-08"):
        study.update("response = 'x'", f"timestamp::date = '{day}'")
    proxy.paths()
    changes = survey.mirror(tmp_path)
    assert [start[:10] for start in changes.changed] == ["2026-03-03", "2026-03-04", "2026-03-08"]
    assert proxy.paths() == [DIGESTS, "/key", CSV, CSV, CODEBOOK, DIGESTS]


def test_survey_that_becomes_empty(client: Client, study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    starts = tuple(study.digests())
    study.delete()
    assert survey.mirror(tmp_path).removed == starts
    assert {path.name for path in tmp_path.rglob("*")} == {".lock", "manifest.json", "responses"}
    assert survey.mirror(tmp_path).removed == ()
    study.add(["2026-03-01"], 5)
    assert survey.mirror(tmp_path).added == ("2026-03-01T00:00:00.000Z",)
    assert_exact(tmp_path, study)
    assert client.survey(EMPTY_SURVEY).mirror(tmp_path / "empty").added == ()


def test_selection_without_responses(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path, userid="nobody")
    assert_exact(tmp_path, study, userid="nobody")
    assert_unchanged(survey, proxy, tmp_path, userid="nobody")


@pytest.mark.parametrize("start", ["../2026-03-01", "2026-03-01", "2026-03-01T00:00:00.000Z/../x", "", 7])
def test_start_that_is_none(survey: Survey, proxy: Proxy, tmp_path: Path, start: object) -> None:
    """It becomes the name of a file."""
    first = b'"2026-03-01T00:00:00.000Z"'
    shorten = lambda body: body.replace(first, json.dumps(start).encode())  # noqa: E731
    proxy.fault = lambda path: Fault(shorten=shorten) if DIGESTS in path else None
    with pytest.raises(ServiceError, match="something else"):
        survey.mirror(tmp_path / "mirror")
    assert [*tmp_path.iterdir()] == []


def test_new_version_of_digests(survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    added = survey.mirror(tmp_path).added
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 0').replace("W/", "W/x"))
    assert survey.mirror(tmp_path).changed == added
    proxy.fault = lambda path: (
        Fault(shorten=lambda body: body.replace(b'"version":1', b'"version":2')) if DIGESTS in path else None
    )
    path.write_text(path.read_text().replace("W/", "W/x"))
    with pytest.raises(Exception, match="update survey-export"):
        survey.mirror(tmp_path)


LIES = ["nothing", "a text", "none", "half of its bytes", "one missing", "reversed", "two exchanged", "other quotes"]


@pytest.mark.parametrize(("path", "lie"), [*product([CSV, CODEBOOK, FORM_DATA], LIES), (CSV, "another ad_id")])
def test_what_is_mirrored_is_exact(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, lie: str
) -> None:
    """A lie is repaired, or ends in an error if it is repeated."""
    monkeypatch.setattr("survey_export._http.ATTEMPTS", 2)
    monkeypatch.setattr("survey_export._mirror.ROUNDS", 2)
    for shortcode in study.shortcodes:
        study.add_version(shortcode)
    fault = Fault(shorten=lie_of("csv", lie))
    proxy.faults(fault, path=path)
    survey.mirror(tmp_path / "once", "month")
    assert_exact(tmp_path / "once", study)
    proxy.fault = lambda request: fault if path in request else None
    with suppress(TransferError, MirrorChangingError):
        survey.mirror(tmp_path / "always", "month")
        assert_exact(tmp_path / "always", study)
        return
    assert path != CODEBOOK or not (tmp_path / "always" / "codebook.csv").exists()


def test_a_codebook_that_is_too_large(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    study.sql(
        "insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx, "
        "question_text, response, timestamp) select 's', %s, 's', 1, 'many', n, n, repeat('?', 999), '', '2026-03-05' "
        "from generate_series(1, 8001) n",
        study.forms[0],
    )
    assert len(survey.mirror(tmp_path).changed) == 1
    assert_responses_exact(tmp_path, study)
    assert not (tmp_path / "codebook.csv").exists()
    assert_unchanged(survey, proxy, tmp_path)
    study.delete("userid = 'many'")
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)
