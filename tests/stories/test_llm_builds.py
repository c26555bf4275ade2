"""Scenes in a model's words as the release builds, replaces, audits and publishes them."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_server import Reply
from llm_server import Model, causenet_lines

from builder.release.parts import build_instance
from builder.splits.config import load_config
from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance, InstanceSpec
from builder.tracks import TRACKS
from builder.tracks.causalds import track
from builder.tracks.causalds.check.audit import audit_instance
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

pytest.importorskip("openai")

ROOT = b"a root of a test, 32 bytes long."


def _table(model: Model, tmp_path: Path, **llm: Any) -> dict[str, Any]:
    return {
        "scenes": 6,
        "rows": {"train": 60, "test": 20},
        "motifs": {"chain": 1, "iv": 1, "mediation": 1},
        "treatment_binary": 0.5,
        "outcome_binary": 0.5,
        "words": "llm",
        "llm": {
            "endpoint": model.url,
            "model": "scripted",
            "transcripts": str(tmp_path / "kept"),
            "budgets": {"mapping": 2, "story": 2, "seeds": 1},
            "retries": 0,
            **llm,
        },
    }


def _specs(model: Model, tmp_path: Path, private: bool = False, **llm: Any) -> list[InstanceSpec]:
    table = TomlTable(_table(model, tmp_path, **llm), "test.toml: splits.dev.causalds.")
    return plan_scenes(TRACK.parse(table), "dev", ROOT, private)


def _audit(built: BuiltInstance, **changes: Any) -> list[str]:
    (world,) = built.rows["causalds_worlds"]
    label, *_ = [*built.rows["causalds_labels"], None]
    scene = {**built.rows["causalds_scenes"][0], **changes}
    return audit_instance(world, built.rows["causalds_truth"], label, scene)


def test_built_scenes_pass_the_audit_by_their_sentences(model: Model, tmp_path: Path) -> None:
    """The gate holds a free story to its attestations, and notices when it is changed."""
    for spec in _specs(model, tmp_path)[:3]:
        built = TRACK.build(spec)
        assert not built.rejections and _audit(built) == []
        story = str(built.rows["causalds_scenes"][0]["story"])
        found = _audit(built, story=story.replace("bears on", "has a part in", 1))
        assert len(found) == 2 and "no sentence of the story" in found[0]
        names = [v["name"] for v in _world(built)["variables"].values()]
        assert all(name in story for name in names)


def _world(built: BuiltInstance) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(str(built.rows["causalds_worlds"][0]["world_json"]))
    return record


def test_rebuilding_gives_the_same_rows_without_the_server(model: Model, tmp_path: Path) -> None:
    """Transcripts make a build of a model's words as repeatable as any other."""
    model.script["verifier"] = [lambda good: {**good, "effects": []}]
    spec = _specs(model, tmp_path)[0]
    first, asked = TRACK.build(spec), len(model.requests)
    model.always = dict.fromkeys(("mapper", "auditor", "writer", "verifier"), Reply(status=500))
    again = TRACK.build(spec)
    assert len(model.requests) == asked
    for config in ("causalds", "causalds_truth", "causalds_worlds"):
        assert first.rows[config] == again.rows[config]


