"""Runs that fail or are killed, and the next ones."""

import multiprocessing
import signal
from contextlib import suppress
from typing import Any

import pytest

from mirrors import (
    ANY,
    CSV,
    DIGESTS,
    REPLACING,
    assert_exact,
    assert_responses_exact,
    assert_true,
    assert_unchanged,
    die_before,
    files_of,
)
from service import KEY, URL, Fault
from survey_export import Client, MirrorChangingError, ServiceError, TransferError


def test_failed_run_loses_nothing(study, survey, proxy, tmp_path):
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


def test_broken_transfer_after_a_form_was_renamed(study, survey, proxy, tmp_path):
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


FILTERS = {
    "since": "2026-03-03T10:00:00Z",
    "until": "2026-03-09T12:00:00.5+02:00",
    "question_ref": "water",
}


@pytest.mark.parametrize("kind", ["day", "hour", "month", "filters"])
def test_random_rounds(study, survey, proxy, tmp_path, randomness, rounds, kind):
    """Whatever is cut is requested again.

    A run that is killed anywhere, or during which responses change, and change back between two
    requests, is completed by the next one.
    """
    fork = multiprocessing.get_context("fork")
    interval: Any = "day" if kind == "filters" else kind
    filters = FILTERS if kind == "filters" else {}
    length = {"hour": 13, "day": 10, "month": 7}[interval]

    def mirror_and_die(number, events):
        die_before(number, events, str(tmp_path))
        Client(URL, KEY).survey(study.name).mirror(tmp_path, interval, **filters)

    def kill():
        last, events = randomness.choice([(100, ANY), (15, REPLACING)])
        run = fork.Process(target=mirror_and_die, args=(randomness.randrange(1, last), events))
        run.start()
        run.join()
        assert run.exitcode in (0, -signal.SIGKILL)

    def change(_):
        ways = [study.mark, study.unmark, study.unmark, study.change]
        if randomness.random() < 0.5:
            randomness.choice(ways)()

    def mirror_while_it_changes():
        proxy.fault = change
        with suppress(MirrorChangingError):
            survey.mirror(tmp_path, interval, **filters)
            assert_responses_exact(tmp_path, study, **filters)  # no digest covers the codebook
        study.add(["2026-03-05"], 40)  # so the codebook is downloaded again

    def cut(_):
        return Fault(cut=randomness.randrange(6000)) if randomness.random() < 0.1 else None

    for number in range(rounds * 2 if kind == "day" else rounds // 2):
        study.add(["2026-03-03", "2026-03-09"], 40)
        for _ in range(randomness.randrange(8)):
            study.change()
        [lambda: None, kill, mirror_while_it_changes][number % 3]()
        before, after = assert_true(tmp_path), study.digests(interval=interval, **filters)
        proxy.fault = cut
        changes = survey.mirror(tmp_path, interval, **filters)
        assert_exact(tmp_path, study, **filters)
        names = {f"{start[:length]}.csv.gz" for start in after}
        assert {path.name for path in (tmp_path / "responses").iterdir()} == names
        assert changes.added == tuple(start for start in after if start not in before)
        assert changes.removed == tuple(start for start in before if start not in after)
        changed = {start for start in after if before.get(start, after[start]) != after[start]}
        assert changed <= {*changes.changed}
        assert {*changes.changed} == changed or number % 3
        assert_unchanged(survey, proxy, tmp_path, interval, **dict(reversed(filters.items())))
