"""The gate over a small real release: it passes, and each kind of damage is caught by name."""

import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from gate_release import Rows, build, edit
from hypothesis import given
from hypothesis import strategies as st

from builder.cli.main import main
from builder.gate import secrecy
from builder.gate.card import example_problems
from builder.gate.leak import permutation
from builder.gate.report import GateReport
from builder.gate.run import run_gate
from builder.gate.secrecy import secrecy_problems, worlds_in
from builder.gate.tables import split_tables
from builder.release.papers import write_papers
from builder.words import frames, verify
from builder.words.frames import Frame
from grader.errors import UsageError


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return build(tmp_path_factory.mktemp("gate"), monkeypatch)


@pytest.fixture(scope="module")
def passed(built: Path) -> GateReport:
    return run_gate(built)


@pytest.fixture
def release(built: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(built, tmp_path / "copy"))


def _failures(release: Path) -> dict[str, str]:
    report = run_gate(release)
    assert not report.ok
    assert "**FAIL**" in report.markdown
    return {line.check: " / ".join(line.problems) for line in report.lines if not line.ok}


def test_a_fresh_build_passes_every_check(passed: GateReport) -> None:
    """A gate that refuses good releases would be bypassed."""
    assert passed.ok, passed.markdown
    figures = {line.check: line.figure for line in passed.lines}
    assert "tasks, 100 points; through the whole grader" in figures["dev: gold answers"]
    assert figures["test: gold answers"].startswith("4 tasks, 100 points;")
    assert figures["dev: empty answers"] == "0 points"
    assert {floor.split for floor in passed.floors} == {"dev", "test"}


def test_the_report_holds_no_time_and_no_path_and_repeats(
    built: Path, release: Path, passed: GateReport
) -> None:
    """GATE.md is part of a release whose bytes must repeat."""
    again = run_gate(release)
    assert again.markdown == passed.markdown
    assert str(built.parent) not in passed.markdown
    assert not re.search(r"\d\d:\d\d|20\d\d-|seconds", passed.markdown)


def test_a_changed_file_stops_the_gate_at_the_hashes(release: Path) -> None:
    """Checking the rows of a file that is not the released one proves nothing."""
    path = release / "public/causalds_truth/dev-00000-of-00001.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    failures = _failures(release)
    assert list(failures) == ["public shards"]
    assert "SHA-256" in failures["public shards"]
    assert str(release) not in failures["public shards"]


def _first(rows: Rows, **wanted: Any) -> dict[str, Any]:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def _wrong_number(rows: Rows) -> None:
    row = next(row for row in rows if row["value"] not in (None, 0.0))
    row["value"] += 0.4


def _wrong_label(rows: Rows) -> None:
    row = next(row for row in rows if "trivial_zero" in row["target_json"])
    row["target_json"] = '{"accepted":["backdoor"]}'


@pytest.mark.parametrize("change", [_wrong_number, _wrong_label])
def test_a_wrong_truth_is_caught_though_it_grades_itself_right(
    release: Path, change: Callable[[Rows], None]
) -> None:
    """Gold answers come from the truth: only a second derivation sees that it is wrong."""
    edit(release, "public", "causalds_truth/dev", change)
    failures = _failures(release)
    # The answers as they were published beside it show the edit, not which of the two is wrong.
    assert list(failures) == ["dev: config tasks", "second derivation of every truth"]


def _another_answer(rows: Rows) -> None:
    rows[0]["answer"] += " "


def _another_prompt(rows: Rows) -> None:
    rows[0]["prompt"] += " Think twice."


@pytest.mark.parametrize(
    ("split", "change", "says"),
    [
        ("dev", _another_answer, "the answer to {} is not the right one"),
        ("dev", _another_prompt, "{} is not as its track's config has it"),
        ("dev", lambda rows: rows[1:], "{} is absent"),
        ("test", lambda rows: rows[0].update(answer="{}"), "{} has an answer, and its truth is"),
    ],
)
def test_the_flat_table_says_what_the_tracks_say(
    release: Path, split: str, change: Callable[[Rows], Rows | None], says: str
) -> None:
    """It is what most people will load."""
    path = release / "public" / "tasks" / f"{split}-00000-of-00001.parquet"
    name = pq.read_table(path, columns=["task_id"])["task_id"][0].as_py()
    edit(release, "public", f"tasks/{split}", change)
    failures = _failures(release)
    assert says.format(name) in failures[f"{split}: config tasks"]


SWAPPED = """
name = "swapped"
version = "0.1.0"
[splits.dev]
truth = "public"
seed = "swapped 1"
[splits.dev.causalds]
scenes = 2
rows = { train = 60, test = 20 }
words = "fictional"
motifs = { chain = 1, confounding = 1 }
"""


