"""A key that sees less than its account has."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mirrors import assert_exact, assert_unchanged, files_of
from service import LIMITED_KEY, URL, Proxy, Study
from survey_export import Client, MirrorError, Survey
from test_download import interrupt


@pytest.fixture
def limited(proxy: Proxy, study: Study) -> Iterator[Survey]:
    """The study, as the key sees it."""
    study.key = LIMITED_KEY
    with Client(URL, LIMITED_KEY) as client:
        yield client.survey(study.name)


def test_key(limited: Survey) -> None:
    limits = limited.client.key().limits
    assert limits
    assert re.fullmatch(r"[0-9a-f]{8}", limits["pseudonyms"])
    assert limits == {
        "v": 1,
        "metadata": ["note"],
        "pageid": False,
        "pseudonyms": limits["pseudonyms"],
    }


def test_mirror(
    study: Study, limited: Survey, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    folder = tmp_path / "limited"
    limited.mirror(folder)
    assert_exact(folder, study)
    assert_unchanged(limited, proxy, folder)
    assert json.loads((folder / "manifest.json").read_bytes())["limits"]["metadata"] == ["note"]
    study.change()
    limited.mirror(folder)
    assert_exact(folder, study)

    survey.mirror(tmp_path / "whole")
    for other, mixed, message in [
        (survey, folder, r"of limits \{.*\}, not None: choose"),
        (limited, tmp_path / "whole", r"of limits None, not \{.*\}: choose"),
    ]:
        before = files_of(mixed)
        with pytest.raises(MirrorError, match=message):
            other.mirror(mixed)
        assert files_of(mixed) == before


def test_download_does_not_continue_that_of_another_key(
    study: Study, limited: Survey, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    # They follow the pseudonyms: otherwise the count would be wrong.
    study.update("userid = 'z' || userid")
    interrupt(survey, proxy, tmp_path / "r.csv.gz")
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    limited.download(tmp_path / "r.csv.gz")
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()) == study.export()
