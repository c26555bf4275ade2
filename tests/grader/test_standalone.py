"""The grader alone: what it imports, how it ends, what its wheel can do. From Python it gives the
same figures as the command's, and what may not be seen is not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

import grader
from grader import Release, grade
from grader.commands.main import main
from grader.errors import UsageError

ROOT = Path(__file__).parents[2]
HEAVY = (
    "numpy", "jinja2", "markdown_it", "pandas", "pyarrow", "datasets", "scipy", "sklearn",
    "builder", "causal_exams",
)  # fmt: skip


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("CAUSAL_EXAMS")}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False,
        env=inherited | environment, encoding="utf-8",
    )  # fmt: skip


def test_grading_loads_none_of_the_builders_libraries(release, gold, tmp_path):
    """NumPy waits for an interval, Jinja2 and Markdown for a page."""
    code = (
        "import json, sys; from grader.commands.main import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    code = main([*words, *sys.argv[2:]])\n"
        f"    print('loaded', json.dumps([code, sorted(set({HEAVY!r}) & set(sys.modules))]))"
    )
    outputs = [w for k in ("json", "csv", "parquet") for w in (f"--{k}", str(tmp_path / k))]
    expected = (  # in the order in which more is loaded
        (["validate", str(gold)], []),
        (["workspace", "--out", str(tmp_path / "w")], []),
        (["pack", str(gold), "--name", "x", "--out", str(tmp_path / "p.parquet")], []),
        (["grade", str(gold), *outputs], ["numpy"]),
        (
            ["grade", str(gold), "--html", str(tmp_path / "html")],
            ["jinja2", "markdown_it", "numpy"],
        ),
    )
    commands = json.dumps([words for words, _ in expected])
    done = python("-c", code, commands, "--release", str(release), "--split", "dev")
    lines = done.stdout.splitlines()
    told = [json.loads(line.split(" ", 1)[1]) for line in lines if line.startswith("loaded ")]
    assert told == [[0, loaded] for _, loaded in expected], done.stderr


def test_a_terminal_that_knows_only_ascii_is_no_reason_to_fail(release: Path, gold: Path) -> None:
    """Tables have arrows and boxes; a log file of a build server may not."""
    words = ("-m", "grader", str(gold), "--release", str(release), "--split", "dev")
    done = python(*words, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr


SCRIPT = """
import sys
from grader.commands.main import main
release = ["--release", sys.argv[1]]
assert main(["gold", *release, "--out", "gold"]) == 0
assert main(["./gold", *release, "--html", "page.html"]) == 0
assert main(["workspace", *release, "--out", "work"]) == 0
"""


def test_the_wheel_holds_what_grades_and_hands_out_exams_only(installed: Path) -> None:
    """The builder in the wheel would ask every grader for NumPy and SciPy."""
    assert {path.name for path in installed.iterdir() if "dist-info" not in path.name} == {
        "causal_exams",
        "grader",
    }
    assert (installed / "grader" / "schemas" / "answers" / "sign.json").is_file()
    assert (installed / "grader" / "reports" / "sql" / "slices.sql").is_file()
    assert (installed / "grader" / "tracks" / "causalds" / "sql" / "readings.sql").is_file()


def test_the_wheel_alone_grades_and_writes_workspaces(installed, mini_release, tmp_path):
    """A missing package-data file shows only where the checkout is not there to help."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(mini_release)], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "100.0" in done.stdout
    exams = str(mini_release / "public" / "*_exams" / "*.parquet")
    with duckdb.connect() as connection:
        query = "SELECT count(*) FROM read_parquet(?) WHERE exam = 'mini'"
        counted = connection.execute(query, [exams])
        (asked,) = counted.fetchone() or (0,)
    assert len(list((tmp_path / "work").iterdir())) == asked


def test_the_figures_are_the_commands(release: Path, gold: Path, tmp_path: Path) -> None:
    out, opened = tmp_path / "report.json", Release(release, split="dev")
    words = [str(gold), "--release", str(release), "--split", "dev"]
    assert main([*words, "--json", str(out)]) == 0
    report = grade(gold, opened)
    assert json.loads(json.dumps(report.data)) == json.loads(out.read_text(encoding="utf-8"))
    assert report.points == 100 and set(report.tracks) == set(report.data["tracks"])
    assert len(report.tasks) == report.data["census"]["tasks"]
    assert "points=100" in repr(report)
    table = tmp_path / "rows.parquet"
    for told, more in ((report, []), (grade(gold, opened, reveal=True), ["--reveal"])):
        assert main([*words, "--parquet", str(table), *more]) == 0
        assert told.tasks == pq.read_table(table).to_pylist()
        assert all(("truth_json" in row) == bool(more) for row in told.tasks)


def test_answers_may_be_objects(release: Path) -> None:
    """A program has answers at hand, not files; what is wrong with one stands in its row."""
    opened = Release(release, split="dev")
    ids = {opened.task(i)["answer_schema"]: i for exam in opened.exams.values() for i in exam}
    answers = {ids["ate"]: {"ate": 1.5}, ids["effect_sign"]: '{"sign": ', "nobody-0": {}}
    report = grade(answers, opened, exam="all")
    rows = {row["task_id"]: row for row in report.tasks}
    assert rows[ids["ate"]]["status"] == "scored"
    assert (rows[ids["effect_sign"]]["status"], rows[ids["effect_sign"]]["reason"]) == (
        "invalid", "not_json",
    )  # fmt: skip
    assert report.data["unknown_answers"] == 1


def test_a_task_and_its_tables(release: Path) -> None:
    opened = Release(release, split="dev")
    known = [opened.task(task_id) for exam in opened.exams.values() for task_id in exam]
    data = next(task for task in known if task["input_mode"] == "data")
    table = opened.table(data["task_id"])
    assert table and len({len(values) for values in table.values()}) == 1
    story = next(task for task in known if task["input_mode"] != "data")
    assert opened.table(story["task_id"]) == {}
    predicted = {task["family"] for task in known if opened.table(task["task_id"], "test_features")}
    assert predicted == {"prediction"}
    assert data["prompt"] and not {"truth", "target"} & data.keys()
    with pytest.raises(UsageError, match="no such task"):
        opened.task("cds-0")
    with pytest.raises(UsageError, match="no such table"):
        opened.table(data["task_id"], "labels")


def test_a_private_split_tells_what_the_command_tells(release, secret, tmp_path):
    private = Release(release, split="test")
    report = grade(secret, private, ledger=tmp_path / "ledger.json")
    assert report.tasks == [] and report.data["redacted"] is True
    assert (tmp_path / "ledger.json").exists()
    revealed = grade(secret, private, reveal=True)
    assert revealed.points == 100 and revealed.tasks


def test_importing_the_package_is_light() -> None:
    """Every command imports it; only programs ask for what is heavy."""
    code = "import grader, sys; print('duckdb' in sys.modules, grader.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", grader.__version__]
    with pytest.raises(AttributeError, match="nothing"):
        _ = grader.nothing
