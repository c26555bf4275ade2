"""A report's skills for a model repository, in the Hub's own format."""

import json
from pathlib import Path

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from local_hub import LocalHub, Says, put

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


def test_figures_are_read_back_by_the_hubs_own_reader(
    hub: LocalHub, report: Path, says: Says, tmp_path: Path
) -> None:
    """Ids as in eval.yaml, the commit that was graded, skill as reported."""
    told = ("results", report, "--model", "org/model", *RELEASE, "--out", tmp_path / "er")
    code, _, err = says(*told, "--source", "https://example.org/traces")
    assert code == 0, err
    (file,) = (tmp_path / "er").iterdir()
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("org/exams", "dev/mini", 100.0)
    assert entry.dataset_revision == hub.repo("org/exams").resolve("v1")
    assert (entry.notes, entry.source_url) == ("closed", "https://example.org/traces")


@pytest.mark.slow
def test_it_is_proposed_to_the_model_once(
    hub: LocalHub, report: Path, says: Says, tmp_path: Path
) -> None:
    hub.store.create("bob", "model", "bob/model", {})
    told = ("results", report, "--model", "bob/model", *RELEASE, "--out", tmp_path, "--publish")
    code, out, err = says(*told)
    assert code == 0 and "/discussions/1" in out, err
    model = hub.repo("bob/model", "model")
    model.commit("refs/heads/main", model.files("refs/pr/1"), "merge")
    code, out, _ = says(*told)
    assert code == 0 and "says so already" in out and len(model.discussions) == 1


def test_what_cannot_be_stated_is_one_line(
    hub: LocalHub, report: Path, says: Says, release: Path, tmp_path: Path
) -> None:
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
