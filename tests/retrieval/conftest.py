"""Published files and the carrier's service for the tests of this room."""

import guard_shop
import pytest

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
