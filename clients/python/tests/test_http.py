import gzip
import traceback
import tracemalloc

import httpx
import pytest

from service import KEY, URL, Fault
from survey_export import Client, Key, ServiceError, SurveyExportError, TransferError
from test_exact import COMPLETE, JSON

GZIP = {"Content-Encoding": "gzip"}
COUNT = {"X-Total-Count": "1"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


def busy(status: int, retry_after: str = "") -> Fault:
    return Fault(status=status, headers={"Retry-After": retry_after})


def test_retries(survey, proxy, waits):
    """The Retry-After can be a date, here one of the past, or nothing that can be read."""
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    proxy.faults(busy(503, "7"), busy(429, past), busy(502), busy(504, "x"), busy(520, "-1"))
    assert survey.summary().responses == 150
    assert waits[:2] == [7, 0]
    for wait, longest in zip(waits[2:], (2, 4, 8), strict=True):
        assert 0.8 * longest <= wait <= longest
    assert len(proxy.paths()) == 6


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        (busy(429, "7"), 7),
        (busy(429, "3600"), 1),
        (busy(429, "9" * 5000), 1),
        (busy(503, "Fri, 31 Dec 9999 23:59:59 GMT"), 1),
        (busy(500), 1),
    ],
    ids=range(5),
)
def test_gives_up(survey, proxy, waits, fault, requests):
    proxy.always(fault)
    with pytest.raises(ServiceError, match="busy") as failed:
        survey.summary()
    assert failed.value.status == fault.status
    assert len(proxy.paths()) == requests


@pytest.mark.parametrize("call", COMPLETE)
def test_something_else_in_place_of_a_response(proxy, client, tmp_path, call):
    """It is not requested again."""
    page = Fault(status=200, body=b"<html>Welcome</html>\n", headers=HTML)
    bodies = [b"[1]", b"null", b'"text"', b'{"questions":[{}],"digests":[{}]}']
    others = [(Fault(status=200, body=body), "something else") for body in bodies]
    for fault, message in [
        (page, r"HTTP status 200, .* URL"),
        *(others if call in JSON else []),
    ]:
        proxy.always(fault)
        with pytest.raises(ServiceError, match=message) as failed:
            COMPLETE[call][1](client.survey("any"), tmp_path)
        assert failed.value.status == 200
        assert len(proxy.paths()) == 1


@pytest.mark.parametrize("body", [b"garbage", gzip.compress(b'{"error":{"message":"busy"}}')[:-9]])
def test_damaged_error(survey, proxy, body):
    proxy.faults(
        Fault(status=503, headers=GZIP, body=body), Fault(status=429, headers=GZIP, body=body)
    )
    assert survey.summary().responses == 150
    proxy.always(Fault(status=404, headers=GZIP, body=body))
    with pytest.raises(ServiceError, match="HTTP status 404"):
        survey.summary()


