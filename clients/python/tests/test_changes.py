"""What runs of `mirror` changed, row by row."""

import itertools
import multiprocessing
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from shutil import copytree
from typing import TypeAlias

import pytest

from mirrors import ANY, die_before
from service import Study, records_of
from survey_export import PRIMARY_KEY, Change, MirrorError

Table: TypeAlias = dict[tuple[str | None, ...], dict[str, str | None]]
"""Rows by their primary keys."""


def table_of(study: Study) -> Table:
    header, *records = records_of(study.export())
    rows = [dict(zip(map(str, header), record, strict=True)) for record in records]
    return {tuple(row[name] for name in PRIMARY_KEY): row for row in rows}


def apply(change: Change, table: Table) -> None:
    if change.kind == "deleted":
        table.pop(change.key, None)
    else:
        table[change.key] = change.row


class StoppedError(Exception):
    """The program that reads the changes ends."""


@pytest.mark.parametrize("has_links", [True, False])
def test_a_table_stays_exact(study, survey, tmp_path, randomness, rounds, has_links, monkeypatch):
    """Also if the program ends before it confirms changes, and the survey changes once more."""
    if not has_links:
        monkeypatch.setattr("os.link", lambda *_: Path("/dev/full").write_text("x"))
    table: Table = {}
    confirmed: Table = {}
    is_confirmed = True
    limits = [
        randomness.choice([9999, randomness.randrange(200), randomness.randrange(20)])
        for _ in range(rounds * 2)
    ]
    for number, limit in enumerate([9, 9, *limits, 9999]):
        for _ in range(randomness.randrange(4)):
            study.change()
        survey.mirror(tmp_path)
        found: list[Change] = []
        with suppress(StoppedError), survey.changes(tmp_path) as changes:
            for change in itertools.islice(changes, limit):
                found.append(change)
                apply(change, table)
            if number % 2 and len(found) == limit:
                raise StoppedError
        if len(found) == limit:
            is_confirmed = False
            continue
        after = table_of(study)
        assert table == after
        keys = {
            "inserted": after.keys() - confirmed.keys(),
            "deleted": confirmed.keys() - after.keys(),
            "updated": {key for key in after if confirmed.get(key, after[key]) != after[key]},
        }
        for kind, expected in keys.items():
            of_kind = [change.key for change in found if change.kind == kind]
            assert {*of_kind} >= expected
            assert not is_confirmed or sorted(of_kind) == sorted(map(tuple, expected))
        times = [change.row["timestamp"][:-1] for change in found if change.row["timestamp"]]
        assert times == sorted(times)
        confirmed, is_confirmed = after, True
    study.delete()
    survey.mirror(tmp_path)
    for kinds in ({"deleted"}, set()):
        with survey.changes(tmp_path) as changes:
            found = [*changes]
        assert {change.kind for change in found} == kinds
    assert len([*(tmp_path / ".changes").iterdir()]) == 2


def test_a_process_that_is_killed_confirms_nothing(study, survey, tmp_path):
    survey.mirror(tmp_path / "0", "month")
    fork = multiprocessing.get_context("fork")

    def start(folder, number):
        die_before(number, ANY, "/.changes")
        survey.changes(folder).__enter__()
        os._exit(0)

    for number in itertools.count(1):
        folder = Path(copytree(tmp_path / "0", tmp_path / str(number)))
        process = fork.Process(target=start, args=(folder, number))
        process.start()
        process.join()
        with survey.changes(folder) as changes:
            assert len([*changes]) == 150
        if process.exitcode == 0:
            break
    assert number > 5


def test_a_copy_without_empty_folders_knows_what_is_confirmed(study, survey, tmp_path):
    """Git, for example, stores no empty folders."""
    folder = tmp_path / "0"

    def changed(*, confirms):
        nonlocal folder
        survey.mirror(folder)
        with suppress(StoppedError), survey.changes(folder) as changes:
            kinds = Counter(change.kind for change in changes)
            if not confirms:
                raise StoppedError
        folder = Path(copytree(folder, folder.with_name(f"{folder.name}0")))
        for path in (folder / ".changes").iterdir():
            if path.is_dir() and not [*path.iterdir()]:
                path.rmdir()
        return kinds

    assert changed(confirms=False) == {"inserted": 150}
    assert changed(confirms=True) == {"inserted": 150}
    study.delete()
    assert changed(confirms=False) == {"deleted": 150}
    assert changed(confirms=True) == {"deleted": 150}
    study.add(["2026-03-01"], 3)
    assert changed(confirms=True) == {"inserted": 3}


def test_refuses_folders_without_the_survey(demo, tmp_path):
    folder = tmp_path / "data"

    def assert_refused(message, survey=demo):
        with pytest.raises(MirrorError, match=message), survey.changes(folder) as changes:
            next(changes)

    folder.mkdir()
    assert_refused("run mirror first")
    demo.mirror(folder, "month")
    assert_refused("is the mirror of survey", demo.client.survey("another"))
    with demo.changes(folder) as changes:
        with pytest.raises(MirrorError, match="another process"):
            demo.mirror(folder, "month")
        assert_refused("another process")
        assert len([*changes]) == demo.summary().responses
    last = max((folder / "responses").iterdir())
    last.write_bytes(last.read_bytes() + b"x")
    assert_refused("run mirror first")
    demo.mirror(folder, "month")
    assert_refused("is damaged: delete .*changes, and all responses are inserted again")
    next((folder / ".changes").glob("*/*.csv.gz")).unlink()
    assert_refused("versions.json is damaged")
    for damaged in ("", "[]", "{}", '["x"]'):
        (folder / ".changes" / "versions.json").write_text(damaged)
        assert_refused("versions.json is damaged: delete .*changes, and all")
    last.unlink()
    assert_refused("run mirror first")
