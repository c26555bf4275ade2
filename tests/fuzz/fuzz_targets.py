"""What is fuzzed: every reader of what a stranger may send, each as a function of bytes.

A target returns for anything that is read or refused as documented; whatever else it raises is a
finding. Formulas of mechanisms have no reader but that of programs, so they are fuzzed as these.
"""

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import duckdb

from builder.splits.config import load_config
from builder.tracks import TRACKS
from causal_exams.extraction import answer_in, blocks, yes_or_no
from grader.answers.check import read_predictions
from grader.answers.parquet_answers import card_of, read_parquet_answers
from grader.answers.submission import Submission
from grader.errors import Invalid, UsageError
from grader.io.files import Unreadable
from grader.io.jsonio import BadJson, canonical_json, parse_strict
from grader.io.schemas import first_problem
from grader.laboratory.hypothesis import BadHypothesis, read_equation
from grader.laboratory.transcript import TranscriptError, check_chain, read_lines
from grader.opening import open_release
from grader.tracks import VARIANTS
from grader.tracks.replayscm.boolean import FormulaError, parse, to_text
from grader.tracks.replayscm.submission import candidates

SCHEMAS: Final = sorted({f"answers/{variant.shape.name}" for variant in VARIANTS})
TASKS: Final = {"cds-0000000000000001": ".json", "cds-0000000000000002": ".csv"}


def fuzz_json(data: bytes) -> None:
    """The hardened parser and every answer schema; what is read can be written and read again."""
    with suppress(BadJson):
        value = parse_strict(data)
        assert parse_strict(canonical_json(value).encode("utf-8")) == value
        for name in SCHEMAS:
            problem = first_problem(name, value)
            assert problem is None or len(problem) < 1000


def fuzz_csv(data: bytes) -> None:
    """Prediction files of one row."""
    with suppress(Invalid):
        read_predictions(data, ("prediction", "lower", "upper"), 1)


def fuzz_parquet(data: bytes) -> None:
    """Packed answers: never an exception, never a half-read answer; and a card, or none."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(data)
        file.flush()
        found = Submission(Path(file.name))
        read_parquet_answers(Path(file.name), "answers.parquet", TASKS, found)
        assert all(raw.data is not None or raw.reason for raw in found.answers.values())
        with suppress(Unreadable, BadJson, duckdb.Error):
            assert isinstance(card_of(Path(file.name)), dict)


def fuzz_transcripts(data: bytes) -> None:
    """The lines of a session, their chain, and equations in them."""
    with suppress(TranscriptError):
        check_chain(read_lines(data))
    with suppress(BadHypothesis):
        read_equation(data.decode("utf-8", "replace")[:2000], lambda name: ("variable", (name, 1)))


def fuzz_programs(data: bytes) -> None:
    """Objects in a response, and the formulas in them; one that is read can be printed."""
    with suppress(BadJson):
        for candidate in candidates(data):
            json.dumps(candidate.document)
    with suppress(FormulaError):
        formula = parse(data.decode("utf-8", "replace"))
        assert parse(to_text(formula)) == formula


def fuzz_manifests(data: bytes) -> None:
    """A release with this manifest."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "manifest.json").write_bytes(data)
        with suppress(UsageError):
            release = open_release(Path(folder), None)
            release.choose_split(None)


def fuzz_toml(data: bytes) -> None:
    """A split file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "split.toml"
        path.write_bytes(data)
        with suppress(UsageError):
            load_config(path, TRACKS)


def fuzz_replies(data: bytes) -> None:
    """The blocks of a reply: parts of it. An answer is one of them, or the reply."""
    reply = data.decode("utf-8", "replace")
    whole = reply.replace("\r\n", "\n")
    assert all(content in whole for _, content in blocks(reply))
    for kind in ("json", "csv", "jsonl"):
        answer = answer_in(reply, kind)
        assert answer is None or answer in (whole, reply) or answer in whole
    assert yes_or_no(reply) in (True, False, None)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    name.removeprefix("fuzz_"): target
    for name, target in list(globals().items())
    if name.startswith("fuzz_")
}
