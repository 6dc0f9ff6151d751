import os
import random
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from answers import Answer, Create, add_answers
from service import DEMO_SURVEY, KEY, URL, Proxy, Study
from survey_export import Client, Survey

MARCH = [f"2026-03-{day:02}" for day in range(1, 15)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rounds", type=int, default=6, help="rounds of random changes (default: 6)")
    parser.addoption(
        "--seed", type=int, default=random.SystemRandom().randrange(2**32), help="of random data"
    )


def pytest_report_header(config: pytest.Config) -> str:
    return f"--seed {config.getoption('seed')}"


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    number: int = request.config.getoption("rounds")
    return number


@pytest.fixture
def randomness(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(f"{request.config.getoption('seed')} {request.node.name}")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less before a request is tried again."""
    sleep = time.sleep
    monkeypatch.setattr("time.sleep", lambda seconds: sleep(seconds / 100))


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that requests would have waited."""
    seconds: list[float] = []
    monkeypatch.setattr("time.sleep", seconds.append)
    return seconds


@pytest.fixture(scope="session")
def database() -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        yield connection


@pytest.fixture
def study(database: psycopg.Connection[Any], randomness: random.Random) -> Iterator[Study]:
    """A survey with responses of two weeks."""
    study = Study(database, f"Study & {uuid.uuid4()} – “é”", randomness, "start", "food")
    study.add(MARCH, 150)
    yield study
    study.delete_survey()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """Stands before the service, also for clients that a test makes."""
    proxy = Proxy()
    monkeypatch.setattr("httpx.HTTPTransport.handle_request", lambda *given: proxy.send(*given))
    return proxy


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    with Client(URL, KEY) as client:
        yield client


@pytest.fixture
def demo(client: Client) -> Survey:
    return client.survey(DEMO_SURVEY)


@pytest.fixture
def survey(proxy: Proxy, client: Client, study: Study) -> Survey:
    """The study, through the proxy."""
    return client.survey(study.name)


@pytest.fixture(scope="session")
def create_survey(database: psycopg.Connection[Any], client: Client) -> Iterator[Create]:
    """Creates a survey that has these answers."""
    studies: list[Study] = []

    def of_answers(answers: list[Answer]) -> Survey:
        studies.append(Study(database, f"Answers {uuid.uuid4()}", random.Random()))
        add_answers(studies[-1], answers)
        return client.survey(studies[-1].name)

    yield of_answers
    for study in studies:
        study.delete_survey()
