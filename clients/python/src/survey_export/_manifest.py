"""The manifest of a mirror: which files are proven to hold what."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ._errors import MirrorError
from ._files import opened, put
from ._models import from_json

_FORMAT = 1
MANIFEST = "manifest.json"
_NAME = re.compile(r"form-data\.csv|codebook\.csv|responses/[\dT-]+\.csv\.gz", re.ASCII)


@dataclass
class FileRecord:
    """A file as it was when it was verified. `digest` is that of the records in it, null for the codebook."""

    digest: str | None
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path, digest: str | None) -> FileRecord:
        """Return the record of a file with this digest."""
        return cls(digest, path.stat().st_size, _sha256(path))

    def matches(self, path: Path) -> bool:
        """Return whether the file is there and has its contents, of which any bit can change without its time."""
        return path.is_file() and path.stat().st_size == self.size and _sha256(path) == self.sha256


@dataclass
class Manifest:
    """What `manifest.json` has.

    Attributes:
        url: the service's URL; with `account`, `limits`, `survey`, `filters` and `interval`, what the mirror copies.
        limits: what the key sees, as `/key` has it; None for everything of the account, as in older manifests.
        version: the version of the computation of digests.
        etag: the ETag of the last response to `/responses/digests`, if all its digests were verified.
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

    def load(self, folder: Path) -> None:
        """Load what a run has written. Raises MirrorError unless it is a mirror of the same."""
        path = folder / MANIFEST
        try:
            stored = json.loads(path.read_bytes())
            if stored.pop("manifest") != _FORMAT:
                raise MirrorError(f"{path} was written by another version of survey-export")
            files = {name: from_json(FileRecord, record) for name, record in stored.pop("files").items()}
            found = Manifest(**stored, files=files)
            if not all(map(_NAME.fullmatch, files)):
                raise ValueError("a name that leads out of the folder")
        except FileNotFoundError:
            return
        except (ValueError, TypeError, LookupError, AttributeError):
            raise MirrorError(f"{path} is damaged: delete the folder, and the next run downloads everything") from None
        for name in ("url", "survey", "filters", "interval"):
            found.check(folder, name, getattr(self, name))
        self.__dict__.update(found.__dict__)

    def check(self, folder: Path, name: str, value: object) -> None:
        """Raise MirrorError if the mirror is that of another survey, another account and so on."""
        if getattr(self, name) != value:
            raise MirrorError(f"{folder} is the mirror of another {name}: {getattr(self, name)!r}, not {value!r}")

    def check_limits(self, folder: Path, limits: dict[str, Any] | None) -> None:
        """Raise MirrorError if the mirror was made with a key that sees something else."""
        if self.limits != limits:
            before, now = (value and json.dumps(value, ensure_ascii=False) for value in (self.limits, limits))
            raise MirrorError(
                f"{folder} is the mirror of a key with other limits: {before or 'none'}, not {now or 'none'}; use "
                "a key with the same limits, or another folder"
            )

    def save(self, folder: Path) -> None:
        """Replace `manifest.json`, which is complete at any time, also after a power failure."""
        text = json.dumps({"manifest": _FORMAT, **asdict(self)}, ensure_ascii=False, indent=1)
        new = folder / ".new" / MANIFEST
        new.parent.mkdir(exist_ok=True)
        with opened(new, "wb") as file:
            file.write(f"{text}\n".encode())
        put(new, folder / MANIFEST)


def _sha256(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()
