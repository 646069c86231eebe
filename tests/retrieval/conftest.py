"""Published files, the carrier's service and a stand-in for the Anthropic API."""

import guard_shop
import pytest
from anthropic_server import KEY, serving

from course_utils.retrieval.sql_guard import SafeDatabase
from course_utils.shop.carrier import Carrier
from course_utils.shop.publish import publish


@pytest.fixture(scope="session")
def case_shop(tmp_path_factory):
    """The shop of cases/sql_guard.json, canaries included."""
    path = tmp_path_factory.mktemp("source") / "shop.db"
    return guard_shop.make(path, guard_shop.CASES / "sql_guard_shop.sql")


@pytest.fixture(scope="session")
def published(case_shop, tmp_path_factory):
    """The published part of it, alone in its folder."""
    return publish(case_shop, tmp_path_factory.mktemp("published") / "published.db", guard_shop.ALLOW)


@pytest.fixture
def db(published):
    """The published case shop, open."""
    with SafeDatabase(published) as db:
        yield db


@pytest.fixture(scope="module")
def running():
    """The carrier's service, for all tests of a file."""
    with Carrier() as service:
        yield service


@pytest.fixture
def service(running):
    """The carrier's service, running, without faults and without a memory of requests."""
    running.start()
    running.clear()
    running.requests.clear()
    yield running
    running.clear()


@pytest.fixture
def api(monkeypatch):
    """A server on this machine that speaks the Messages API; key and address are set."""
    from langchain_core.caches import InMemoryCache

    from course_utils.models import claude

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(claude, "_finished", InMemoryCache())
    with serving() as state:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", state.url)
        yield state
