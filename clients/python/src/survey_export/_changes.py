"""The responses that runs of `mirror` changed, until they are confirmed."""

from __future__ import annotations

import filecmp
import gzip
import heapq
import itertools
import json
import os
import shutil
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import IO, cast

from ._errors import MirrorError, TransferError
from ._files import open_locked, replace
from ._manifest import Manifest
from ._mirror import check_is_ours
from ._models import Change
from ._records import CSV, PRIMARY_KEY, RESPONSE_COLUMNS, Key, cells, csv_table, text_of


@contextmanager
def changes(folder: Path, url: str, survey: str) -> Generator[Iterator[Change]]:
    """Yield what changed since the confirmed version. See `Survey.changes`."""
    check_is_ours(folder)
    with open_locked(folder / ".lock") as lock:
        if lock is None:
            raise MirrorError(f"another process is using {folder}")
        manifest = Manifest.load(folder)
        if manifest:
            manifest.check(folder, url=url, survey=survey)
        if not manifest or not manifest.is_of(folder):
            raise MirrorError(f"{folder} is not as a run of mirror leaves it: run mirror first")

        state = folder / ".changes" / "versions.json"
        versions = _add_version(state, folder / "responses")
        is_read = False

        def read() -> Iterator[Change]:
            nonlocal is_read
            for name in sorted({*itertools.chain(*_files(versions).values())}):
                yield from _compare([version / name for version in versions])
            is_read = True

        yield read()

        if is_read:
            _keep(state, versions[-1:])


def _add_version(state: Path, responses: Path) -> list[Path]:
    """Return the folders of the versions: the confirmed one, later ones, and the present one.

    A file has what each version contains, since a copy of the mirror can lack empty folders, or
    files. At first, nothing is confirmed: version 0 is empty.
    """
    folder = state.parent
    folder.mkdir(exist_ok=True)
    try:
        if state.exists():
            stored = json.loads(state.read_bytes())
        else:  # at first, or after an earlier client, which had folders alone
            found = sorted(folder.glob("[0-9]*"), key=lambda version: int(version.name))
            stored = _files(found) or {"0": []}
        versions = [folder / str(int(number)) for number in stored]
        if stored != _files(versions):
            raise ValueError("a file is missing")
        present = folder / str(int(versions[-1].name) + 1)
    except (ValueError, LookupError, TypeError):
        raise _damage(state) from None

    _keep(state, versions)  # before there is a folder, which alone would count as confirmed
    present.mkdir()
    for path in responses.glob("*.csv.gz"):
        try:
            os.link(path, present / path.name)
        except OSError:  # a file system without hard links
            shutil.copyfile(path, present / path.name)
    _keep(state, [*versions, present])
    return [*versions, present]


def _files(versions: list[Path]) -> dict[str, list[str]]:
    """Return the names of the files of each version."""
    return {
        version.name: sorted(path.name for path in version.glob("*.csv.gz")) for version in versions
    }


def _keep(state: Path, versions: list[Path]) -> None:
    """Store which files the versions have, and remove all others."""
    replace(state, state.with_name("new"), json.dumps(_files(versions)).encode())
    for path in {*state.parent.iterdir()} - {state, *versions}:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _compare(versions: list[Path]) -> Iterator[Change]:
    """Yield what changed in a file. The last version is the present one. Any can lack the file."""
    pairs = itertools.pairwise(versions)
    files = [versions[0], *(file for before, file in pairs if not _are_equal(before, file))]
    if len(files) == 1:
        return

    timestamp = itemgetter(0)
    records = heapq.merge(*itertools.starmap(_records, enumerate(files)), key=timestamp)
    for _, at_one_time in itertools.groupby(records, timestamp):
        found: dict[Key, dict[int, bytes]] = {}
        for _, key, version, record in at_one_time:
            found.setdefault(key, {})[version] = record

        for by_version in found.values():
            if len(by_version) < len(files) or len({*by_version.values()}) > 1:
                yield _change(by_version, len(files) - 1)


def _change(by_version: dict[int, bytes], present: int) -> Change:
    last = max(by_version)
    if last < present:
        kind = "deleted"
    elif 0 in by_version:
        kind = "updated"
    else:
        kind = "inserted"

    row = dict(zip(RESPONSE_COLUMNS, map(text_of, cells(by_version[last])), strict=True))
    return Change(kind, tuple(row[name] or "" for name in PRIMARY_KEY), row)


def _are_equal(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other) or filecmp.cmp(one, other, shallow=False)
    return one.exists() == other.exists()


def _records(version: int, path: Path) -> Iterator[tuple[str, Key, int, bytes]]:
    """Yield each response: its timestamp, its position, the number of its version, its bytes."""
    if not path.exists():
        return
    try:
        with cast(IO[bytes], gzip.open(path)) as file:
            for record in csv_table(file, RESPONSE_COLUMNS):
                [key] = CSV.keys(record)
                yield key[0], key, version, record
    except (TransferError, EOFError, OSError, zlib.error):
        raise _damage(path) from None


def _damage(path: Path) -> MirrorError:
    folder = next(folder for folder in path.parents if folder.name == ".changes")
    return MirrorError(
        f"{path} is damaged: delete {folder}, "
        "and all responses are inserted again, into an empty table"
    )