def test_a_model_tells_one_problem_four_times_from_four_pairs(model: Model, tmp_path: Path) -> None:
    """CausalDS A.12: one world and one table; names and story differ. That one telling failed at
    first leaves it with the world of the others."""
    relations = [(f"cause_{k}", f"effect_{k}", 3 + i) for i, k in enumerate("abcdefghijkl")]
    file = tmp_path / "causenet.jsonl"
    file.write_bytes(causenet_lines(relations))
    budgets = {"mapping": 1, "story": 2, "seeds": 1}
    table = _table(model, tmp_path, causenet=str(file), budgets=budgets) | {"tellings": "llm"}
    planned = plan_scenes(TRACK.parse(TomlTable(table, "x.")), "dev", ROOT, False)
    of_bundle = defaultdict(list)
    for spec in planned:
        plan = ScenePlan.from_json(spec.config_json)
        of_bundle[plan.telling.bundle].append((plan.telling.arm, spec))
    assert all(len(members) == 4 for members in of_bundle.values())
    first, *others = sorted(of_bundle["told-000"])
    assert [first[0], *(arm for arm, _ in others)] == [
        "llm", "llm_fourth", "llm_second", "llm_third",
    ]  # fmt: skip
    model.script["writer"] = [lambda good: {**good, "told": []}] * 2
    built = [TRACK.build(spec) for _, spec in (first, *others[:2])]
    assert built[0].rejections == {"llm: story budget exhausted": 1} and not built[1].rejections
    records = [_world(one) for one in built]
    assert len({json.dumps(record["world"]) for record in records}) == 1
    assert len({tuple(record["causenet"]["pair"]) for record in records}) == 3
    tables = [one.rows["causalds_scenes"][0]["data"] for one in built]
    for one, other in zip(tables[0], tables[1], strict=True):
        assert list(one["values"]) == list(other["values"])


def test_a_scene_that_cannot_be_told_is_replaced_and_counted(model: Model, tmp_path: Path) -> None:
    """The next attempt starts with other seeds and a new conversation."""
    wrong = [lambda good: {**good, "told": []}] * 2
    model.script["writer"] = list(wrong)
    built = TRACK.build(_specs(model, tmp_path)[0])
    assert built.rejections == {"llm: story budget exhausted": 1}
    assert built.rows["causalds_worlds"][0]["attempt"] == 1 and _audit(built) == []
    assert len(list((tmp_path / "kept").glob("*.jsonl"))) == 2
    assert model.roles["writer"] == 3


def test_a_model_that_never_manages_is_reported_with_its_reason(model, tmp_path, monkeypatch):
    monkeypatch.setattr(track, "MAX_ATTEMPTS", 3)
    model.always["mapper"] = "no"
    budgets = {"mapping": 1, "story": 1, "seeds": 0, "repairs": 0}
    (spec, *_) = _specs(model, tmp_path, budgets=budgets)
    reason = r"no usable JSON from the mapper 3;"
    with pytest.raises(UsageError, match=rf"causalds/dev/0: .*{reason}"):
        TRACK.build(spec)


def test_a_server_that_is_down_replaces_no_scene(model: Model, tmp_path: Path) -> None:
    model.always["mapper"] = Reply(status=503)
    with pytest.raises(UsageError, match="status 503 after 0 retries"):
        build_instance(TRACK, _specs(model, tmp_path)[0])  # and it is no bug of the builder's
    assert model.roles["mapper"] == 1


def test_another_world_needs_no_other_words(model: Model, tmp_path: Path) -> None:
    """An attempt that is redrawn for its numbers keeps the story that was paid for."""
    specs = _specs(model, tmp_path, private=True)
    pairs = [(ScenePlan.from_json(spec.config_json), spec) for spec in specs]
    plan, spec = next(pair for pair in pairs if pair[0].structure.motif == "mediation")
    asked = replace(plan.questions, variant="association.sign_only")
    plans = [replace(plan, questions=replace(asked, wanted=wanted)) for wanted in ("+", "-")]
    built = [TRACK.build(replace(spec, config_json=one.to_json())) for one in plans]
    attempts = [one.rows["causalds_worlds"][0]["attempt"] for one in built]
    assert len(set(attempts)) == 2, "one sign cannot come out of one world twice"
    stories = {one.rows["causalds_scenes"][0]["story"] for one in built}
    assert len(stories) == 1 and model.roles["mapper"] == 1


