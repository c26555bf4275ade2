"""What a person does first with a release: load it with ``datasets``, query it with SQL."""

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml

from builder.release.manifest import read_manifest
from builder.release.papers import Place, card

LOAD = """
import sys
from datasets import load_dataset
folder = sys.argv[1]
tasks = load_dataset(folder + "/public", split="dev")
assert tasks.num_rows == 135 and tasks[0]["answer"], "default config"
assert load_dataset(folder + "/public", split="test")["answer"] == [None] * 45
assert load_dataset(folder + "/public", "causalds", split="test").num_rows == 45
scenes = load_dataset(folder + "/public", "causalds_scenes", split="dev")
scene = scenes[0]
assert [column["name"] for column in scene["data"]] == ["X", "Y"]
assert len(scene["data"][0]["values"]) == 50
assert scene["test_features"] == []
stream = load_dataset(folder + "/public", "causalds_scenes", split="dev", streaming=True)
assert list(stream)[0] == scene
assert load_dataset(folder + "/public", "causalds_exams", split="dev").num_rows == 20
truth = load_dataset(folder + "/private", split="test")
assert truth.num_rows == 45 and truth[0]["task_id"].startswith("cds-")
assert load_dataset(folder + "/private", "causalds_worlds", split="test").num_rows == 45
"""


def _front(card: str) -> dict[str, object]:
    front = yaml.safe_load(card.split("---\n")[1])
    assert isinstance(front, dict)
    return front


def _blocks(card: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", card, flags=re.DOTALL)


@pytest.mark.slow
def test_datasets_loads_every_kind_of_config_offline_and_streaming(tiny, tmp_path):
    """A card whose YAML does not fit its files makes the whole repository unloadable."""
    (example,) = _blocks((tiny / "public/README.md").read_text(), "python")
    code = f"{LOAD}\n{example}\nassert len(table['X']) == 50\nprint('loaded')"
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny)], cwd=tiny.parent, env=os.environ | offline,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.endswith("loaded\n"), done.stderr


@pytest.mark.parametrize("side", ["public", "private"])
@pytest.mark.parametrize("release", ["tiny", "built"])
def test_the_sql_on_the_card_runs(side, release, request, monkeypatch):
    """The card promises SQL straight on the shards, of one track or of all."""
    root = request.getfixturevalue(release) / side
    monkeypatch.chdir(root)
    queries = _blocks((root / "README.md").read_text(), "sql")
    assert queries
    with duckdb.connect() as connection:  # of its own: the shared one keeps unfinished results
        for query in queries:
            assert connection.sql(query).fetchall()


def test_every_shard_belongs_to_one_entry_of_the_card(tiny):
    """A shard that no glob finds is lost; one that two find is loaded twice."""
    for side in ("public", "private"):
        front = _front((tiny / side / "README.md").read_text())
        found: list[Path] = []
        for config in front["configs"]:
            for entry in config["data_files"]:
                files = list((tiny / side).glob(entry["path"]))
                assert files
                found += files
        assert sorted(found) == sorted((tiny / side).rglob("*.parquet"))
        assert sum("default" in config for config in front["configs"]) == 1


def test_the_cards_say_what_the_hub_needs(tiny):
    """Licence and size class are what the Hub's search filters on."""
    manifest = read_manifest(tiny / "public")
    del manifest["splits"]["dev"], manifest["configs"]["causalds_scenes"]
    told = card(manifest, Place("release/public", "release"))
    assert "python -m grader pack answers/ --release release --split test" in told
    assert "python -m grader answers/" not in told and "|  |" not in told
    assert "scenes" not in "".join(re.findall("```.*?```", told, re.DOTALL))
    cards = [(tiny / side / "README.md").read_text() for side in ("public", "private")]
    public, private = map(_front, cards)
    assert "${" not in "".join(cards), "a placeholder tells that nobody looked"
    assert public["license"] == private["license"] == "cc-by-4.0"
    assert public["size_categories"] == ["n<1K"]
    assert "extra_gated_fields" in private and "extra_gated_fields" not in public


def test_the_canary_is_in_card_manifest_and_shards(tiny):
    """A filter for training data sees single files, not the repository."""
    import pyarrow.parquet as pq

    card = (tiny / "public/README.md").read_text()
    (canary,) = re.findall(r"causal-exams:[0-9a-f-]{36}", card)
    assert canary.removeprefix("causal-exams:") in (tiny / "public/manifest.json").read_text()
    for file in tiny.rglob("*.parquet"):
        assert pq.read_schema(file).metadata[b"canary"].decode() == canary


def test_the_card_says_by_whom_the_stories_are_told(tiny):
    """A reader who looks for a language model's habits must not be told that there is none."""
    manifest = read_manifest(tiny / "public")
    assert "by rules, without a language model" in (tiny / "public/README.md").read_text()
    for day, said in (({}, ""), ({"told_on": "2026-11-22"}, ", on 2026-11-22")):
        table = manifest["configuration"]["splits"]["dev"]["causalds"]
        table["llm"] = {"model": "some-1", **day}
        told = " ".join(card(manifest, Place("release/public", "release")).split())
        assert f"those of `dev` by a language model (`some-1`{said})" in told
        assert "without a language model" not in told
