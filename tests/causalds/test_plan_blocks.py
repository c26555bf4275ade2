"""Large splits are planned in blocks, each when it is asked for, and the same whenever it is."""

from pathlib import Path

import pytest

from builder.causalds.plan import names, scenes
from builder.causalds.plan.config import Config, parse_config
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.track import TRACK
from builder.cli.main import main
from builder.release.blocks import BlockSpecs, blocks_of
from builder.release.planning import planned_composition
from builder.settings import TomlTable

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
    more = {} if private else {"tellings": 1, "wild": {"scenes": 1}}
    found = plan_scenes(_config(24, **more), "s", ROOT, private)
    assert isinstance(found, BlockSpecs)
    specs = list(found)
    assert [spec.index for spec in specs] == list(range(len(found)))
    assert len(specs) == (24 if private else 24 + 3 + 1)
    assert [len(block) for block in blocks_of(found)][:2] == [8, 8]
    again = plan_scenes(_config(24, **more), "s", ROOT, private)
    assert (again[17], again[3], again[-1]) == (specs[17], specs[3], specs[-1])
    assert found[8:10] == specs[8:10]
    assert len({spec.instance_id for spec in specs}) == len(specs)
    assert {spec.config_json for spec in specs[:8]} != {spec.config_json for spec in specs[8:16]}


@pytest.mark.usefixtures("small_blocks")
def test_compositions_of_blocks_add_up() -> None:
    """The manifest says what was requested of the split, not of its first block."""
    config = _config(24)
    found = planned_composition(TRACK, config, plan_scenes(config, "s", ROOT, False))
    for axis in ("motif", "treatment", "verdict"):
        for side in ("requested", "realised"):
            assert sum(row[side] for row in found[axis].values()) == pytest.approx(24, abs=0.2)


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

    class Namer(names.Namer):
        def __init__(self, rng: object, scenes: int, *rest: object) -> None:
            asked.append(scenes)
            super().__init__(rng, scenes, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(names, "Namer", Namer)
    monkeypatch.setattr(names, "NAMED_TOGETHER", 3)
    assert len(plan_scenes(config, "s", ROOT, True)) == 8
    assert asked == [3, 3, 2]


def test_a_million_scenes_are_described_by_their_first_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever plans that much wants to know now, not tomorrow."""
    file = tmp_path / "million.toml"
    file.write_text(
        'name = "million"\nversion = "0.1.0"\n[splits.dev]\ntruth = "public"\nseed = "m"\n'
        "[splits.dev.causalds]\nscenes = 1000000\nmotifs = { chain = 1 }\n"
        "rows = { train = 200, test = 50 }\n",
        encoding="utf-8",
    )
    assert main(["plan", str(file)]) == 0
    told = capsys.readouterr().out
    assert "1000000" in told and "50000" in told and "planned in blocks of about 1000" in told