@pytest.mark.parametrize("encoding", [{}, GZIP])
@pytest.mark.parametrize(
    ("status", "kind", "body", "calls"),
    [
        (401, {}, b" ", ["surveys", "csv"]),
        (200, HTML, b"<p>", ["surveys", "csv"]),
        (200, {}, b" ", ["surveys", "summary"]),
        (200, {}, b"[" + b"[]," * 10**7 + b"[]]", ["surveys"]),
        (200, COUNT, b"x", ["csv", "rows"]),
        (200, COUNT, b"surveyid,timestamp,userid,question_ref" + b",a" * 2**20 + b"\n", ["csv"]),
    ],
)
def test_no_body_fills_the_memory(
    client, proxy, tmp_path, monkeypatch, encoding, status, kind, body, calls
):
    """The body has no end, or very many values."""
    monkeypatch.setattr("survey_export._http.ATTEMPTS", 1)
    monkeypatch.setattr("survey_export._records.LARGEST_RECORD", 2**22)
    piece = body * (1 if len(body) > 9 else 2**18)
    piece = gzip.compress(piece) if encoding else piece
    fault = Fault(status=status, headers=kind | encoding, body=piece, is_endless=len(body) < 9)
    for call in calls:
        proxy.always(fault, "/surveys" if call == "surveys" else "/responses")
        tracemalloc.start()
        with pytest.raises((ServiceError, TransferError)):
            COMPLETE[call][1](client.survey("any"), tmp_path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**28, call


def test_no_terminal_obeys_an_error(survey, proxy):
    proxy.always(Fault(status=400, body=b'{"error":{"message":"\\u001b[31m \\u202e"}}'))
    with pytest.raises(ServiceError, match=r"^\ufffd\[31m \ufffd$"):
        survey.summary()


def test_redirects_are_not_followed(survey, proxy):
    for target in ("https://x.example/api/v1/responses/summary", "/api/v1/responses/summary"):
        proxy.faults(Fault(status=301, headers={"Location": f"{target}?survey=secret"}))
        with pytest.raises(ServiceError, match=rf"301: .* has moved to \S*{target}$") as failed:
            survey.summary()
        assert failed.value.status == 301


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        (URL.replace("http:", "https:"), ""),  # TLS to a port without
        ("http://nowhere.invalid", ""),
        ("http://127.0.0.1:1", ""),
        ("http://x.example", "http://me:secret@127.0.0.1:1"),
    ],
)
def test_an_address_that_was_never_reached_fails_at_once(monkeypatch, waits, url, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(TransferError, match=f"^cannot reach {url}: .") as failed:
        Client(url, KEY).surveys()
    assert (failed.value.status, failed.value.code, failed.value.request_id) == (None, None, None)
    assert "\n" not in str(failed.value)
    assert "secret" not in str(failed.value)
    assert waits == []


def test_an_address_that_was_reached_is_tried_again(survey, proxy):
    def refuse(_):
        raise httpx.ConnectError("refused")

    survey.summary()
    proxy.paths()
    proxy.fault = refuse
    with pytest.raises(TransferError, match="cannot reach"):
        survey.summary()
    assert len(proxy.paths()) == 7


@pytest.mark.parametrize(
    ("url", "variable", "value", "message"),
    [
        *[
            (f"https://{rest}", "", "", "URL")
            for rest in ("", "x/?a", "x/?", "x:abc", "x\ny", "x:99999", "x:-1", "me:secret@x:abc")
        ],
        *[(url, "", "", "URL") for url in ("", "export.example.org", "ftp://x", "http://me@x")],
        ("https://x", "ALL_PROXY", "http://proxy:abc", "of a proxy"),
        ("https://x", "ALL_PROXY", "socks5://x:1", "socks"),
        ("https://x", "ALL_PROXY", "ftp://x", "proxy"),
        ("https://x", "SSL_CERT_FILE", "/nowhere", "SSL_CERT_FILE"),
        ("https://x", "SSL_CERT_FILE", __file__, "SSL_CERT_FILE"),
    ],
)
def test_refuses_other_urls(monkeypatch, url, variable, value, message):
    monkeypatch.delenv("SURVEY_EXPORT_URL", raising=False)
    monkeypatch.setenv(variable or "UNUSED", value)
    with pytest.raises(ValueError, match=message) as refused:
        Client(url, KEY)
    assert "secret" not in str(refused.value)


def test_refuses_parameters_that_are_too_long_for_a_url(survey, proxy):
    with pytest.raises(ValueError, match="too long"):
        survey.summary(userid=[f"{number:020}" for number in range(5000)])
    assert proxy.paths() == []


def test_url_and_key(monkeypatch):
    for name in ("SURVEY_EXPORT_URL", "SURVEY_EXPORT_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="SURVEY_EXPORT_URL"):
        Client()
    for url in (URL, f"{URL}/", f" {URL}/api/v1/\r\n", f"{URL}/api/v1"):
        monkeypatch.setenv("SURVEY_EXPORT_URL", url)
        assert Client(key=KEY).url == URL
    with pytest.raises(ValueError, match="SURVEY_EXPORT_KEY"):
        Client()
    monkeypatch.setenv("SURVEY_EXPORT_KEY", f" {KEY}\r\n")
    assert Client().key() == Key("demo@example.org", None)


def test_no_error_has_the_key(survey, proxy):
    broken = KEY + "\n" + KEY
    attempts = [
        (Fault(cut=10), lambda: [*survey.rows()]),
        (Fault(cut=0), survey.codebook),
        (Fault(status=401), survey.summary),
        (Fault(status=503), survey.summary),
        (Fault(alter=gzip.compress), lambda: [*survey.rows()]),
        (Fault(), lambda: survey.summary(unknown=1)),
        (Fault(), lambda: Client(URL, broken)),
        (Fault(), lambda: Client(URL, KEY + "é")),
        (Fault(), lambda: Client("http://127.0.0.1:1", KEY).surveys()),
    ]
    assert KEY not in repr(survey) + repr(vars(survey.client)) + repr(vars(survey))
    for fault, attempt in attempts:
        proxy.always(fault)
        with pytest.raises((SurveyExportError, ValueError)) as failed:
            attempt()
        shown = "".join(traceback.format_exception(failed.value))
        error: BaseException | None = failed.value
        while error is not None:
            shown += f"{error!r} {error} {vars(error)}"
            error = error.__context__
        assert KEY not in shown
