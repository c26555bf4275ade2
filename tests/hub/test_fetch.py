"""Releases from the Hub: fetched once, checked, read without it, failures in one line; and what
others read of them: viewers, loaders, search engines, leaderboards."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fake_builder
import pyarrow.parquet as pq
import pytest
import yaml
from hub_store import check_card, check_eval_yaml
from huggingface_hub import parse_eval_result_entries
from local_hub import LocalHub, Says, put

from builder.release.manifest import read_manifest
from builder.release.papers import on_hub, papers
from grader.commands.main import main as grader
from grader.errors import UsageError
from grader.hub.client import Address

ADDRESS = "hf://org/exams@v1"
SPLIT = ("--split", "dev", "--exam", "all")


@pytest.fixture
def shown(hub: LocalHub, release: Path) -> LocalHub:
    """The small release's public side as ``org/exams``, tag ``v1``."""
    put(hub, "org/exams", release / "public", "v1")
    return hub


def test_an_address_is_taken_wherever_a_folder_is(shown, release, says, tmp_path, monkeypatch):
    """A user types one address for all commands, or sets it for all."""
    gold = tmp_path / "gold"
    assert says("gold", "--release", ADDRESS, *SPLIT, "--out", gold)[0] == 0
    at_hub = says("grade", gold, "--release", ADDRESS, *SPLIT, "--quiet")
    at_home = says("grade", gold, "--release", release / "public", *SPLIT, "--quiet")
    assert at_hub == at_home and "points 100" in at_hub[1]
    assert says("validate", gold, "--release", ADDRESS, *SPLIT)[0] == 0
    assert says("workspace", "--release", ADDRESS, *SPLIT, "--out", tmp_path / "work")[0] == 0
    task_id = next(gold.glob("cds-*.json")).stem
    assert says("explain", task_id, "--release", ADDRESS, "--split", "dev")[0] == 0
    shutil.copytree(gold, tmp_path / "board" / "gold")
    board = ("leaderboard", tmp_path / "board", "--release", ADDRESS, *SPLIT, "--workers", 1)
    assert says(*board)[0] == 0
    put(shown, "org/exams-private", release / "private", "v1")
    code, out, err = says("verify", ADDRESS, "--private", "hf://org/exams-private@v1")
    assert code == 0, out + err
    assert "private rows are what was committed to" in out
    monkeypatch.setenv("CAUSAL_EXAMS_RELEASE", ADDRESS)
    assert says("verify")[0] == 0


def test_what_was_fetched_needs_no_network(shown, says, monkeypatch):
    """An evaluation machine has none; nor may a tag be asked for again with every command."""
    code, out, _ = says("fetch", "org/exams@v1")
    assert code == 0 and "small" in out
    shown.requests.clear()
    assert says("verify", ADDRESS)[0] == 0
    assert shown.requests == []
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert says("verify", ADDRESS)[0] == 0
    code, _, err = says("verify", "hf://org/exams")
    assert code == 2 and "cannot be reached" in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_damaged_shard_is_fetched_again_by_the_same_command(shown: LocalHub, says: Says) -> None:
    shown.fail("GET", "^/cdn/", "garble")
    code, out, err = says("fetch", "org/exams@v1")
    assert (code, out) == (2, "") and "came damaged and was removed" in err
    assert err.count("\n") == 1, err
    assert says("fetch", "org/exams@v1")[0] == 0
    assert says("verify", ADDRESS)[0] == 0


@pytest.mark.slow
def test_each_closed_door_says_what_the_token_needs(shown, says, monkeypatch):
    def refuses(token: str, revision: str = "v1") -> str:
        monkeypatch.setenv("HF_TOKEN", token)
        code, _, err = says("fetch", f"org/exams@{revision}")
        assert code == 2 and err.count("\n") == 1
        return str(err)

    assert "no such revision" in refuses("hf_ann", "v9")
    assert "token was refused" in refuses("hf_gone")
    repo = shown.repo("org/exams")
    repo.private = True
    assert "a private one" in refuses("hf_bob")
    repo.private, repo.gated = False, "manual"
    told = refuses("hf_bob")
    assert "gated" in told and "HF_TOKEN" in told
    repo.allowed.add("bob")
    assert says("fetch", "org/exams@v1")[0] == 0


def _evil_shard(public: Path) -> None:
    shard = next(public.glob("*/dev-*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"!")


def _evil_name(public: Path) -> None:
    manifest = json.loads((public / "manifest.json").read_bytes())
    manifest["shards"]["../../evil-00000-of-00001.parquet"] = {"sha256": "0" * 64, "bytes": 1}
    (public / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("spoil", "line"),
    [(_evil_shard, "is not what its manifest.json says"), (_evil_name, "is not <config>/<file>")],
)
def test_shards_that_are_not_the_manifests_are_not_even_fetched(
    spoil, line, hub, release, says, tmp_path
):
    """Whoever can write to the repository can write its manifest; not what the manifest says."""
    public = shutil.copytree(release / "public", tmp_path / "public")
    spoil(public)
    put(hub, "org/exams", public, "v1")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and line in err
    assert not any(r.path.startswith("/cdn/") for r in hub.requests)


def test_without_the_client_there_is_one_line(says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "pip install 'causal-exams[hub]'" in err and err.count("\n") == 1


@pytest.mark.parametrize("text", ["exams", "hf://exams", "hf://org/../x", "org/a--b", "a/b/c", ""])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not an address on the Hub"):
        Address.parse(text)


@pytest.mark.slow
def test_an_exam_is_sat_by_its_address(shown, tmp_path, monkeypatch):
    """A sitting works in other folders and processes, so it needs the place, not the address."""
    pytest.importorskip("inspect_ai", reason="the extra run is not installed")
    import causal_exams.running
    from causal_exams.cli import main

    seen: list[str] = []

    def sit(_out: Path, _system: str, sitting: Any, *_: object, **__: object) -> int:
        seen.append(sitting.release)
        return 0

    monkeypatch.setattr(causal_exams.running, "sit", sit)
    words = ["run", ADDRESS, "--model", "mockllm/model", "--out", str(tmp_path / "run")]
    assert main([*words, "--split", "dev", "--exam", "mini"]) == 0
    assert (Path(seen[0]) / "manifest.json").is_file()


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
    assert fake_builder.main(["publish", str(tiny), "--repo", "org/exams", "--quiet"]) == 0
    environment = {name: v for name, v in os.environ.items() if name != "HF_HUB_CACHE"}
    environment |= {"HF_HOME": str(tmp_path / "home"), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD], env=environment, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.stdout == "loaded\n", done.stderr


RELEASE = ("--release", ADDRESS)


@pytest.fixture
def report(shown: LocalHub, says: Says, tmp_path: Path) -> Path:
    """A report about a published release."""
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
