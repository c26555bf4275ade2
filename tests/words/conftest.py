"""The scripted model that the tests of the language-model path share."""

from collections.abc import Iterator

import pytest
from llm_server import Model, serve


@pytest.fixture
def model() -> Iterator[Model]:
    """A server that answers as a good model would, until a test spoils it."""
    with serve(Model()) as running:
        yield running
