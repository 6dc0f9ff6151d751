import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from service import LIMITED_KEY, URL, Fault, Proxy, Study
from survey_export import (
    Client,
    NoResponsesError,
    ServiceError,
    Survey,
    SurveyExportError,
    TransferError,
)

RESUMABLE = ["r.csv", "r.csv.gz", "r.ndjson", "r.ndjson.gz"]


def of_service(study: Study, name: str, **parameters: Any) -> bytes:
    return study.export(f"/responses/{name.split('.')[1]}", **parameters)


def assert_whole(path: Path, study: Study, **parameters: Any) -> None:
    """The file is what the service has."""
    contents = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    assert contents == of_service(study, path.name, **parameters)


def interrupt(survey: Survey, proxy: Proxy, path: Path) -> None:
    """Download the beginning of a file."""
    proxy.fault = lambda request: (
        Fault(cut=0 if "after=" in request else 3000) if "/responses/" in request else None
    )
    with pytest.raises(TransferError):
        survey.download(path)
    proxy.faults()


@pytest.mark.parametrize("name", RESUMABLE)
def test_resumes_any_number_of_times(study, survey, proxy, tmp_path, name, randomness):
    study.add(["2026-03-05"], 3000)
    cuts = [randomness.randrange(300), *(randomness.randrange(4000, 6000) for _ in range(9))]
    proxy.faults(*(Fault(cut=cut) for cut in cuts), path="/responses/")
    survey.download(tmp_path / name)
    assert_whole(tmp_path / name, study)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert len([path for path in proxy.paths() if "/responses/" in path]) == 11


@pytest.mark.parametrize("name", ["r.csv", "r.ndjson.gz"])
def test_every_length_of_a_partial_file(study, survey, proxy, tmp_path, name):
    """Wherever a program was stopped, in quotes or in the header, the file is continued."""
    interrupt(survey, proxy, tmp_path / name)
    [part] = tmp_path.iterdir()
    whole = of_service(study, name)
    some = range(3000, len(whole), len(whole) // 6)
    for length in (0, 1, 100, whole.index(b"\n") + 1, *some, len(whole)):
        part.write_bytes(whole[:length])
        proxy.requests.clear()
        survey.download(tmp_path / name)
        assert_whole(tmp_path / name, study)
        assert [found.name for found in tmp_path.iterdir()] == [name]
        assert length < 3000 or "after=" in next(
            request for request in proxy.requests if "/responses/" in request
        )


def test_responses_deleted_while_it_runs(study, survey, proxy, tmp_path):
    """The file is not too short: the responses are counted again. It has what was requested."""

    def delete_last(path):
        if "after=" in path:
            study.delete("timestamp >= '2026-03-12'")
            return None
        return Fault(cut=1500) if "/responses/csv" in path else None

    proxy.fault = delete_last
    parameters = {"metadata": ["note", 'a,\n"b"']}
    survey.download(tmp_path / "r.csv", bom=True, safe=True, **parameters)
    assert_whole(tmp_path / "r.csv", study, bom="true", safe="true", **parameters)


def test_failed_download_keeps_the_earlier_file_and_its_own(study, survey, proxy, tmp_path):
    """A download with another selection, or with a limited key, does not continue it."""
    # They follow the pseudonyms of the limited key: otherwise the count would be wrong.
    study.update("userid = 'z' || userid")
    (tmp_path / "r.csv").write_bytes(b"earlier")
    interrupt(survey, proxy, tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b"earlier"
    survey.download(tmp_path / "r.csv", since="2026-03-05")
    assert_whole(tmp_path / "r.csv", study, since="2026-03-05")
    Client(URL, LIMITED_KEY).survey(study.name).download(tmp_path / "r.csv")
    study.key = LIMITED_KEY
    assert_whole(tmp_path / "r.csv", study)
    assert len([*tmp_path.iterdir()]) == 2  # the file, and what the first selection can continue


def test_empty_selection(survey, study, tmp_path):
    for name in RESUMABLE:
        survey.download(tmp_path / name, userid="nobody")
        assert_whole(tmp_path / name, study, userid="nobody")


def test_refuses_other_endings_formats_and_surveys(client, survey, tmp_path):
    for name in ("r", "r.txt", "r.gz", "r.xlsx.gz"):
        with pytest.raises(ValueError, match="must end in"):
            survey.download(tmp_path / name)
    for name in ("r.csv", "r.ndjson.gz", "r.xlsx"):
        with pytest.raises(NoResponsesError):
            client.survey("no such survey").download(tmp_path / name)
    with pytest.raises(ServiceError, match="layout"):
        survey.download(tmp_path / "r.ndjson", layout="wide")
    assert [*tmp_path.iterdir()] == []


def test_numbers_of_any_length(study, survey, proxy, tmp_path):
    """Python does not parse an integer of more than 4,300 digits."""
    number = "7" * 5000
    study.update(f"metadata = jsonb_build_object('long', {number}, 'short', 7, 'ratio', 1.10)")
    study.update_forms(f"metadata = jsonb_build_object('long', {number})")
    proxy.faults(Fault(cut=20_000), path="/responses/ndjson")
    assert {str(row["metadata"]["long"]) for row in survey.rows()} == {number}
    metadata = next(survey.rows())["metadata"]
    assert metadata == {"long": Decimal(number), "short": 7, "ratio": 1.1}
    assert {survey.name} <= {other.name for other in survey.client.surveys()}
    proxy.faults(Fault(cut=20_000), path="/responses/ndjson")
    survey.download(tmp_path / "r.ndjson")
    assert_whole(tmp_path / "r.ndjson", study)


def test_rows(study, survey, proxy, randomness):
    expected = [json.loads(line) for line in study.export("/responses/ndjson").splitlines()]
    proxy.faults(*[Fault(cut=randomness.randrange(20_000)) for _ in range(4)])
    assert [*survey.rows()] == expected
    assert [*survey.rows(after=expected[99]["token"])] == expected[100:]
    proxy.always(Fault(alter=lambda body: body.replace(b"{", b"{x", 1)))
    with pytest.raises(TransferError, match="no JSON"):
        next(survey.rows())


def test_reads_all_members_of_a_gzip_body(study, survey, proxy, tmp_path):
    in_two = lambda body: gzip.compress(body[:-99]) + gzip.compress(body[-99:])  # noqa: E731
    proxy.always(Fault(alter=in_two, headers={"Content-Encoding": "gzip"}))
    survey.download(tmp_path / "r.csv")
    assert_whole(tmp_path / "r.csv", study)


def test_refuses_headers_that_are_wrong(survey, proxy, tmp_path):
    wrong = [
        ("X-Total-Count", "many", "without its number"),
        ("Content-Encoding", "br", "not requested: br"),
    ]
    for name, value, message in wrong:
        proxy.always(Fault(headers={name: value}), "/responses/csv")
        with pytest.raises(SurveyExportError, match=message):
            survey.download(tmp_path / "r.csv")