def test_scenes_start_from_causenet_where_a_file_is_given(model: Model, tmp_path: Path) -> None:
    """The outcome and a neighbour carry the names of one relation, all the way to the columns."""
    relations = [
        ("heavy_rain", "flooding", 3), ("smoking", "lung_cancer", 4), ("drought", "crop_loss", 5)
    ]  # fmt: skip
    file = tmp_path / "causenet.jsonl"
    file.write_bytes(causenet_lines(relations))
    supports = {(_title(a), _title(b)): support for a, b, support in relations}
    for spec in _specs(model, tmp_path, causenet=str(file))[:3]:
        record = _world(TRACK.build(spec))
        called = {node: v["name"] for node, v in record["variables"].items()}
        pairs = {(called[a], called[b]) for a, b in record["world"]["edges"]}
        (seeded,) = pairs & supports.keys()
        assert called[record["outcome"]] in seeded
        assert str(file) not in json.dumps(record)
        assert record["causenet"] == {"pair": list(seeded), "support": supports[seeded]}


def _title(concept: str) -> str:
    return concept.replace("_", " ").capitalize()


def _split_file(model: Model, tmp_path: Path, llm: str) -> Path:
    """A split file of six scenes that the model tells, with more lines of its table."""
    file = tmp_path / "split.toml"
    file.write_text(
        'name = "told"\nversion = "0.0.1"\n[splits.dev]\ntruth = "public"\nseed = "told"\n'
        "[splits.dev.causalds]\nscenes = 6\nrows = { train = 60, test = 20 }\n"
        'motifs = { chain = 1, iv = 1, mediation = 1 }\nwords = "llm"\n'
        f'[splits.dev.causalds.llm]\nendpoint = "{model.url}"\nmodel = "scripted"\n'
        f'transcripts = "{tmp_path / "kept"}"\n{llm}'
    )
    return file


def test_words_and_their_table_go_together(model: Model, tmp_path: Path) -> None:
    table = _table(model, tmp_path)
    with pytest.raises(UsageError, match=r"llm: missing; give a table such as"):
        TRACK.parse(TomlTable({k: v for k, v in table.items() if k != "llm"}, "x."))
    with pytest.raises(UsageError, match=r'llm: serves words = "llm" alone'):
        TRACK.parse(TomlTable({**table, "words": "fictional"}, "x."))


def test_neither_manifest_nor_world_rows_tell_places(model: Model, tmp_path: Path) -> None:
    """Addresses, folders and variable names belong to one machine."""
    file = _split_file(model, tmp_path, 'key_env = "MY_KEY"\n')
    document = load_config(file, TRACKS).document
    assert document["splits"]["dev"]["causalds"]["llm"] == {"model": "scripted"}
    record = _world(TRACK.build(_specs(model, tmp_path)[0]))
    assert record["plan"]["telling"]["llm"]["model"] == "scripted"
    assert model.url not in json.dumps(record) and str(tmp_path) not in json.dumps(record)
    plan = ScenePlan.from_json(json.dumps(record["plan"]))
    assert json.loads(json.dumps(plan.record())) == record["plan"]


@pytest.mark.slow
def test_losses_are_regressed_on_the_support_of_a_built_release(model, tmp_path, capsys):
    """From the shipped pairs to a line a system: the support that world rows keep."""
    from baselines.__main__ import main as baseline
    from benchmarks.commonness import main as commonness
    from builder.commands.main import main as build

    sample = Path(__file__).parent.parent.parent / "splits/causenet-sample.jsonl"
    budgets = "retries = 0\nbudgets = { mapping = 2, story = 2, seeds = 1 }\n"
    file = _split_file(model, tmp_path, f'causenet = "{sample}"\n{budgets}')
    release = tmp_path / "release"
    assert build(["build", str(file), "--out", str(release), "--quiet", "--workers", "1"]) == 0
    for name in ("gold", "naive"):
        words = [name, "--release", str(release), "--exam", "all", "--out", str(tmp_path / name)]
        assert baseline(words) == 0
    capsys.readouterr()
    assert commonness([str(release), str(tmp_path / "gold"), str(tmp_path / "naive")]) == 0
    head, gold, naive, _ = capsys.readouterr().out.splitlines()
    assert head.startswith("system") and "+0.000 [+0.000, +0.000]" in gold
    assert naive.split()[0] == "naive" and "–" not in naive
