from __future__ import annotations

import contextlib
import gzip
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from lies import BODIES, RECORDS, lie_of
from service import DEMO_SURVEY, Fault, Proxy, Study, get
from survey_export import Client, NoResponsesError, ServiceError, Survey, SurveyExportError, TransferError

LIES = [lie for lie in [*BODIES, *RECORDS] if lie not in ("another ad_id", "other quotes")]
RESUMABLE = ["r.csv", "r.csv.gz", "r.ndjson", "r.ndjson.gz"]


def contents(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def endpoint(name: str) -> str:
    return "/responses/" + name.split(".")[1]


def of_service(study: Study, name: str) -> bytes:
    return study.export(endpoint(name))


@pytest.mark.parametrize("name", RESUMABLE)
def test_resumes_after_cuts_at_random_offsets(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, name: str, randomness: random.Random, rounds: int
) -> None:
    for _ in range(max(2, rounds // 5)):
        cuts = [Fault(cut=randomness.randrange(20_000)) for _ in range(3)]
        proxy.faults(*cuts, path="/responses/")
        survey.download(tmp_path / name)
        assert contents(tmp_path / name) == of_service(study, name)
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_resumes_any_number_of_times(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    study.add(["2026-03-05"], 3000)
    proxy.fault = lambda path: Fault(cut=6000) if "/responses/" in path else None
    with contextlib.suppress(TransferError):  # the last part has no response that is not cut
        survey.download(tmp_path / "r.csv")
    assert len(proxy.requests) > 10
    proxy.faults()
    survey.download(tmp_path / "r.csv")
    assert contents(tmp_path / "r.csv") == of_service(study, "r.csv")


@pytest.mark.parametrize("name", ["r.csv", "r.ndjson.gz"])
def test_every_length_of_a_partial_file(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, name: str) -> None:
    """Wherever a program was stopped or killed, in quotes or in the header, the file is continued."""
    proxy.fault = lambda path: Fault(cut=0 if "after=" in path else 3000) if "/responses" in path else None
    with pytest.raises(TransferError):
        survey.download(tmp_path / name)
    [part] = tmp_path.iterdir()
    proxy.faults()
    whole = of_service(study, name)
    for length in (0, 1, 100, whole.index(b"\n") + 1, *range(3000, len(whole), len(whole) // 12), len(whole)):
        part.write_bytes(whole[:length])
        proxy.requests.clear()
        survey.download(tmp_path / name)
        assert contents(tmp_path / name) == whole
        assert [found.name for found in tmp_path.iterdir()] == [name]
        assert length < 3000 or "after=" in next(request for request in proxy.requests if "/responses/" in request)


def test_responses_deleted_while_it_runs(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    """The file is not too short: the responses are counted again."""

    def delete_last(path: str) -> Fault | None:
        if "after=" in path:
            study.delete("timestamp >= '2026-03-12'")
            return None
        return Fault(cut=1500) if "/responses/csv" in path else None

    proxy.fault = delete_last
    survey.download(tmp_path / "r.csv")
    assert contents(tmp_path / "r.csv") == of_service(study, "r.csv")


def test_failed_download_keeps_the_earlier_file_and_its_own(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path
) -> None:
    """A download with another selection does not continue it."""
    (tmp_path / "r.csv").write_bytes(b"earlier")
    proxy.fault = lambda path: Fault(cut=0 if "after=" in path else 1500) if "/responses/csv" in path else None
    with pytest.raises(TransferError):
        survey.download(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b"earlier"
    proxy.faults()
    survey.download(tmp_path / "r.csv", since="2026-03-05")
    assert contents(tmp_path / "r.csv") == study.export(since="2026-03-05")
    assert len([*tmp_path.iterdir()]) == 2  # the file, and what the other selection can continue


def test_parameters_of_the_format(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    proxy.faults(Fault(cut=4000), path="/responses/csv")
    parameters: dict[str, Any] = {"metadata": ["note", 'a,\n"b"'], "userid": ["001", "002"]}
    survey.download(tmp_path / "r.csv", bom=True, safe=True, **parameters)
    assert contents(tmp_path / "r.csv") == study.export(bom="true", safe="true", **parameters)


def test_empty_selection(survey: Survey, study: Study, tmp_path: Path) -> None:
    for name in RESUMABLE:
        survey.download(tmp_path / name, userid="nobody")
        assert contents(tmp_path / name) == study.export(endpoint(name), userid="nobody")


def test_refuses_other_endings_formats_and_surveys(client: Client, survey: Survey, tmp_path: Path) -> None:
    for name in ("r", "r.txt", "r.gz", "r.xlsx.gz"):
        with pytest.raises(ValueError, match="must end in"):
            survey.download(tmp_path / name)
    for name in ("r.csv", "r.ndjson.gz", "r.xlsx"):
        with pytest.raises(NoResponsesError):
            client.survey("no such survey").download(tmp_path / name)
    with pytest.raises(ServiceError, match="layout"):
        survey.download(tmp_path / "r.ndjson", layout="wide")
    assert [*tmp_path.iterdir()] == []


def test_progress(client: Client, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    client.survey(DEMO_SURVEY).download(tmp_path / "r.csv", progress=True)
    rows = get("/responses/ndjson", survey=DEMO_SURVEY).count(b"\n")
    assert capfd.readouterr().err.endswith(f"\r{rows:,} of {rows:,} responses\n")


def test_numbers_of_any_length(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    """Python does not parse an integer of more than 4,300 digits."""
    number = "7" * 5000
    study.update(f"metadata = jsonb_build_object('long', {number}, 'short', 7, 'ratio', 1.10)")
    study.update_forms(f"metadata = jsonb_build_object('long', {number})")
    proxy.faults(Fault(cut=20_000), path="/responses/ndjson")
    assert {str(row["metadata"]["long"]) for row in survey.rows()} == {number}
    row = next(survey.rows())
    assert (row["metadata"]["short"], row["metadata"]["ratio"]) == (7, 1.1)
    assert [type(row["metadata"][key]) for key in ("short", "ratio", "long")] == [int, float, Decimal]
    assert {survey.name} <= {other.name for other in survey.client.surveys()}
    proxy.faults(Fault(cut=20_000), path="/responses/ndjson")
    survey.download(tmp_path / "r.ndjson")
    assert contents(tmp_path / "r.ndjson") == of_service(study, "r.ndjson")


def test_rows(study: Study, survey: Survey, proxy: Proxy, randomness: random.Random) -> None:
    expected = [json.loads(line) for line in study.export("/responses/ndjson").splitlines()]
    proxy.faults(*[Fault(cut=randomness.randrange(20_000)) for _ in range(4)])
    assert [*survey.rows()] == expected
    assert [*survey.rows(after=expected[99]["token"])] == expected[100:]
    assert [*survey.rows(userid=["001", "002"])] == [row for row in expected if row["userid"] in ("001", "002")]
    assert next(iter(survey.rows(since="2026-03-05"))) == next(r for r in expected if r["timestamp"] >= "2026-03-05")


def test_a_database_that_does_not_sort_by_bytes(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    """All responses have the same time, so that the collation orders them. Two that are exchanged are found too."""
    study.update("timestamp = '2026-03-05', question_ref = question_ref || ctid::text, "
                 "userid = (array['a', 'B', '_c', 'D'])[1 + flowid %% 4]")  # fmt: skip
    users = [row["userid"] for row in survey.rows()]
    assert users != sorted(users)
    survey.download(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == study.export()
    survey.download(tmp_path / "w.csv", layout="wide")
    proxy.fault = lambda path: Fault(shorten=lie_of("r.csv", "two exchanged")) if "/responses/csv" in path else None
    with pytest.raises(TransferError, match="not in order"):
        survey.download(tmp_path / "r.csv")


def test_reads_all_members_of_a_gzip_body(study: Study, survey: Survey, proxy: Proxy, tmp_path: Path) -> None:
    proxy.fault = lambda path: Fault(
        shorten=lambda body: gzip.compress(body[:-99]) + gzip.compress(body[-99:]),
        headers={"Content-Encoding": "gzip"},
    )
    survey.download(tmp_path / "r.csv")
    assert contents(tmp_path / "r.csv") == of_service(study, "r.csv")


@pytest.mark.parametrize("name", ["r.csv", "wide.csv", "r.xlsx", "wide.xlsx", "rows"])
def test_what_is_complete_is_exact(
    study: Study, survey: Survey, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A lie is repaired, or ends in an error if it is repeated."""
    study.update("parent_surveyid = null, parent_shortcode = ''")  # one record for each participant
    monkeypatch.setattr("survey_export._http.ATTEMPTS", 2)
    monkeypatch.setattr("survey_export._download.ROUNDS", 2)
    path = tmp_path / ("r.ndjson" if name == "rows" else name)

    def complete() -> object:
        if name == "rows":
            return [*survey.rows()]
        path.unlink(missing_ok=True)
        survey.download(path, layout="wide" if "wide" in name else None)
        return table_of(path)

    expected = complete()
    for lie in LIES:
        fault = Fault(shorten=lie_of(path.name, lie))
        proxy.faults(fault, path=endpoint(path.name))
        with contextlib.suppress(*[TransferError] if name == "rows" else []):  # those that were yielded stay
            assert complete() == expected, lie
        proxy.fault = lambda request, fault=fault: fault if endpoint(path.name) in request else None  # type: ignore[misc]
        with contextlib.suppress(TransferError):
            assert complete() == expected, lie
            continue
        assert not path.exists(), lie


def table_of(path: Path) -> object:
    """Return the contents of a file, without the times that a workbook has."""
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with ZipFile(path) as archive:
        return {part: archive.read(part) for part in archive.namelist()}


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X-Total-Count": "many"}, "without its number"),
        ({"Content-Encoding": "br"}, "encoding that was not requested: br"),
    ],
)
def test_refuses_headers_that_are_wrong(
    survey: Survey, proxy: Proxy, tmp_path: Path, headers: dict[str, str], message: str
) -> None:
    proxy.fault = lambda path: Fault(headers=headers) if "/responses/csv" in path else None
    with pytest.raises(SurveyExportError, match=message):
        survey.download(tmp_path / "r.csv")
