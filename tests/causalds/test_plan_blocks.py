"""Large splits are planned in blocks, each when it is asked for, and the same whenever it is."""

import pickle
from collections import Counter
from pathlib import Path

import pytest

from builder.causalds.plan import names, scenes
from builder.causalds.plan.config import Config, parse_config
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.track import TRACK
from builder.cli.main import main
from builder.permutation import Permutation
from builder.release.blocks import BlockSpecs, Members, blocks_of
from builder.release.planning import planned_alike, planned_in_blocks, task_bounds
from builder.seeds import hmac_key
from builder.settings import TomlTable
from builder.words import naming
from builder.words.knowledge import domains

ROOT = bytes(32)


def _config(scenes: int, **more: object) -> Config:
    return parse_config(TomlTable({"scenes": scenes, "composition": "full", **more}, "here."))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes, "BLOCK", 10)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("private", [False, True])
def test_blocks_follow_each_other_and_are_planned_alike_again(private: bool) -> None:
    """A worker that is lost is replaced by one that gets the same specs."""
    more = {} if private else {"tellings": 1}
    found = plan_scenes(_config(24, **more), "s", ROOT, private)
    assert isinstance(found, BlockSpecs)
    specs = list(found)
    assert [spec.index for spec in specs] == list(range(len(found)))
    assert len(specs) == (24 if private else 24 + 3)
    assert [len(list(block)) for block in blocks_of(found)][:2] == [8, 8]
    again = plan_scenes(_config(24, **more), "s", ROOT, private)
    assert (again[17], again[3], again[-1]) == (specs[17], specs[3], specs[-1])
    assert found[8:10] == specs[8:10]
    assert len({spec.instance_id for spec in specs}) == len(specs)
    assert {spec.config_json for spec in specs[:8]} != {spec.config_json for spec in specs[8:16]}


@pytest.mark.usefixtures("small_blocks")
def test_a_worker_plans_the_members_of_its_part() -> None:
    """Whoever asked for the build would plan for weeks; a part's job has no specs in it."""
    specs = plan_scenes(_config(24), "s", ROOT, False)
    sent = pickle.dumps(Members.of(specs, 6, 12))
    assert len(sent) < 8000 and specs[9].config_json.encode() not in sent
    received = pickle.loads(sent)
    assert list(received) == specs[6:12]
    assert received.names() == [spec.instance_id for spec in specs[6:12]]
    few = Members.of(list(specs), 6, 12)
    assert list(few) == specs[6:12] and few.names() == received.names()


@pytest.mark.usefixtures("small_blocks")
def test_compositions_of_blocks_add_up() -> None:
    """The manifest says what was requested of the split, not of its first block."""
    config = _config(24)
    specs = plan_scenes(config, "s", ROOT, False)
    plan = planned_in_blocks(TRACK.name, config, specs, 1)
    assert plan.instances == 24 and sum(plan.requested["motif"].values()) == 24
    found = plan.composition
    for axis in ("motif", "treatment", "verdict"):
        for side in ("requested", "realised"):
            assert sum(row[side] for row in found[axis].values()) == pytest.approx(24, abs=0.2)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_of_every_kind_stand_for_all() -> None:
    """What is told before a build of days is what is built: quotas in full, scenes that only the
    last block has among them."""
    config = _config(52, tellings=2)
    specs = plan_scenes(config, "s", ROOT, False)
    assert len({len(list(block)) for block in blocks_of(specs)}) == 3
    told = planned_alike(TRACK, config, specs)
    full = planned_in_blocks(TRACK.name, config, specs, 1)
    assert told.instances == full.instances and told.requested == full.requested
    for axis, levels in full.composition.items():
        if axis != "names":
            assert set(told.composition[axis]) == set(levels)
            for level, row in levels.items():
                assert told.composition[axis][level] == pytest.approx(row)
    assert task_bounds(specs) == task_bounds(list(specs))


def test_a_small_split_is_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks must not change what is published."""
    whole = list(plan_scenes(_config(12), "s", ROOT, False))
    monkeypatch.setattr(scenes, "BLOCK", 12)
    assert list(plan_scenes(_config(12), "s", ROOT, False)) == whole


def test_names_begin_anew_where_a_private_split_would_run_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A private split of 4,300 scenes could not be planned."""
    config = _config(8, motifs={"triangle": 1}, composition="motifs")
    asked: list[int] = []

    class Namer(naming.Namer):
        def __init__(self, rng: object, scenes: int, *rest: object) -> None:
            asked.append(scenes)
            super().__init__(rng, scenes, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(names, "Namer", Namer)
    monkeypatch.setattr(names, "NAMED_TOGETHER", 3)
    assert len(plan_scenes(config, "s", ROOT, True)) == 8
    assert asked == [3, 3, 2]


@pytest.mark.parametrize("block", [5, 9])
def test_first_domains_do_not_depend_on_how_a_split_is_cut(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """They are a keyed permutation of the scenes: even over the split, whatever the layout."""
    dealt: list[int] = []

    class Namer(naming.Namer):
        def __init__(self, *args: object) -> None:
            assert isinstance(args[-1], list)
            dealt.extend(args[-1])
            super().__init__(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(names, "Namer", Namer)
    monkeypatch.setattr(scenes, "BLOCK", block)
    specs = plan_scenes(_config(2 * len(domains())), "s", ROOT, False)
    dealt.clear()  # the last block is planned at once
    assert len(list(blocks_of(specs))) == -(-2 * len(domains()) // block)
    list(specs)
    places = Permutation(hmac_key(ROOT, "causalds/s/domains"), 2 * len(domains()))
    assert dealt == [places(index) % len(domains()) for index in range(2 * len(domains()))]
    assert set(Counter(dealt).values()) == {2}


def test_many_scenes_are_described_by_few_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever plans that much wants to know now, not tomorrow."""
    monkeypatch.setattr(scenes, "BLOCK", 100)
    file = tmp_path / "million.toml"
    file.write_text(
        'name = "million"\nversion = "0.1.0"\n[splits.dev]\ntruth = "public"\nseed = "m"\n'
        "[splits.dev.causalds]\nscenes = 5000\nmotifs = { chain = 1 }\n"
        "rows = { train = 200, test = 50 }\n",
        encoding="utf-8",
    )
    assert main(["plan", str(file)]) == 0
    told = capsys.readouterr().out
    assert (
        "5000 public ids, no two alike" in told
        and "chain 5000" in told
        and "planned in 50 blocks" in told
    )
