"""The manifest of a mirror: which files are proven to hold what, also as a Data Package."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ._digests import CODEBOOK_COLUMNS, FORM_COLUMNS
from ._errors import MirrorError
from ._files import replace
from ._models import from_json
from ._records import PRIMARY_KEY, RESPONSE_COLUMNS

_FORMAT = 1
MANIFEST = "manifest.json"
PACKAGE = "datapackage.json"
_NAME = re.compile(
    r"form-data\.csv|codebook\.csv|responses/\d{4}-\d\d(-\d\d(T\d\d)?)?\.csv\.gz", re.ASCII
)
_TABLES = {"responses": RESPONSE_COLUMNS, "form-data": FORM_COLUMNS, "codebook": CODEBOOK_COLUMNS}
_KEYS = {"responses": [*PRIMARY_KEY], "form-data": ["surveyid"], "codebook": ["column"]}
_TYPES = {
    **dict.fromkeys(["timestamp", "survey_created", "first", "last"], "datetime"),
    **dict.fromkeys(["question_idx", "version", "responses", "participants"], "integer"),
}
_CSV = {
    "format": "csv",
    "mediatype": "text/csv",
    "encoding": "utf-8",
    "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "lineTerminator": "\n"},
}


@dataclass
class FileRecord:
    """A file as it was verified. `digest` is that of its records, None for the codebook."""

    digest: str | None
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path, digest: str | None) -> FileRecord:
        """Return the record of a file with this digest."""
        return cls(digest, path.stat().st_size, _sha256(path))

    def matches(self, path: Path) -> bool:
        """Return whether the file is there with the same contents, whatever its time."""
        return path.is_file() and path.stat().st_size == self.size and _sha256(path) == self.sha256


@dataclass
class Manifest:
    """What `manifest.json` has.

    Attributes:
        url: the service's URL; with `account`, `limits`, `survey`, `filters` and `interval`, what
            the mirror copies.
        limits: what the key sees, as `/key` has it; None for everything of the account, as in older
            manifests.
        version: the version of the computation of digests.
        etag: the ETag of the last response to `/responses/digests`, if all its digests were
            verified.
        files: the verified files, by their names in the folder.
        completed: the digests of the last run that was completed, by the start of their interval.
    """

    url: str
    account: str | None
    survey: str
    filters: dict[str, list[str]]
    interval: str
    limits: dict[str, Any] | None = None
    version: int | None = None
    etag: str | None = None
    files: dict[str, FileRecord] = field(default_factory=dict)
    completed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Manifest | None:
        """Return what a run has written. Raises MirrorError if that is damaged."""
        path = folder / MANIFEST
        try:
            stored = json.loads(path.read_bytes())
            if stored.pop("manifest") != _FORMAT:
                raise MirrorError(f"{path} was written by another version of survey-export")

            records = stored.pop("files").items()
            files = {name: from_json(FileRecord, record) for name, record in records}
            if not all(map(_NAME.fullmatch, files)):
                raise ValueError("a name that leads out of the folder")
            if not isinstance(stored["completed"], dict):
                raise ValueError("the digests of the last run are not by their starts")
            if not re.fullmatch("[!-~]*", stored["etag"] or ""):
                raise ValueError("an ETag that no header has")
            return cls(**stored, files=files)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError, AttributeError):
            raise MirrorError(
                f"{path} is damaged: delete the folder, and the next run downloads everything"
            ) from None

    def check(self, folder: Path, **expected: object) -> None:
        """Raise MirrorError if the mirror is that of another survey, another account and so on."""
        for name, value in expected.items():
            if getattr(self, name) != value:
                found = f"{name} {getattr(self, name)!r}, not {value!r}"
                raise MirrorError(f"{folder} is the mirror of {found}: choose another folder")

    def is_of(self, folder: Path) -> bool:
        """Return whether the folder has exactly these files. Forget those that were changed."""
        names = self.files.keys() | interval_files(folder)
        self.files = {
            name: record for name, record in self.files.items() if record.matches(folder / name)
        }
        return names == self.files.keys()

    def save(self, folder: Path) -> None:
        """Replace `manifest.json` and `datapackage.json`.

        They are complete at any time, also after a power failure, and list only files that are in
        the folder as they are described.
        """
        _save(folder / MANIFEST, {"manifest": _FORMAT, **asdict(self)})
        _save(folder / PACKAGE, self._package())

    def _package(self) -> dict[str, Any] | None:
        """Return the files, if any, as a Data Package (https://specs.frictionlessdata.io)."""
        resources = [resource for name in _TABLES if (resource := self._resource(name))]
        if not resources:
            return None
        name = re.sub("[^a-z0-9]+", "-", self.survey.lower()).strip("-") or "survey"
        sources = [{"title": self.survey, "path": self.url}]
        return {"name": name, "title": self.survey, "sources": sources, "resources": resources}

    def _resource(self, name: str) -> dict[str, Any] | None:
        paths = sorted(path for path in self.files if path.startswith(name))
        if not paths:
            return None
        if name == "responses":
            data: dict[str, Any] = {"path": paths, "compression": "gz"}
        else:
            record = self.files[paths[0]]
            data = {"path": paths[0], "bytes": record.size, "hash": f"sha256:{record.sha256}"}
        fields = [{"name": each, "type": _TYPES.get(each, "string")} for each in _TABLES[name]]
        schema = {"fields": fields, "primaryKey": _KEYS[name]}
        return {"name": name, **data, "profile": "tabular-data-resource", **_CSV, "schema": schema}


def interval_files(folder: Path) -> list[str]:
    """Return the names of the intervals' files.

    Raises MirrorError for any other file that a reader would take for one.
    """
    names = [f"responses/{path.name}" for path in (folder / "responses").glob("*.csv.gz")]
    for name in names:
        if not _NAME.fullmatch(name):
            path = folder / name
            raise MirrorError(f"{path} is not part of the mirror, but looks like it: remove it")
    return names


def _save(path: Path, contents: dict[str, Any] | None) -> None:
    """Replace a file by JSON if it has something else, or delete it."""
    text = f"{json.dumps(contents, ensure_ascii=False, indent=1)}\n".encode()
    if contents is None:
        path.unlink(missing_ok=True)
    elif not path.exists() or path.read_bytes() != text:
        new = path.parent / ".new" / path.name
        new.parent.mkdir(exist_ok=True)
        replace(path, new, text)


def _sha256(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()