@pytest.mark.parametrize("swapped", [False, True])
def test_a_frame_with_two_slots_swapped_is_caught(
    swapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Teller and verifier share their frames: told by this one, every effect was told the wrong way
    round, and the release passed."""
    slots = ("{cause}", "{effect}") if swapped else ("{effect}", "{cause}")
    text = "{} [depends] directly on {}".format(*slots)
    monkeypatch.setattr(frames, "EFFECTS", (Frame(text, frozenset({"cause", "effect"})),))
    verify._cores.cache_clear()
    try:
        report = run_gate(build(tmp_path, monkeypatch, SWAPPED), workers=1)
    finally:
        verify._cores.cache_clear()
    found = [line for line in report.lines if not line.ok]
    assert [line.check for line in found] == (
        ["stories, by a reader that knows no frame"] * swapped
    )
    if swapped:
        problem = found[0].problems[0]
        assert "reads the wrong way round" in problem and "directly on" in problem


def test_a_changed_private_truth_breaks_its_commitment(release: Path) -> None:
    """What was committed to before the exam must be what is graded after it."""

    def change(rows: Rows) -> None:
        rows[0]["should_abstain"] = not rows[0]["should_abstain"]

    edit(release, "private", "causalds_truth/test", change)
    assert "test commitments" in _failures(release)


def _same_prompt(rows: Rows) -> None:
    one, other = (row for row in rows if row["variant"] in ("ate_point", "effect_size_point")
                  and row["instance_id"] == rows[0]["instance_id"])  # fmt: skip
    other["prompt"] = one["prompt"].replace(one["task_id"], other["task_id"])


def _other_rung(rows: Rows) -> None:
    rows[0]["rung"] = 3 if rows[0]["rung"] != 3 else 1


def _undeclared_input(rows: Rows) -> None:
    rows[0]["inputs_json"] = json.dumps({**json.loads(rows[0]["inputs_json"]), "hint": 1})


def _no_story(rows: Rows) -> None:
    rows[0]["prompt"] = f"Answer in {rows[0]['answer_file']}."


def _strange_name(rows: Rows) -> None:
    row = _first(rows, variant="method_label")
    inputs = json.loads(row["inputs_json"])
    inputs["observed"][0] = "Nobody"
    row["inputs_json"] = json.dumps(inputs)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (_same_prompt, "prompts"),
        (_other_rung, "dev causalds: task rows"),
        (_undeclared_input, "dev causalds: task rows"),
        (_no_story, "dev causalds: task rows"),
        (_strange_name, "dev causalds: task rows"),
        (lambda rows: rows[::-1], "ids"),
    ],
)
def test_damaged_task_rows_are_named(
    release: Path, change: Callable[[Rows], Rows | None], check: str
) -> None:
    """Each of these would reach test takers as an unfair or unanswerable question."""
    edit(release, "public", "causalds/dev", change)
    assert check in _failures(release)


def test_an_id_used_twice_is_caught(release: Path) -> None:
    """One answer file would stand for two tasks."""
    edit(release, "public", "causalds/dev", lambda rows: [rows[0], *rows])
    assert "dev task ids" in _failures(release)


def test_an_exam_that_is_not_what_was_requested_is_caught(release: Path) -> None:
    """What was requested stands in the manifest; what came out is counted in the rows."""
    file = release / "public" / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    entry = manifest["splits"]["dev"]["tracks"]["causalds"]
    axes = {"practice: rung": {rung: {"requested": 90.0, "realised": 90} for rung in "123"}}
    entry["composition"] |= axes
    file.write_text(json.dumps(manifest), encoding="utf-8")
    problems = _failures(release)["dev: exams as requested"]
    assert "exam practice" in problems and "another rung than requested" in problems


def test_exams_name_existing_tasks_once(release: Path) -> None:
    """A repeated task counts twice; in a private split, two exams share one hidden world."""

    def repeat(rows: Rows) -> None:
        rows[1]["task_id"] = rows[0]["task_id"]

    edit(release, "public", "causalds_exams/test", repeat)
    problems = _failures(release)["test causalds: exams"]
    assert "in 0 exams of a private split" in problems
    assert "appears twice" in problems


def test_a_card_that_misses_a_config_is_caught(release: Path) -> None:
    """The Hub reads the card: a config that it does not name cannot be loaded."""
    card = release / "public/README.md"
    text = card.read_text(encoding="utf-8").replace("causalds_scenes/dev-", "causalds_scene/dev-")
    card.write_text(text, encoding="utf-8")
    problems = _failures(release)["public card"]
    assert "matches 0 files" in problems


def test_a_private_key_or_world_in_public_is_caught(release: Path) -> None:
    """A key in a log or a card opens the hidden world of its scene."""
    public, private = release / "public", release / "private"
    table = split_tables(release, "causalds", "test")
    assert secrecy_problems(public, private, table) == []
    key = next(iter(table.worlds.values()))["key"]
    (public / "NOTES.txt").write_text(f"built 00{key}ff", encoding="utf-8")
    assert "its key is in the public repository" in secrecy_problems(public, private, table)[0]

    def tell(rows: Rows) -> None:
        rows[0]["story"] += next(iter(table.worlds.values()))["world_json"]

    (public / "NOTES.txt").unlink()
    edit(release, "public", "causalds_scenes/test", tell)
    assert "its world is in the public repository" in secrecy_problems(public, private, table)[0]


def test_private_columns_and_salts_in_public_are_caught(release: Path) -> None:
    """A truth column pushed to the public repository by mistake ends the exam."""
    public, private = release / "public", release / "private"
    table = split_tables(release, "causalds", "test")
    path = public / "causalds/test-00000-of-00001.parquet"
    tasks = pq.read_table(path)
    pq.write_table(tasks.append_column("should_abstain", [[False] * tasks.num_rows]), path)
    salts = json.loads((private / "manifest.json").read_bytes())["salts"]["test"]
    (public / "NOTES.txt").write_text(salts["rows"], encoding="utf-8")
    assert secrecy_problems(public, private, table) == [
        "causalds: has the private column should_abstain",
        "the salt 'rows' is public",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            '"causalds_scenes", split="dev"',
            '"ccr_scenes", split="dev"',
            "loads ccr_scenes, split dev",
        ),
        ('["prompt"]', '["question"]', "reads question, which no config"),
        ("FROM 'tasks/", "FROM 'ccr/", "an example fails: IO Error"),
        ("GROUP BY ALL ORDER", "WHERE false GROUP BY ALL ORDER", "an example finds nothing"),
        ("SELECT family", "DROP TABLE family; SELECT family", "does more than select"),
    ],
)
def test_an_example_of_the_card_that_does_not_work_is_named(
    release: Path, old: str, new: str, says: str
) -> None:
    """The card of a release of several tracks showed scenes of one that has none."""
    file = release / "public" / "README.md"
    assert example_problems(release / "public") == []
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    assert says in " / ".join(example_problems(release / "public"))


def test_a_card_shows_scenes_of_a_track_that_has_some(mini_release: Path, tmp_path: Path) -> None:
    """Most have none, and tasks of all tracks are what the other examples load."""
    manifest = json.loads((mini_release / "public/manifest.json").read_bytes())
    public = Path(shutil.copytree(mini_release / "public", tmp_path / "public"))
    write_papers(manifest, public)
    assert example_problems(public) == []
    text = (public / "README.md").read_text(encoding="utf-8")
    assert '"tasks", split' in text and '"causalds_scenes", split' in text
    del manifest["configs"]["causalds_scenes"]
    write_papers(manifest, public)
    assert "scenes" not in "".join(
        re.findall("```.*?```", (public / "README.md").read_text(), re.S)
    )


def test_only_whole_keys_of_the_public_text_are_remembered(release: Path) -> None:
    """Every hash of a manifest once left 63 tails of itself, which no key can equal."""
    secrecy_problems(
        release / "public", release / "private", split_tables(release, "causalds", "test")
    )
    files = [path for path in sorted((release / "public").rglob("*")) if path.is_file()]
    state = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    _, runs = secrecy._public_text(state, "test")
    assert runs and {len(run) for run in runs} == {64}


def test_the_leak_test_takes_as_many_workers_as_the_gate(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--workers 1` on a shared machine must not start a thread for each of its cores."""
    asked: list[int] = []

    class Threads(ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            asked.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(permutation, "ThreadPoolExecutor", Threads)
    for workers in (1, 3):
        run_gate(built, workers=workers)
    assert asked == [1, 3]


def test_an_exam_drawn_later_is_in_the_gate_s_report_and_on_the_card(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GATE.md went on describing the release without it."""
    old = "# Gate: of the release without the exam"
    (release / "GATE.md").write_text(old, encoding="utf-8")
    file = tmp_path / "later.toml"
    file.write_text('kind = "balanced"\ntasks = 5\n', encoding="utf-8")
    assert main(["exam", "--from", str(release), "--exam", str(file), "--split", "dev"]) == 0
    report = (release / "GATE.md").read_text(encoding="utf-8")
    assert "| dev causalds: exams | ok | 2 exams, " in report
    assert "later (5)" in (release / "public" / "README.md").read_text(encoding="utf-8")
    shutil.rmtree(release / "private")
    again = ["exam", "--from", str(release), "--exam", str(file), "--split", "dev", "--name", "b"]
    assert main(again) == 0
    assert not (release / "GATE.md").exists(), "what cannot be checked again is not claimed"


def test_progress_is_told(built: Path) -> None:
    """The gate takes a while on a large release; silence looks like a hang."""
    said: list[str] = []
    run_gate(built, said.append)
    assert said[0].startswith("gate:")
    assert said[-1] == "gate: leak test"


def test_a_missing_release_is_one_line(tmp_path: Path) -> None:
    """`check` on a mistyped folder must say so."""
    with pytest.raises(UsageError, match="no release here"):
        run_gate(tmp_path)


@given(
    worlds=st.sets(st.text("{ab}", min_size=1, max_size=6), max_size=5),
    blob=st.text("{ab}\n", max_size=60),
)
def test_worlds_are_found_in_one_pass_as_one_by_one(worlds: set[str], blob: str) -> None:
    """A faster search must not be a blinder one."""
    assert worlds_in(blob, worlds) == {world for world in worlds if world in blob}
