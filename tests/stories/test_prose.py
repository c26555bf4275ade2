"""``splits/prose.toml``: stories of a language model that anybody can build again."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from builder.commands.build import lock_document
from builder.release.planning import plan_specs
from builder.splits.config import load_config
from builder.splits.roots import read_roots
from builder.splits.seeds import attempt_key
from builder.splits.settings import TomlTable
from builder.stories.story import NO_DIRECTION
from builder.stories.types import Facts
from builder.stories.verify import verify_attested
from builder.tracks import TRACKS
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import narrate, sample_hidden_world
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

TOLD = {"model": "m", "told_on": "d"}


@pytest.mark.parametrize("file", ["prose.toml", "prose-swap.toml"])
def test_every_stored_story_tells_its_scene(file, root, tmp_path, monkeypatch):
    """From anywhere, with the sentence of every fact and none besides."""
    monkeypatch.chdir(tmp_path)
    config = load_config(root / "splits" / file, TRACKS)
    specs = plan_specs(config, read_roots(config))["dev", "causalds"]
    pairs = [(ScenePlan.from_json(spec.config_json), spec.key) for spec in specs]
    pairs = [(plan, key) for plan, key in pairs if plan.telling.words == "stored"]
    plans = [plan for plan, _ in pairs]
    told = [narrate(plan, attempt_key(key, 0)) for plan, key in pairs]
    for plan, one in zip(plans, told, strict=True):
        graph = plan.structure.query.graph
        facts = Facts(one.variables, graph.edges, graph.latent)
        assert verify_attested(one.telling.story, one.telling.attestations, facts) == []
        assert one.telling.story.endswith(NO_DIRECTION)
    motifs = [plan.structure.motif for plan in plans]
    assert len(set(motifs)) == 12 and all(motifs.count(motif) == 2 for motif in motifs)
    names = [variable.name for one in told for variable in one.variables.values()]
    assert len(set(names)) > 0.9 * len(names), "the scenes are of different fields"


def test_prose_and_rules_tell_one_problem(root: Path) -> None:
    """The members of a bundle: one world and one table, four stories, of which one is in prose."""
    config = load_config(root / "splits" / "prose-swap.toml", TRACKS)
    specs = plan_specs(config, read_roots(config))["dev", "causalds"]
    bundles: dict[str, dict[str, ScenePlan]] = {}
    for plan in (ScenePlan.from_json(spec.config_json) for spec in specs):
        if plan.telling.bundle and plan.telling.arm:
            bundles.setdefault(plan.telling.bundle, {})[plan.telling.arm] = plan
    assert len(bundles) == 12
    for members in bundles.values():
        assert list(members) == ["llm", "rules", "fictional", "anonymous"]
        assert [plan.telling.words for plan in members.values()] == [
            "stored", "knowledge", "fictional", "anonymous"
        ]  # fmt: skip
        worlds = {(plan.structure, plan.equations) for plan in members.values()}
        assert len(worlds) == 1
        assert [plan.telling.stored is None for plan in members.values()] == [0, 1, 1, 1]
    first = next(iter(bundles.values()))
    keys = [bytes.fromhex(plan.equations.world_key or "") for plan in first.values()]
    truths = {sample_hidden_world(plan, attempt_key(key, 0))[1].association.value
              for plan, key in zip(first.values(), keys, strict=True)}  # fmt: skip
    assert len(truths) == 1


def test_stored_stories_of_one_structure_tell_one_problem(root: Path, tmp_path: Path) -> None:
    """``tellings = "llm"``: four of each, in one world; the first in all views."""
    stored = json.loads((root / "splits/model-stories.json").read_text(encoding="utf-8"))["scenes"]
    file, table = tmp_path / "told.json", {**TOLD, "file": "told.json"}
    values = {"words": "stored", "tellings": "llm", "views": ["clean", "proxy"], "stored": table}

    def plans(scenes: list[Any]) -> list[ScenePlan]:
        file.write_text(json.dumps({"scenes": scenes}), encoding="utf-8")
        own = {**values, "scenes": len(scenes)}
        settings = TRACK.parse(TomlTable(own, "x.toml: splits.dev.causalds.", tmp_path))
        specs = TRACK.plan(settings, "dev", bytes(32), False)
        return [ScenePlan.from_json(spec.config_json) for spec in specs]

    found = plans(stored[:1] * 4 + stored[3:4] * 4)
    for bundle in ("told-000", "told-001"):
        members = [plan for plan in found if plan.telling.bundle == bundle]
        assert len({(plan.structure, plan.equations) for plan in members}) == 1
        views = {plan.telling.arm: len(plan.questions.views) for plan in members}
        assert views == {"llm": 2, "llm_second": 1, "llm_third": 1, "llm_fourth": 1}
    with pytest.raises(UsageError, match="tells its problem of double_nc 3 times"):
        plans(stored[:1] * 3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"motifs": {"chain": 1}}, "motifs: comes with the stored scenes"),
        ({"scenes": 25}, "scenes: 24 scenes are stored"),
        ({"words": "knowledge", "composition": "full"}, 'stored: serves words = "stored" alone'),
        ({"stored": {**TOLD, "file": "none.json"}}, "cannot be read"),
        ({"stored": {**TOLD, "file": "prose.toml"}}, "is not a file of stored scenes"),
    ],
)
def test_what_stored_scenes_cannot_do_is_said(change, says, root):
    table = tomllib.loads((root / "splits" / "prose.toml").read_text(encoding="utf-8"))
    values = table["splits"]["dev"]["causalds"] | change
    with pytest.raises(UsageError, match=says) as caught:
        TRACK.parse(TomlTable(values, "x.toml: splits.dev.causalds.", root / "splits"))
    assert "\n" not in str(caught.value)


def test_stored_stories_are_for_public_splits(root: Path) -> None:
    ((_, settings), *_) = load_config(root / "splits" / "prose.toml", TRACKS).splits[0].tracks
    with pytest.raises(UsageError, match="stored stories are public"):
        TRACK.plan(settings, "test", bytes(32), True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prose", "prose-swap"])
def test_the_split_is_built_again_byte_for_byte(name: str, root: Path, tmp_path: Path) -> None:
    """Without a model, and the gate passes it; the card says who told the stories, and when."""
    command = [sys.executable, str(root / "build_dataset.py"), "build"]
    command += [str(root / "splits" / f"{name}.toml"), "--out", "release", "--workers", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    manifest = json.loads((tmp_path / "release/public/manifest.json").read_text())
    lock = json.loads((root / "splits" / f"{name}.lock.json").read_text())
    built = lock_document(manifest)
    if (lock["platform"], lock["libraries"]) == (built["platform"], built["libraries"]):
        assert lock == built
    gate = (tmp_path / "release/GATE.md").read_text()
    assert "| dev: gold answers | ok | " in gate and " tasks, 100 points" in gate
    card = " ".join((tmp_path / "release/public/README.md").read_text().split())
    assert "(`a large language model`, on 2026-11-22)" in card
