"""What others read of a release: viewers, loaders, search engines, leaderboards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import fake_builder
import pyarrow.parquet as pq
import pytest
import yaml
from hub_store import check_card, check_eval_yaml
from huggingface_hub import parse_eval_result_entries
from local_hub import LocalHub, Says, put

from builder.release.card import on_hub
from builder.release.manifest import read_manifest
from builder.release.papers import papers
from grader.commands.main import main as grader

LOAD = """
import sys
from datasets import load_dataset
tasks = load_dataset("org/exams", split="dev")
assert tasks.num_rows == 135 and set(tasks.unique("track")) == {"causalds"}
assert all(tasks["answer"])
assert load_dataset("org/exams", split="test")["answer"] == [None] * 45
first = next(iter(load_dataset("org/exams", split="dev", streaming=True, revision="v0.1.0")))
assert first == tasks[0]
scenes = load_dataset("org/exams", "causalds_scenes", split="dev", streaming=True)
assert [len(column["values"]) for column in next(iter(scenes))["data"]] == [50, 50]
print("loaded")
"""


def test_the_flat_table_holds_right_answers_as_they_are_handed_in(tiny, tmp_path):
    """Written to files as they stand, they score what gold scores."""
    answers = tmp_path / "answers"
    answers.mkdir()
    for row in pq.read_table(tiny / "public/tasks/dev-00000-of-00001.parquet").to_pylist():
        (answers / row["answer_file"]).write_text(row["answer"], encoding="utf-8")
        assert json.loads(row["answer_schema_json"])["type"] == "object"
    report = tmp_path / "report.json"
    arguments = ["grade", str(answers), "--release", str(tiny), "--split", "dev"]
    assert grader([*arguments, "--exam", "all", "--json", str(report)]) == 0
    told = json.loads(report.read_bytes())
    assert told["points"] == 100 and told["census"]["scored"] == 135


def test_papers_are_what_the_hub_accepts_here_and_there(tiny: Path) -> None:
    """Front matter and registration are validated when they are pushed."""
    for side in ("public", "private"):
        manifest = read_manifest(tiny / side)
        there = papers(manifest, tiny / side, on_hub("org/exams", "v1"))
        check_card(there["README.md"])
        check_card((tiny / side / "README.md").read_text(encoding="utf-8"))
        assert ("eval.yaml" in there) == (tiny / side / "eval.yaml").is_file() == (side == "public")
    check_eval_yaml((tiny / "public/eval.yaml").read_bytes())
    told = yaml.safe_load((tiny / "public/eval.yaml").read_bytes())
    assert [task["id"] for task in told["tasks"]] == ["dev/mini", "test/demo"]


def test_croissant_lists_every_shard_with_its_hash(tiny: Path) -> None:
    manifest = read_manifest(tiny / "public")
    told = json.loads((tiny / "public/croissant.json").read_bytes())
    listed = {f["@id"]: f["sha256"] for f in told["distribution"] if "sha256" in f}
    assert listed == {name: entry["sha256"] for name, entry in manifest["shards"].items()}
    assert told["rai:personalSensitiveInformation"].startswith("None")
    hub = papers(manifest, tiny / "public", on_hub("org/exams", "v1"))["croissant.json"]
    urls = {f.get("contentUrl", "https:") for f in json.loads(hub)["distribution"]}
    assert all(url.startswith("https:") for url in urls)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["folder", "hub"])
def test_mlcroissant_finds_no_error(place: str, tiny: Path, tmp_path: Path) -> None:
    """Its verdict, and the first record that it reads by the description alone."""
    mlc = pytest.importorskip("mlcroissant", reason="the extra croissant is not installed")
    file = tiny / "public/croissant.json"
    if place == "hub":
        manifest = read_manifest(tiny / "public")
        file = tmp_path / "croissant.json"
        text = papers(manifest, tiny / "public", on_hub("org/exams", "v1"))["croissant.json"]
        file.write_text(text, encoding="utf-8")
    dataset = mlc.Dataset(str(file))
    assert not list(dataset.metadata.ctx.issues.errors)
    if place == "folder":
        record = next(iter(dataset.records("tasks-dev")))
        rows = pq.read_table(tiny / "public/tasks/dev-00000-of-00001.parquet").to_pylist()
        assert record["tasks-dev/task_id"].decode() == rows[0]["task_id"]


@pytest.mark.slow
def test_load_dataset_reads_it_from_the_hub_whole_and_streaming(hub, tiny, tmp_path):
    """What a data scientist types first."""
    assert fake_builder.main(["publish", str(tiny), "--repo", "org/exams", "--quiet"]) == 0
    environment = {name: v for name, v in os.environ.items() if name != "HF_HUB_CACHE"}
    environment |= {"HF_HOME": str(tmp_path / "home"), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD], env=environment, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.stdout == "loaded\n", done.stderr


RELEASE = ("--release", "hf://org/exams@v1")


@pytest.fixture
def report(hub: LocalHub, release: Path, says: Says, tmp_path: Path) -> Path:
    """A report about a published release."""
    put(hub, "org/exams", release / "public", "v1")
    gold, file = tmp_path / "gold", tmp_path / "report.json"
    options = (*RELEASE, "--split", "dev", "--exam", "mini")
    assert says("gold", *options, "--out", gold)[0] == 0
    (gold / "run.json").write_text(json.dumps({"system": "Sage", "setting": "closed"}))
    assert says("grade", gold, *options, "--json", file, "--quiet")[0] == 0
    return file


def test_figures_are_read_back_by_the_hubs_own_reader(hub, report, says, tmp_path):
    """Ids as in eval.yaml, the commit that was graded, skill as reported."""
    told = ("results", report, "--model", "org/model", *RELEASE, "--out", tmp_path / "er")
    code, out, err = says(*told)
    assert code == 0 and "hf upload org/model" in out, err
    (file,) = (tmp_path / "er").iterdir()
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("org/exams", "dev/mini", 100.0)
    assert entry.dataset_revision == hub.repo("org/exams").resolve("v1")
    assert entry.notes == "closed"


def test_what_cannot_be_stated_is_one_line(hub, report, says, release, tmp_path):
    document = json.loads(report.read_bytes())
    other, silent, none = (tmp_path / f"{name}.json" for name in ("other", "silent", "none"))
    document["release"]["content_sha256"] = {}
    other.write_text(json.dumps(document))
    none.write_text("[]")
    silent.write_text(json.dumps(json.loads(report.read_bytes()) | {"skill": None}))
    for file, more, line in [
        (other, RELEASE, "another release"),
        (silent, RELEASE, "no skill to state"),
        (none, RELEASE, "is not a report"),
        (tmp_path / "absent", RELEASE, "cannot be read"),
        (report, ("--release", release), "address on the Hub"),
    ]:
        code, _, err = says("results", file, "--model", "org/model", *more)
        assert code == 2 and line in err and err.count("\n") == 1, err
