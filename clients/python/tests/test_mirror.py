import json

import frictionless
import pytest

from mirrors import (
    CODEBOOK,
    CSV,
    DIGESTS,
    FORM_DATA,
    assert_exact,
    assert_responses_exact,
    assert_unchanged,
    files_of,
)
from service import EMPTY_SURVEY, Fault, Study
from survey_export import MirrorChangingError, NoResponsesError, ServiceError


def add_version(study: Study) -> None:
    study.add_version("food")
    study.update(f"surveyid = '{study.forms[-1]}'", "question_idx = 3")


@pytest.mark.parametrize(
    ("file", "path", "changes"),
    [
        # The digests before and after are the same, but what was downloaded in between is not what
        # they are of.
        ("form-data.csv", FORM_DATA, [Study.mark, Study.unmark]),
        ("responses/*", CSV, [Study.mark, Study.unmark]),
        ("responses/*", CSV, [add_version]),
        ("responses/*", CSV, [Study.delete]),
        (
            "codebook.csv",
            CODEBOOK,
            [lambda study: study.update("question_text = question_text || '?'")] * 2,
        ),
    ],
)
def test_change_during_one_request(study, survey, proxy, tmp_path, file, path, changes):
    """The file is missing. Changes come with the request for it, and with the next one."""
    left = [*changes]

    def change(request):
        if left and (path in request or left != changes):
            left.pop(0)(study)

    survey.mirror(tmp_path)
    next(tmp_path.glob(file)).unlink()
    proxy.fault = change
    survey.mirror(tmp_path)
    assert left == []
    if changes == [Study.delete]:
        assert {found.name for found in tmp_path.rglob("*")} == {
            ".lock",
            "manifest.json",
            "responses",
        }
    else:
        assert_exact(tmp_path, study)


def test_response_in_an_interval_without_digest(study, survey, proxy, tmp_path):
    study.delete("timestamp::date = '2026-03-07'")

    def add(path):
        if CSV in path:
            proxy.faults()
            study.add(["2026-03-07"], 5)

    proxy.fault = add
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)


def test_ends_as_not_done_after_five_rounds(study, survey, proxy, tmp_path):
    survey.mirror(tmp_path)

    def change(path):
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
    changed = survey.mirror(tmp_path).changed
    assert [start[:10] for start in changed] == ["2026-03-05", "2026-03-09"]
    [request] = [request for request in proxy.requests if CSV in request]
    assert "since=2026-03-05" in request
    assert_exact(tmp_path, study)


def test_neighbouring_intervals_share_a_request(study, survey, proxy, tmp_path):
    survey.mirror(tmp_path)
    for day in ("2026-03-03", "2026-03-04", "2026-03-08"):
        study.update("response = 'x'", f"timestamp::date = '{day}'")
    proxy.paths()
    changes = survey.mirror(tmp_path)
    assert [start[:10] for start in changes.changed] == ["2026-03-03", "2026-03-04", "2026-03-08"]
    assert proxy.paths() == [DIGESTS, "/key", CSV, CSV, CODEBOOK, DIGESTS]


def test_survey_that_becomes_empty_and_is_deleted(client, study, survey, tmp_path):
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
    before = files_of(tmp_path)
    study.delete_survey()
    with pytest.raises(NoResponsesError):
        survey.mirror(tmp_path)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    "start", ["../2026-03-01", "2026-03-01", "2026-03-01T00:00:00.000Z/../x", "", 7]
)
def test_start_that_is_none(survey, proxy, tmp_path, start):
    """It becomes the name of a file."""
    first = b'"2026-03-01T00:00:00.000Z"'
    proxy.always(Fault(alter=lambda body: body.replace(first, json.dumps(start).encode())), DIGESTS)
    with pytest.raises(ServiceError, match="something else"):
        survey.mirror(tmp_path / "mirror")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("interval", ["day", "month"])
def test_data_package(study, survey, proxy, tmp_path, interval):
    path = tmp_path / "datapackage.json"
    for responses in (150, 152):
        survey.mirror(tmp_path, interval)
        assert json.loads(path.read_bytes())["title"] == study.name
        report = frictionless.validate(str(path))
        assert report.valid, report.to_summary()
        rows = {task.name: task.stats["rows"] for task in report.tasks}
        assert rows == {"responses": responses, "form-data": 2, "codebook": len(survey.codebook())}
        study.add(["2026-05-01"], 2)
    survey.mirror(tmp_path, interval)
    expected = path.read_bytes()
    path.unlink()  # as in a mirror of an earlier version
    proxy.paths()
    survey.mirror(tmp_path, interval)
    assert (path.read_bytes(), proxy.paths()) == (expected, [DIGESTS])


def test_new_version_of_digests(survey, proxy, tmp_path):
    added = survey.mirror(tmp_path).added
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 0').replace("W/", "W/x"))
    assert survey.mirror(tmp_path).changed == added
    proxy.always(Fault(alter=lambda body: body.replace(b'"version":1', b'"version":2')), DIGESTS)
    path.write_text(path.read_text().replace("W/", "W/x"))
    with pytest.raises(Exception, match="update survey-export"):
        survey.mirror(tmp_path)


def test_a_codebook_that_is_too_large(study, survey, proxy, tmp_path):
    survey.mirror(tmp_path)
    many = {"surveyid": study.forms[0], "userid": "many", "timestamp": "2026-03-05"}
    many |= {"question_text": "?" * 50_000, "response": ""}
    study.insert([many | {"question_ref": n, "question_idx": n} for n in range(99)])
    assert len(survey.mirror(tmp_path).changed) == 1
    assert_responses_exact(tmp_path, study)
    assert not (tmp_path / "codebook.csv").exists()
    assert_unchanged(survey, proxy, tmp_path)
    study.delete("userid = 'many'")
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)
