"""An exact copy of a survey in a folder. `docs/sync.md` describes the algorithm."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._digests import VERSION, count_in_codebook, digest_of, read_forms
from ._errors import (
    MirrorChangingError,
    MirrorError,
    NoResponsesError,
    ServiceError,
    SurveyExportError,
    TransferError,
)
from ._files import open_gzip, open_locked, opened, put
from ._http import Http, Response, parsed
from ._manifest import MANIFEST, FileRecord, Manifest, interval_files
from ._models import Changes, key, surveys
from ._parameters import FILTERS, Parameter
from ._records import CSV, csv_records
from ._transfer import ROUNDS, Transfer, fetch

_LENGTHS = {"day": len("2026-03-01"), "hour": len("2026-03-01T05"), "month": len("2026-03")}
_START = re.compile(r"\d{4}-\d\d-\d\dT\d\d:00:00\.000Z", re.ASCII)
_FORM_DATA, _CODEBOOK = "form-data.csv", "codebook.csv"


def mirror(
    http: Http, survey: str, folder: Path, interval: str, filters: Mapping[str, list[str]]
) -> Changes:
    """Bring a folder up to date. See `Survey.mirror`."""
    if interval not in _LENGTHS:
        raise ValueError(f"interval must be one of {', '.join(_LENGTHS)}")
    for name in filters:
        if name not in FILTERS:
            known = ", ".join(FILTERS)
            raise ValueError(f"a mirror has no parameter {name}; its filters are {known}")

    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    check_is_ours(folder)
    with http.line.used(), open_locked(folder / ".lock") as lock:
        if lock is None:
            raise MirrorError(f"another process is updating {folder}")
        try:
            return _Run(http, survey, folder, interval, filters).run()
        finally:
            if is_new and [*folder.iterdir()] == [folder / ".lock"]:  # as when a key is refused
                shutil.rmtree(folder, ignore_errors=True)


def check_is_ours(folder: Path) -> None:
    """Raise MirrorError for a folder with files of others, or with a link in place of its own."""
    for name in (".lock", ".new", ".changes", "responses", MANIFEST):
        if (folder / name).is_symlink():
            raise MirrorError(
                f"{folder / name} is a link: a mirror changes nothing outside its folder"
            )

    if (folder / MANIFEST).exists():
        return
    others = {path.name for path in folder.iterdir()} - {".lock", ".new", "responses"}
    others |= {f"responses/{path.name}" for path in (folder / "responses").glob("*")}
    if others:
        raise MirrorError(
            f"{folder} is not a mirror, and has {min(others)}: choose an empty folder"
        )


@dataclass(frozen=True)
class _Digests:
    """A response of `/responses/digests`, with the digests of the intervals by their starts."""

    forms: str
    responses: int
    intervals: dict[str, str]
    etag: str | None


class _Run:
    """One run, while it has the folder's lock."""

    def __init__(
        self, http: Http, survey: str, folder: Path, interval: str, filters: Mapping[str, list[str]]
    ) -> None:
        self._filters = {name: sorted({*values}) for name, values in sorted(filters.items())}
        self._http = http
        self._folder = folder
        self._new = folder / ".new"  # files that are not verified yet
        self._length = _LENGTHS[interval]
        self._replaced: set[str] = set()
        copied: dict[str, Any] = {"url": http.url, "survey": survey}
        copied |= {"filters": self._filters, "interval": interval}
        self._manifest = Manifest.load(folder) or Manifest(account=None, **copied)
        self._manifest.check(folder, **copied)

    def run(self) -> Changes:
        if self._manifest.version != VERSION:
            self._manifest.files = {}
        if not self._manifest.is_of(self._folder):
            self._manifest.etag = None
        self._manifest.version = VERSION
        try:
            return self._rounds()
        except NoResponsesError:
            self._check_key()
            names = [each.name for each in self._http.json("/surveys", {}, surveys)]
            if self._manifest.survey not in names:
                raise
            self._install({}, [*interval_files(self._folder), _FORM_DATA, _CODEBOOK])
            return self._complete({}, None)
        finally:
            shutil.rmtree(self._new, ignore_errors=True)

    def _rounds(self) -> Changes:
        etag = self._manifest.etag
        try:
            digests = self._request_digests({"If-None-Match": etag} if etag else {})
        except ServiceError as error:
            if error.status == 304 and etag:
                self._manifest.save(self._folder)  # of a mirror that has no Data Package yet
                return Changes((), (), ())
            raise
        self._check_key()
        for _ in range(ROUNDS):
            is_verified = self._round(digests) and self._update_codebook(digests)
            before, digests = digests, self._request_digests({})
            if is_verified and digests == before:
                return self._complete(digests.intervals, digests.etag)
        raise MirrorChangingError(
            f"{self._folder} is not up to date: the survey changed in each of {ROUNDS} rounds; "
            "what is verified stays"
        )

    def _update_codebook(self, digests: _Digests) -> bool:
        """Replace the codebook. Return whether it has as many responses as the digests."""
        try:
            parameters = self._parameters(format="csv")
            with opened(self._new / _CODEBOOK, "w+b") as file:
                responses = fetch(
                    self._http, "/responses/questions", parameters, file, count_in_codebook
                )
        except ServiceError as error:
            if error.code != "export_too_large":
                raise
            self._install({}, [_CODEBOOK])
            return True

        if responses == digests.responses:
            self._install({_CODEBOOK: FileRecord.of(self._new / _CODEBOOK, None)}, [])
        return responses == digests.responses

    def _name_of(self, timestamp: str) -> str:
        return f"responses/{timestamp[: self._length]}.csv.gz"

    def _parameters(self, **more: Parameter) -> dict[str, Parameter]:
        return {"survey": self._manifest.survey, **self._filters, **more}

    def _request_digests(self, headers: Mapping[str, str]) -> _Digests:
        def read(response: Response) -> _Digests:
            etag = response.headers.get("ETag")
            return parsed(response, lambda body: self._digests(body, etag))

        parameters = self._parameters(interval=self._manifest.interval)
        return self._http.use("/responses/digests", parameters, read, headers)

    def _digests(self, body: dict[str, Any], etag: str | None) -> _Digests:
        if body["version"] != VERSION:
            raise SurveyExportError(
                "the service computes digests in a newer way: update survey-export"
            )
        intervals = {entry["start"]: entry["digest"] for entry in body["digests"]}
        if not all(map(_START.fullmatch, intervals)):
            raise ValueError("a start becomes the name of a file")
        responses = sum(entry["responses"] for entry in body["digests"])
        return _Digests(body["forms"], responses, intervals, etag)

    def _check_key(self) -> None:
        found = self._http.json("/key", {}, key)
        if self._manifest.account is not None:
            self._manifest.check(self._folder, account=found.email, limits=found.limits)
        self._manifest.account, self._manifest.limits = found.email, found.limits

    def _round(self, digests: _Digests) -> bool:
        """Download, verify and install what differs. Return whether all digests are verified."""
        shutil.rmtree(self._new, ignore_errors=True)
        (self._new / "responses").mkdir(parents=True)

        verified = {}
        stored = {name: record.digest for name, record in self._manifest.files.items()}
        if stored.get(_FORM_DATA) == digests.forms:
            with (self._folder / _FORM_DATA).open("rb") as file:
                _, shortcodes = read_forms(file)
        else:
            selection = {"survey": self._manifest.survey}
            with opened(self._new / _FORM_DATA, "w+b") as file:
                forms, shortcodes = fetch(
                    self._http, "/responses/form-data", selection, file, read_forms
                )
            if forms != digests.forms:
                return False
            verified[_FORM_DATA] = FileRecord.of(self._new / _FORM_DATA, forms)

        starts = {self._name_of(start): start for start in digests.intervals}
        wanted = {
            name for name, start in starts.items() if stored.get(name) != digests.intervals[start]
        }
        gone = [name for name in interval_files(self._folder) if name not in starts]
        for name in (*wanted, *gone):  # the manifest's digests may be those of other form data
            self._manifest.files.pop(name, None)
        try:
            for bounds in self._bounds(starts, wanted):
                for name in self._download(bounds, wanted):
                    with suppress(TransferError, ValueError):  # the file is not the service's
                        digest = digest_of(self._new / name, shortcodes)
                        if digest == digests.intervals[starts[name]]:
                            verified[name] = FileRecord.of(self._new / name, digest)
                            self._replaced.add(starts[name])
                    done = len(wanted & verified.keys())
                    self._http.line.show(f"{done:,} of {len(wanted):,} {self._manifest.interval}s")
        finally:  # what is verified stays, however the round ends
            is_verified = wanted <= verified.keys()
            # A response of an interval that is gone may have moved to one that is not verified.
            self._install(verified, gone if is_verified else [])
        return is_verified

    def _bounds(
        self, starts: Mapping[str, str], wanted: set[str]
    ) -> Iterator[dict[str, Parameter]]:
        """Yield `since` and `until` for each group of neighbouring intervals that are wanted."""
        bounds: list[Parameter] = [*starts.values(), self._filters.get("until")]
        bounds[0] = self._filters.get("since", bounds[0])
        intervals = zip(starts, bounds, bounds[1:], strict=False)
        for is_wanted, group in itertools.groupby(intervals, lambda each: each[0] in wanted):
            neighbours = [*group]
            if is_wanted:
                yield {"since": neighbours[0][1], "until": neighbours[-1][2]}

    def _download(self, bounds: Mapping[str, Parameter], wanted: set[str]) -> Iterator[str]:
        """Write a file for each wanted interval within the bounds. Yield its name at its end."""

        def name_of(record: bytes) -> str:
            return self._name_of(CSV.keys(record)[0][0])

        blocks = Transfer(self._http, CSV, self._parameters(**bounds)).blocks()
        header = next(blocks)
        for name, records in itertools.groupby(csv_records(blocks), name_of):
            if name in wanted:  # a response in another interval is new: it is in the next digests
                with open_gzip(self._new / name) as file:
                    file.write(header)
                    file.writelines(records)
                yield name

    def _install(self, files: Mapping[str, FileRecord], gone: Iterable[str]) -> None:
        """Move verified files into the folder, and delete others.

        While that is done, the manifest describes none of them.
        """
        if not files and not gone:
            return

        self._manifest.etag = None
        for name in (*files, *gone):
            self._manifest.files.pop(name, None)
        self._manifest.save(self._folder)

        (self._folder / "responses").mkdir(exist_ok=True)
        for name in files:
            put(self._new / name, self._folder / name)
        for name in gone:
            (self._folder / name).unlink(missing_ok=True)

        self._manifest.files.update(files)
        self._manifest.save(self._folder)

    def _complete(self, digests: dict[str, str], etag: str | None) -> Changes:
        """Record that every digest is that of a file. Return what changed since the last time."""
        before = self._manifest.completed
        self._manifest.completed = digests
        self._manifest.etag = etag
        self._manifest.save(self._folder)

        def differs(start: str) -> bool:
            return digests[start] != before[start] or start in self._replaced

        return Changes(
            added=tuple(start for start in digests if start not in before),
            changed=tuple(start for start in digests if start in before and differs(start)),
            removed=tuple(start for start in before if start not in digests),
        )
