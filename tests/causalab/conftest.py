"""What tests of the laboratory's front ends share."""

import json
from pathlib import Path

import pytest
from laboratories import CHAIN, make_row


@pytest.fixture
def episode_file(tmp_path: Path) -> Path:
    path = tmp_path / "episode.json"
    path.write_text(json.dumps(make_row(CHAIN)), encoding="utf-8")
    return path
