"""Runs that fail or are killed, and the next ones."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import random
import signal
from pathlib import Path

import pytest

from mirrors import (
    ANY,
    CSV,
    DIGESTS,
    REPLACING,
    assert_exact,
    assert_unchanged,
    die_before,
    files_of,
    hash_of,
)
from service import KEY, URL, Fault, Proxy, Study
from survey_export import Client, ServiceError, Survey, TransferError
from survey_export._digests import digest_of, read_forms


def test_failed_run_loses_nothing(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    """The only response of a day moves to another day, which cannot be downloaded."""
    study.delete("timestamp::date = '2026-03-09'")
    study.add(["2026-03-09"])
    survey.mirror(tmp_path)
    before = files_of(tmp_path)
    study.update("timestamp = '2026-03-05T00:00:00.5Z'", "timestamp::date = '2026-03-09'")
    busy = Fault(status=503, headers={"Retry-After": "1"})
    for fault in (busy, Fault(status=401), Fault(cut=0)):
        for path in (DIGESTS, "/key", CSV):
            proxy.always(fault, path)
            with pytest.raises((ServiceError, TransferError)) as failed:
                survey.mirror(tmp_path)
            assert failed.value.status == (fault.status or 200)
            assert files_of(tmp_path) == before
    proxy.faults()
    assert survey.mirror(tmp_path).removed == ("2026-03-09T00:00:00.000Z",)
    assert_exact(tmp_path, study)


def test_broken_transfer_after_a_form_was_renamed(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    """With the new form data, no earlier digest is that of a file, also of a day that is gone."""
    survey.mirror(tmp_path)
    study.delete("timestamp::date = '2026-03-09'")
    study.update_forms("shortcode = 'renamed'")
    proxy.fault = lambda path: Fault(cut=0 if "after=" in path else 1500) if CSV in path else None
    with pytest.raises(TransferError):
        survey.mirror(tmp_path)
    assert_true(tmp_path)
    proxy.faults()
    proxy.paths()
    survey.mirror(tmp_path)
    assert_exact(tmp_path, study)
    assert "since=2026-03-01" not in next(
        path for path in proxy.requests if CSV in path
    )  # what was verified stays


def mirror_and_die(name: str, folder: Path, events: list[str], number: int) -> None:
    survey = Client(URL, KEY).survey(name)
    die_before(number, events, str(folder))
    survey.mirror(folder)


def test_killed_at_any_operation_on_a_file(
    study: Study,
    survey: Survey,
    proxy: Proxy,
    tmp_path: Path,
    randomness: random.Random,
    rounds: int,
) -> None:
    fork = multiprocessing.get_context("fork")
    before: dict[str, str] = {}
    for _ in range(rounds):
        for _ in range(8):
            study.change()
        last, events = randomness.choice([(100, ANY), (15, REPLACING)])
        run = fork.Process(
            target=mirror_and_die,
            args=(study.name, tmp_path, events, randomness.randrange(1, last)),
        )
        run.start()
        run.join()
        assert run.exitcode in (0, -signal.SIGKILL)
        after = study.digests()
        was_complete = assert_true(tmp_path) == after
        changes = survey.mirror(tmp_path)
        assert_exact(tmp_path, study)
        assert_unchanged(survey, proxy, tmp_path)
        if not was_complete:  # no run has reported these changes, so this one reports all
            assert {
                start for start in after if before.get(start, after[start]) != after[start]
            } <= {*changes.changed}
            assert {*changes.added} == after.keys() - before.keys()
            assert {*changes.removed} == before.keys() - after.keys()
        before = after


def assert_true(folder: Path) -> dict[str, str]:
    """Every file in `responses/` is complete, and the manifest describes only what is there.

    Returns the digests of the last run that was completed, also if it was killed before it could
    return.
    """
    for path in (folder / "responses").glob("*.csv.gz"):
        contents = gzip.decompress(path.read_bytes())
        assert contents.startswith(b"parent_surveyid,")
        assert contents.endswith(b"\n")
    if not (folder / "manifest.json").exists():
        return {}
    stored = json.loads((folder / "manifest.json").read_bytes())
    completed: dict[str, str] = stored["completed"]
    files = stored["files"]
    digests = {}
    for name, record in files.items():
        assert hash_of(folder / name) == record["sha256"]
        if name.startswith("responses/") and "form-data.csv" in files:
            digests[name] = digest_of(folder / name, read_forms(folder / "form-data.csv")[1])
            assert digests[name] == record["digest"]
    package = folder / "datapackage.json"
    for resource in json.loads(package.read_bytes())["resources"] if package.exists() else []:
        paths = [resource["path"]] if "hash" in resource else resource["path"]
        hashes = [hash_of(folder / path) for path in paths]
        assert resource.get("hash") in (None, f"sha256:{hashes[0]}")
    if stored["etag"]:
        assert sorted(digests.values()) == sorted(completed.values())
        assert {"form-data.csv", "codebook.csv"} <= files.keys()
    return completed
