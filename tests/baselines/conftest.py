"""One thread for linear algebra: the tables are small, and the machine may be busy."""

from collections.abc import Iterator

import pytest
import sklearn.ensemble  # noqa: F401  # a limit holds for libraries that are loaded
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield
