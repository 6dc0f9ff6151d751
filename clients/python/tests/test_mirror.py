from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mirrors import CODEBOOK, CSV, DIGESTS, assert_exact, assert_responses_exact, assert_unchanged, files_of, joined
from service import DEMO_SURVEY, EMPTY_SURVEY, KEY, OTHER_KEY, URL, Fault, Proxy, Study, get
from survey_export import (
    Client,
    MirrorChangingError,
    MirrorError,
    NoResponsesError,
    ServiceError,
    Survey,
    TransferError,
)


def test_random_rounds(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random, rounds: int
) -> None:
    before: dict[str, str] = {}
    for _ in range(rounds):
        changes = survey.mirror(tmp_path)
        after = study.digests()
        assert_exact(tmp_path, study)
        assert changes.added == tuple(start for start in after if start not in before)
        assert changes.changed == tuple(s for s in after if s in before and before[s] != after[s])
        assert changes.removed == tuple(start for start in before if start not in after)
        assert_unchanged(survey, proxy, tmp_path)
        before = after
        for _ in range(randomness.randrange(1, 5)):
            study.change(randomness)


def test_changes_while_it_runs(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random, rounds: int
) -> None:
    """Also rows that change and change back between two requests."""
    outcomes = []
    backwards: list[Callable[[], object]] = []

    def change(path: str) -> None:
        if backwards and randomness.random() < 0.7:
            backwards.pop()()
        elif randomness.random() < 0.2:
            study.change(randomness)
        elif randomness.random() < 0.2:
            text = "update responses set response = response || %s where surveyid = any(%s)"
            study.sql(text, "#", study.forms)
            undo = "update responses set response = left(response, -1) where surveyid = any(%s) and response like '%%#'"
            backwards.append(lambda: study.sql(undo, study.forms))
        elif randomness.random() < 0.2:
            text = "update surveys set shortcode = %s || shortcode where id = any(%s)"
            study.sql(text, "#", study.forms)
            undo = "update surveys set shortcode = ltrim(shortcode, '#') where id = any(%s)"
            backwards.append(lambda: study.sql(undo, study.forms))
            study.shortcodes = [f"#{shortcode}" for shortcode in study.shortcodes]

    for _ in range(rounds):
        proxy.fault = change
        try:
            survey.mirror(tmp_path)
            outcomes.append(True)
            assert_responses_exact(tmp_path, study)  # digests do not cover the codebook
        except MirrorChangingError:
            outcomes.append(False)
        while backwards:
            backwards.pop()()
        study.shortcodes = [shortcode.lstrip("#") for shortcode in study.shortcodes]
    assert any(outcomes)
    proxy.fault = lambda path: None
    study.change(randomness)
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)


@pytest.mark.parametrize(("path", "file"), [("/responses/form-data", "form-data.csv"), (CSV, "responses/*")])
def test_change_during_one_request(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, path: str, file: str
) -> None:
    """The digests before and after are the same, but what was downloaded in between is not what they are of."""

    def change(request: str) -> None:
        if path in request:
            study.sql("update responses set response = response || '#' where surveyid = any(%s)", study.forms)
            study.sql("update surveys set shortcode = '#' || shortcode where id = any(%s)", study.forms)
            proxy.fault = change_back

    def change_back(request: str) -> None:
        study.sql("update responses set response = left(response, -1) where surveyid = any(%s)", study.forms)
        study.sql("update surveys set shortcode = ltrim(shortcode, '#') where id = any(%s)", study.forms)
        proxy.fault = lambda path: None

    survey.mirror(tmp_path)
    next(tmp_path.glob(file)).unlink()
    proxy.fault = change
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)


def test_form_version_added_while_it_runs(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random
) -> None:
    def add(path: str) -> None:
        if CSV in path:
            proxy.fault = lambda path: None
            study.add_version("food")
            study.forms, others = study.forms[-1:], study.forms[:-1]
            study.add(randomness, ["2026-03-05"], 3)
            study.forms += others

    proxy.fault = add
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)


