"""What must hold of a mirror's folder, and processes that end at any point."""

import gzip
import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from service import Proxy, Study
from survey_export import Survey
from survey_export._digests import digest_of, read_forms

DIGESTS, CSV, CODEBOOK, FORM_DATA = [
    f"/responses/{name}" for name in ("digests", "csv", "questions", "form-data")
]


REPLACING = ["os.rename", "os.remove"]
ANY = ["open", "os.link", "os.mkdir", "os.rmdir", *REPLACING]


def die_before(number: int, events: list[str], path: str) -> None:
    """Kill this process before so many operations on files whose names have this text are done."""
    left = iter(range(1, number))

    def count(event: str, details: object) -> None:
        if event in events and path in str(details) and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def files_of(folder: Path) -> dict[str, str]:
    """Return all files with what a run that changes nothing must keep: bytes and times."""
    return {
        str(path.relative_to(folder)): f"{hash_of(path)} {path.stat().st_mtime_ns}"
        for path in folder.rglob("*")
        if path.is_file()
    }


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def assert_responses_exact(folder: Path, study: Study, **filters: str) -> None:
    header, _, records = study.export(**filters).partition(b"\n")
    files = [
        gzip.decompress(path.read_bytes()) for path in sorted((folder / "responses").iterdir())
    ]
    assert {file.partition(b"\n")[0] for file in files} <= {header}
    assert b"".join(file.partition(b"\n")[2] for file in files) == records
    assert (folder / "form-data.csv").read_bytes() == study.export(FORM_DATA)


def assert_exact(folder: Path, study: Study, **filters: str) -> None:
    assert_responses_exact(folder, study, **filters)
    assert (folder / "codebook.csv").read_bytes() == study.export(CODEBOOK, format="csv", **filters)
    assert sorted(path.name for path in folder.iterdir()) == [
        *(".lock", "codebook.csv", "datapackage.json", "form-data.csv", "manifest.json"),
        *(["responses"] if (folder / "responses").exists() else []),
    ]


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
    for name, record in files.items():
        assert hash_of(folder / name) == record["sha256"]
    responses = {name: files[name]["digest"] for name in files if name.startswith("responses/")}
    if "form-data.csv" in files:
        with (folder / "form-data.csv").open("rb") as file:
            _, shortcodes = read_forms(file)
        for name, digest in responses.items():
            assert digest_of(folder / name, shortcodes) == digest
    package = folder / "datapackage.json"
    for resource in json.loads(package.read_bytes())["resources"] if package.exists() else []:
        paths = [resource["path"]] if "hash" in resource else resource["path"]
        hashes = [hash_of(folder / path) for path in paths]
        assert resource.get("hash") in (None, f"sha256:{hashes[0]}")
    if stored["etag"]:
        assert sorted(responses.values()) == sorted(completed.values())
        assert {"form-data.csv", "codebook.csv"} <= files.keys()
    return completed


def assert_unchanged(
    survey: Survey, proxy: Proxy, folder: Path, interval: Any = "day", **filters: Any
) -> None:
    """A survey that has not changed costs one request."""
    proxy.faults()
    proxy.requests.clear()
    before = files_of(folder)
    changes = survey.mirror(folder, interval, **filters)
    assert proxy.paths() == [DIGESTS]
    assert (changes.added, changes.changed, changes.removed) == ((), (), ())
    assert files_of(folder) == before
