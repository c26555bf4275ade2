"""The scripted model that the tests of the language-model path share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import serve
from llm_server import Model

from builder.stories.llm.settings import Budgets, Settings


@pytest.fixture
def model() -> Iterator[Model]:
    """A server that answers as a good model would, until a test spoils it."""
    running = Model()
    with serve(running.reply, running):
        yield running


@pytest.fixture
def settings(model: Model, tmp_path: Path) -> Settings:
    """What is asked of the model, with small budgets."""
    return Settings(
        "scripted",
        endpoint=model.url,
        key_env="TEST_LLM_KEY",
        transcripts=str(tmp_path / "kept"),
        seconds=5.0,
        retries=2,
        budgets=Budgets(seeds=0, mapping=3, story=3, repairs=1, calls=40),
    )