def test_codebook_that_changes_while_it_is_downloaded(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    edits = iter(["one", "two"])

    def change(path: str) -> None:
        if CODEBOOK in path and (text := next(edits, None)):
            study.sql("update responses set question_text = %s where surveyid = any(%s)", text, study.forms)

    proxy.fault = change
    survey.mirror(tmp_path)
    assert proxy.paths().count(CODEBOOK) == 3
    assert_exact(tmp_path, study)


def test_ends_as_not_done_after_five_rounds(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random
) -> None:
    survey.mirror(tmp_path)

    def change(path: str) -> None:
        if CSV in path:
            text = "update responses set response = response || 'x' where surveyid = any(%s) and timestamp::date = %s"
            study.sql(text, study.forms, "2026-03-05")

    study.add(randomness, ["2026-03-05"])
    study.add(randomness, ["2026-03-09"])
    proxy.paths()
    proxy.fault = change
    with pytest.raises(MirrorChangingError):
        survey.mirror(tmp_path)
    assert proxy.paths().count(DIGESTS) == 6
    # What was verified stays, so the day that kept still is not downloaded again.
    proxy.fault = lambda path: None
    assert survey.mirror(tmp_path).changed == ("2026-03-05T00:00:00.000Z", "2026-03-09T00:00:00.000Z")
    assert [request.count("since=2026-03-05") for request in proxy.requests if CSV in request] == [1]
    assert_exact(tmp_path, study)


def test_neighbouring_intervals_share_a_request(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    for day in ("2026-03-03", "2026-03-04", "2026-03-08"):
        study.sql("update responses set response = 'x' where surveyid = any(%s) and timestamp::date = %s",
                  study.forms, day)  # fmt: skip
    proxy.paths()
    changes = survey.mirror(tmp_path)
    assert [start[:10] for start in changes.changed] == ["2026-03-03", "2026-03-04", "2026-03-08"]
    assert proxy.paths() == [DIGESTS, "/key", CSV, CSV, CODEBOOK, DIGESTS]


@pytest.mark.parametrize("interval", ["hour", "month"])
def test_intervals(study: Study, survey: Survey, tmp_path: Path, interval: str) -> None:
    survey.mirror(tmp_path, interval)  # type: ignore[arg-type]
    assert_exact(tmp_path, study)
    length = {"hour": 13, "month": 7}[interval]
    times = json.loads(study.export("/responses", pageSize="10000"))["responses"]
    names = {f"{row['timestamp'][:length]}.csv.gz" for row in times}
    assert {path.name for path in (tmp_path / "responses").iterdir()} == names


def test_filters_that_cut_intervals(study: Study, survey: Survey, tmp_path: Path, randomness: random.Random) -> None:
    filters: dict[str, Any] = {
        "since": "2026-03-03T10:00:00Z",
        "until": "2026-03-09T12:00:00.5+02:00",
        "question_ref": "water",
    }
    for _ in range(3):
        survey.mirror(tmp_path, **filters)
        assert_exact(tmp_path, study, **filters)
        study.add(randomness, ["2026-03-03", "2026-03-06", "2026-03-09"], 30)
        study.change(randomness)
    survey.mirror(tmp_path, until="2026-03-09T12:00:00.5+02:00", since="2026-03-03T10:00:00Z", question_ref=["water"])
    with pytest.raises(MirrorError, match="filters"):
        survey.mirror(tmp_path)
    with pytest.raises(ValueError, match="safe"):
        survey.mirror(tmp_path, safe=True)


def test_selection_without_responses(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    survey.mirror(tmp_path, userid="nobody")
    assert_exact(tmp_path, study, userid="nobody")
    proxy.paths()
    survey.mirror(tmp_path, userid="nobody")
    assert proxy.paths() == [DIGESTS]


def test_survey_that_becomes_empty(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random
) -> None:
    survey.mirror(tmp_path)
    starts = tuple(study.digests())
    study.delete_all()
    assert survey.mirror(tmp_path).removed == starts
    assert [path.name for path in (tmp_path / "responses").iterdir()] == []
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "manifest.json", "responses"}
    assert survey.mirror(tmp_path).removed == ()
    study.add(randomness, ["2026-03-01"], 5)
    assert survey.mirror(tmp_path).added == ("2026-03-01T00:00:00.000Z",)
    assert_exact(tmp_path, study)
    # It can also become empty while it is downloaded.
    study.add(randomness, ["2026-03-01"], 5)
    proxy.fault = lambda path: study.delete_all() if CSV in path else None
    assert survey.mirror(tmp_path).removed == ("2026-03-01T00:00:00.000Z",)


def test_survey_that_was_always_empty(client: Client, tmp_path: Path) -> None:
    assert client.survey(EMPTY_SURVEY).mirror(tmp_path).added == ()


def test_survey_that_is_gone(study: Study, survey: Survey, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    before = files_of(tmp_path)
    study.delete_survey()
    with pytest.raises(NoResponsesError):
        survey.mirror(tmp_path)
    assert files_of(tmp_path) == before


def test_refused_key(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random) -> None:
    survey.mirror(tmp_path)
    before = files_of(tmp_path)
    with Client(proxy.url, KEY[:-1] + "x") as client, pytest.raises(ServiceError) as refused:
        client.survey(study.name).mirror(tmp_path)
    assert (refused.value.status, refused.value.code) == (401, "invalid_token")
    # Also if it is refused from a later request on.
    study.add(randomness, ["2026-03-05"], 3)
    proxy.fault = lambda path: Fault(status=401) if CSV in path else None
    with pytest.raises(ServiceError):
        survey.mirror(tmp_path)
    assert files_of(tmp_path) == before


def test_other_mirrors_are_refused(study: Study, survey: Survey, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(MirrorError, match="interval"):
        survey.mirror(tmp_path, "hour")
    with pytest.raises(MirrorError, match="survey"):
        survey.client.survey(DEMO_SURVEY).mirror(tmp_path)
    with Client(URL, KEY) as client, pytest.raises(MirrorError, match="url"):
        client.survey(study.name).mirror(tmp_path)
    assert files_of(tmp_path) == before


def test_other_account_is_refused(tmp_path: Path) -> None:
    with Client(URL, KEY) as client:
        client.survey(DEMO_SURVEY).mirror(tmp_path)
    before = files_of(tmp_path)
    with Client(URL, OTHER_KEY) as other, pytest.raises(MirrorError, match="account"):
        other.survey(DEMO_SURVEY).mirror(tmp_path)  # the other account has a survey of this name too
    assert files_of(tmp_path) == before


def test_second_run_at_the_same_time_is_refused(survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    refused = []

    def second(path: str) -> None:
        proxy.fault = lambda path: None
        with Client(proxy.url, KEY) as other, pytest.raises(MirrorError, match="another process"):
            other.survey(survey.name).mirror(tmp_path)
        refused.append(path)

    proxy.fault = second
    survey.mirror(tmp_path)
    assert refused


@pytest.mark.parametrize(
    "touch",
    [
        *["edit", "delete", "add", "form-data", "codebook", "swap", "time"],
        *["a bit of responses/2026-03-05.csv.gz", "a bit of form-data.csv", "a bit of codebook.csv"],
    ],
)
def test_touched_files(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random, touch: str
) -> None:
    survey.mirror(tmp_path)
    first, second, *_ = sorted((tmp_path / "responses").iterdir())
    if touch == "edit":
        first.write_bytes(second.read_bytes())
    elif touch.startswith("a bit of "):
        path = tmp_path / touch.removeprefix("a bit of ")
        before, altered = path.stat(), bytearray(path.read_bytes())
        altered[randomness.randrange(len(altered))] ^= 1 << randomness.randrange(8)
        path.write_bytes(altered)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif touch == "delete":
        first.unlink()
    elif touch == "add":
        (tmp_path / "responses" / "2030-01-01.csv.gz").write_bytes(first.read_bytes())
    elif touch == "form-data":
        (tmp_path / "form-data.csv").write_text("")
    elif touch == "codebook":
        (tmp_path / "codebook.csv").unlink()
    elif touch == "swap":
        contents = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(contents)
    else:
        os.utime(first, (1, 1))
    proxy.paths()
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)
    if touch == "time":
        assert proxy.paths() == [DIGESTS]  # its contents have not changed
    else:
        assert_unchanged(survey, proxy, tmp_path)


def test_foreign_file_among_the_responses(survey: Survey, tmp_path: Path) -> None:
    survey.mirror(tmp_path)
    (tmp_path / "responses" / "copy of 2026-03-01.csv.gz").write_bytes(b"")
    with pytest.raises(MirrorError, match="copy of"):
        survey.mirror(tmp_path)


@pytest.mark.parametrize("manifest", ["", "{", "[]", "{}"])
def test_damaged_manifest(survey: Survey, tmp_path: Path, manifest: str) -> None:
    survey.mirror(tmp_path)
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(MirrorError, match="damaged"):
        survey.mirror(tmp_path)


@pytest.mark.parametrize("name", ["codebook.csv", "form-data.csv", "responses/2020-01-01.csv.gz", "notes.txt", "new/x"])
def test_refuses_a_folder_that_is_not_its_own(survey: Survey, tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = files_of(tmp_path)
    with pytest.raises(MirrorError, match="is not a mirror"):
        survey.mirror(tmp_path)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    "name", [".lock", ".new", "responses", "manifest.json", "codebook.csv", "responses/2026-03-05.csv.gz"]
)
def test_links_lead_nowhere(study: Study, survey: Survey, tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "mirror", tmp_path / "outside"
    survey.mirror(folder)
    (folder / name).rename(outside) if (folder / name).exists() else outside.mkdir()
    (folder / name).symlink_to(outside)
    before = files_of(outside) if outside.is_dir() else outside.read_bytes()
    study.sql("update responses set response = 'edited' where surveyid = any(%s)", study.forms)
    if "." in name and not name.startswith((".", "manifest")):
        survey.mirror(folder)  # replaces the link itself
        assert_exact(folder, study)
    else:
        with pytest.raises(MirrorError, match="is a link"):
            survey.mirror(folder)
    assert before == (files_of(outside) if outside.is_dir() else outside.read_bytes())


def test_a_manifest_names_nothing_outside(survey: Survey, tmp_path: Path) -> None:
    survey.mirror(tmp_path / "mirror")
    (tmp_path / "mine").write_text("mine")
    path = tmp_path / "mirror" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"]["../mine"] = manifest["files"].pop("codebook.csv")
    path.write_text(json.dumps(manifest))
    with pytest.raises(MirrorError, match="damaged"):
        survey.mirror(tmp_path / "mirror")
    assert (tmp_path / "mine").read_text() == "mine"


def test_response_in_an_interval_that_the_digests_did_not_list(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, randomness: random.Random
) -> None:
    study.sql("delete from responses where surveyid = any(%s) and timestamp::date = '2026-03-07'", study.forms)

    def add(path: str) -> None:
        if CSV in path:
            proxy.fault = lambda path: None
            study.add(randomness, ["2026-03-07"], 5)

    proxy.fault = add
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)
    assert [request.partition("since=")[2][:10] for request in proxy.requests if CSV in request] == [
        "2026-03-01",
        "2026-03-07",
    ]


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
    survey.mirror(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 0').replace("W/", "W/x"))
    before = {name for name in files_of(tmp_path) if name.startswith("responses/")}
    proxy.paths()
    assert len(survey.mirror(tmp_path).changed) == len(before)
    proxy.fault = lambda path: (
        Fault(shorten=lambda body: body.replace(b'"version":1', b'"version":2')) if DIGESTS in path else None
    )
    path.write_text(path.read_text().replace("W/", "W/x"))
    with pytest.raises(Exception, match="update survey-export"):
        survey.mirror(tmp_path)


LIES: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda body: b"",
    "a page": lambda body: b"<html>Log in</html>\n",
    "its header": lambda body: body[: body.index(b"\n") + 1],
    "half of its bytes": lambda body: body[: len(body) // 2],
    "without its last record": lambda body: b"".join(split(body)[:-1]),
    "reversed": lambda body: b"".join([split(body)[0], *split(body)[:0:-1]]),
    "two exchanged": lambda body: b"".join([*split(body)[:1], *split(body)[2:0:-1], *split(body)[3:]]),
    "another ad_id": lambda body: body.replace(b",12,", b",13,"),
    "other quotes": lambda body: body.replace(b",NA,", b',"NA",').replace(b"food", b'"food"'),
}


def split(body: bytes) -> list[bytes]:
    return re.findall(rb'(?:[^"\n]+|"[^"]*")*\n', body)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("path", [CSV, CODEBOOK, "/responses/form-data"])
def test_what_is_mirrored_is_exact(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, lie: str
) -> None:
    """A lie is repaired, or ends in an error if it is repeated."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    for shortcode in study.shortcodes:
        study.add_version(shortcode)
    fault = Fault(shorten=LIES[lie])
    proxy.faults(fault, path=path)
    survey.mirror(tmp_path / "once")
    assert_exact(tmp_path / "once", study)
    proxy.fault = lambda request: fault if path in request else None
    with suppress(TransferError, MirrorChangingError):
        survey.mirror(tmp_path / "always")
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
    study.sql("delete from responses where userid = 'many' and surveyid = %s", study.forms[0])
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)


def test_demo_survey(client: Client, tmp_path: Path) -> None:
    client.survey(DEMO_SURVEY).mirror(tmp_path, "month")
    assert joined(tmp_path) == get(CSV, survey=DEMO_SURVEY)
