"""Opt-in: the language-model path with a real, very small model (see ``small_model.py``).

It shows that the plumbing carries real replies, not that such a model can tell a scene.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from builder.causal.motifs import MOTIFS
from builder.words.llm.settings import Budgets, Request, Settings
from builder.words.narration import Narration, NarrationFailed, Subject
from builder.words.verbalise import VERBALISERS

INTERPRETER = os.environ.get("CAUSAL_EXAMS_LLM_SMOKE")

pytestmark = pytest.mark.skipif(
    not INTERPRETER, reason="set CAUSAL_EXAMS_LLM_SMOKE to a Python with a small model"
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    command = [str(INTERPRETER), str(Path(__file__).with_name("small_model.py"))]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def _outcome(settings: Settings) -> Narration | str:
    graph = MOTIFS["chain"].graph
    scene = Subject(
        graph, dict.fromkeys(graph.nodes, "continuous"), request=Request(settings, "llm")
    )  # type: ignore[arg-type]
    try:
        return VERBALISERS["llm"](scene, b"smoke")
    except NarrationFailed as failure:
        return failure.reason


@pytest.mark.parametrize("json_mode", [False, True])
def test_a_real_model_answers_and_its_answers_are_kept(
    endpoint: str, tmp_path: Path, json_mode: bool
) -> None:
    """Whatever it makes of the scene, the same comes out of the transcript alone."""
    settings = Settings(
        "small",
        endpoint=endpoint,
        transcripts=str(tmp_path / "kept"),
        seconds=300.0,
        temperature=0.0,
        reply_tokens=400,
        json_mode=json_mode,
        budgets=Budgets(seeds=0, mapping=2, story=2, repairs=1, calls=8),
    )
    first = _outcome(settings)
    (file,) = (tmp_path / "kept").glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    print(f"json_mode {json_mode}: {first}; {[(e['stage'], len(e['reply'])) for e in lines]}")
    assert lines and all(entry["reply"].strip() for entry in lines)
    assert isinstance(first, Narration) or first.startswith("llm: ")
    assert _outcome(replace(settings, endpoint="http://127.0.0.1:9/v1", retries=0)) == first
