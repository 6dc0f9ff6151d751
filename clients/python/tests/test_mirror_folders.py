"""Folders that are refused or were changed."""

import json
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mirrors import DIGESTS, assert_exact, assert_unchanged, files_of
from service import DEMO_SURVEY, KEY, LIMITED_KEY, OTHER_KEY, URL
from survey_export import Client, MirrorError, SurveyExportError


def test_another_selection_is_refused(demo, tmp_path):
    demo.mirror(tmp_path)
    before = files_of(tmp_path)
    refusals = [
        ("interval", "hour", MirrorError, "interval"),
        ("interval", "week", ValueError, "interval must be one of"),
        ("userid", "001", MirrorError, "filters"),
        ("safe", "true", ValueError, "safe"),
    ]
    for name, value, kind, message in refusals:
        with pytest.raises(kind, match=message):
            demo.mirror(tmp_path, **{name: value})
    clients = [
        ("https://x.example", KEY, "url"),
        (URL, OTHER_KEY, "account"),  # which has such a survey too
        (URL, LIMITED_KEY, r"limits None, not \{"),
    ]
    for url, key, message in clients:
        with pytest.raises(MirrorError, match=message):
            Client(url, key).survey(DEMO_SURVEY).mirror(tmp_path)
    with pytest.raises(MirrorError, match="survey"):
        demo.client.survey("another").mirror(tmp_path)
    assert files_of(tmp_path) == before


def test_a_limited_key_has_an_exact_mirror(study, proxy, tmp_path):
    study.key = LIMITED_KEY
    with Client(URL, LIMITED_KEY) as client:
        limits = client.key().limits
        assert limits
        assert limits == {
            **{"v": 1, "metadata": ["note"], "pageid": False},
            "pseudonyms": limits["pseudonyms"],
        }
        limited = client.survey(study.name)
        for _ in range(2):
            limited.mirror(tmp_path)
            assert_exact(tmp_path, study)
            assert_unchanged(limited, proxy, tmp_path)
            study.change()


@pytest.mark.parametrize("call", ["mirror", "download"])
def test_second_run_at_the_same_time_is_refused(survey, proxy, tmp_path, call):
    refused = []

    def second(path):
        if "/responses/" in path:
            proxy.faults()
            with pytest.raises(SurveyExportError, match="another process"):
                getattr(survey, call)(tmp_path / "r.csv")
            refused.append(path)

    proxy.fault = second
    getattr(survey, call)(tmp_path / "r.csv")
    assert refused


@pytest.mark.parametrize(
    "name", ["codebook.csv", "responses/2020-01-01.csv.gz", "notes.txt", "new/x"]
)
def test_refuses_a_folder_that_is_not_its_own(survey, tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = files_of(tmp_path)
    with pytest.raises(MirrorError, match="is not a mirror"):
        survey.mirror(tmp_path)
    assert files_of(tmp_path) == before


def test_refuses_what_a_mirror_does_not_contain(study, survey, tmp_path):
    folder = tmp_path / "mirror"
    survey.mirror(folder)
    (tmp_path / "mine").write_text("mine")
    manifest = (folder / "manifest.json").read_text()
    others = [
        json.dumps(json.loads(manifest) | {name: value})
        for name, value in [("completed", []), ("completed", "x"), ("etag", 7), ("etag", "a\nb")]
    ]
    others.append(manifest.replace('"codebook.csv"', '"../mine"'))
    for damaged in ("", "{", "[]", "{}", *others):
        (folder / "manifest.json").write_text(damaged)
        study.update("response = response || 'x'")
        with pytest.raises(MirrorError, match="damaged"):
            survey.mirror(folder)
    (folder / "manifest.json").write_text(manifest)
    (folder / "responses" / "copy of 2026-03-01.csv.gz").write_bytes(b"")
    with pytest.raises(MirrorError, match="copy of"):
        survey.mirror(folder)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    [".lock", ".new", "responses", "manifest.json", "codebook.csv", "responses/2026-03-05.csv.gz"],
)
def test_links_lead_nowhere(study, survey, tmp_path, name):
    folder, outside = tmp_path / "mirror", tmp_path / "outside"
    survey.mirror(folder)
    (folder / name).rename(outside) if (folder / name).exists() else outside.mkdir()
    (folder / name).symlink_to(outside)
    before = files_of(outside) if outside.is_dir() else outside.read_bytes()
    study.update("response = 'edited'")
    if "." in name and not name.startswith((".", "manifest")):
        survey.mirror(folder)  # replaces the link itself
        assert_exact(folder, study)
    else:
        with pytest.raises(MirrorError, match="is a link"):
            survey.mirror(folder)
    assert before == (files_of(outside) if outside.is_dir() else outside.read_bytes())


def change_a_bit(path: Path, randomness: random.Random) -> None:
    """Change it as a disk does: the file keeps its time."""
    before, altered = path.stat(), bytearray(path.read_bytes())
    altered[randomness.randrange(len(altered))] ^= 1 << randomness.randrange(8)
    path.write_bytes(altered)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_touched_files_are_replaced(study, survey, proxy, tmp_path, randomness):
    survey.mirror(tmp_path)
    first, second, *_ = sorted((tmp_path / "responses").iterdir())
    contents = first.read_bytes()
    touches: list[Callable[[], object]] = [
        lambda: (first.write_bytes(second.read_bytes()), second.write_bytes(contents)),
        lambda: (tmp_path / "responses" / "2030-01-01.csv.gz").write_bytes(contents),
        *(partial(change_a_bit, path, randomness) for path in (first, *tmp_path.glob("*.csv"))),
    ]
    for touch in touches:
        touch()
        survey.mirror(tmp_path)
        assert_exact(tmp_path, study)
        assert_unchanged(survey, proxy, tmp_path)
    os.utime(first, (1, 1))
    survey.mirror(tmp_path)
    assert proxy.paths() == [DIGESTS]  # its contents have not changed
