"""Floors: measured on a twin, stated beside a split file, copied into manifests, recomputed."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_release import SECRET

from builder.cli.main import main
from builder.floors.measure import best_policy, floors_of
from builder.floors.twin import Measured, TwinPart, draw_twin
from builder.gate.floors import split_floors as recomputed
from builder.release.build import build_release
from builder.release.config import ReleaseConfig, load_config
from builder.release.floors import stated_floors
from builder.release.roots import read_roots
from builder.release.show.progress import Reporter
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.floors import rules_sha256
from grader.io.release import Release
from grader.tracks import TRACKS as GRADED

SPLITS = """
name = "floored"
version = "0.1.0"

[splits.dev]
truth = "public"
seed = "floors 1"
[splits.dev.causalab]
graphs = 3
suites = ["main-3", "3o0i-4"]
[splits.dev.exams.practice]
causalab = { tasks = "all" }

[splits.test]
truth = "private"
secret_env = "FLOORS_SECRET"
[splits.test.causalab]
per_suite = 3
suites = ["main-3", "3o0i-4"]
[splits.test.exams.practice]
causalab = { tasks = "all" }
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split file with the floors of its exam beside it, by the command that a user types."""
    toml = tmp_path_factory.mktemp("floors") / "floored.toml"
    toml.write_text(SPLITS, encoding="utf-8")
    arguments = ["floors", str(toml), "practice", "--tasks", "20", "--workers", "1", "--quiet"]
    assert main(arguments) == 0
    return toml


def copied(measured: Path, folder: Path, change: Callable[[Any], object] | None = None) -> Path:
    """The split file and its floors in another folder, the floors changed."""
    shutil.copytree(measured.parent, folder, dirs_exist_ok=True)
    file = folder / "floors" / "practice.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    if change is not None:
        change(document)
    file.write_text(json.dumps(document), encoding="utf-8")
    return folder / measured.name


def built(toml: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The release of a split file, without a gate."""
    from builder.gate.report import GateReport

    monkeypatch.setenv("FLOORS_SECRET", SECRET)
    config = load_config(toml)
    roots, _ = read_roots(config)
    out = toml.parent / "release"
    gate = lambda *_: GateReport(())  # noqa: E731
    build_release(config, out, roots, gate, workers=1, reporter=Reporter(quiet=True))
    return out


def one(task: str, world: str, *points: float) -> Measured:
    return Measured(task, world, ("family.variant", ""), ("always yes", "always no"), points)


def test_a_floor_is_the_mean_of_the_best_policy_and_worlds_are_what_varies() -> None:
    """Four views of one world once counted as four draws."""
    alike = [one(f"t{i}", f"w{i // 4}", *((1.0, 0.0) if i < 12 else (0.0, 1.0))) for i in range(16)]
    floor = best_policy(alike, [1.0] * 16)
    assert (floor["points"], floor["policy"], floor["tasks"]) == (0.75, "always yes", 16)
    # Three worlds of 1 and one of 0: the deviations are 4·0.25 three times and 4·0.75 once.
    assert floor["se"] == pytest.approx((3 * 1.0**2 + 3.0**2) ** 0.5 / 16, abs=1e-6)
    weighted = best_policy(alike, [1.0] * 12 + [9.0] * 4)
    assert (weighted["points"], weighted["policy"]) == (0.75, "always no")


def test_policies_that_differ_from_task_to_task_have_no_mean() -> None:
    """It would be the mean of different answers."""
    other = Measured("t2", "w2", ("family.variant", ""), ("always no",), (1.0,))
    with pytest.raises(ValueError, match="policies differ"):
        best_policy([one("t1", "w1", 0.0, 1.0), other], [1.0, 1.0])


def test_measured_floors_stand_in_both_manifests_and_pass_the_gate(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By regime where it matters, with the policy's name; the same for both splits."""
    release = built(copied(measured, tmp_path), monkeypatch)
    manifests = [
        json.loads((release / side / "manifest.json").read_text(encoding="utf-8"))
        for side in ("public", "private")
    ]
    assert manifests[0]["floors"] == manifests[1]["floors"]
    entry = manifests[0]["floors"]["practice"]["causalab"]["laboratory.linear"]
    assert set(entry) == {"3 nodes", "4 nodes"}
    assert all(floor["tasks"] >= 20 and 0 < floor["points"] < 1 for floor in entry.values())
    opened = Release.open(release)
    found = [one for split in ("dev", "test") for one in recomputed(opened, split)]
    assert [(one.split, one.problems) for one in found] == [("dev", ()), ("test", ())]
    assert all(one.tasks for one in found)


def test_the_gate_refuses_floors_that_were_changed(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A floor put at 0 would make skill of nothing; a policy that nobody has, a riddle."""

    def change(document: Any) -> None:
        entry = document["floors"]["practice"]["causalab"]["laboratory.linear"]
        entry["3 nodes"] |= {"points": 0.95, "se": 0.001}
        entry["4 nodes"] |= {"policy": "asks an oracle"}

    release = built(copied(measured, tmp_path, change), monkeypatch)
    (first,) = recomputed(Release.open(release), "dev")
    assert any("its floor is 0.9500" in problem for problem in first.problems)
    assert any("nobody answers by 'asks an oracle'" in problem for problem in first.problems)


def test_an_exam_without_floors_is_built_with_one_remark(measured: Path, tmp_path: Path) -> None:
    """Skill is null then, and whoever builds is told what to type."""
    toml = tmp_path / "floored.toml"
    shutil.copy(measured, toml)
    found = stated_floors(load_config(toml))
    assert found.members == {}
    (remark,) = found.remarks
    assert "exam practice: no floors" in remark and f"floors {toml} practice" in remark


def of_other_rules(document: Any) -> None:
    document["floor_rules"]["practice"]["causalab"]["exam"] = "0" * 64


def of_another_grader(document: Any) -> None:
    document["floor_rules"]["practice"]["causalab"]["grader"] = "0" * 64


def of_a_variant_that_is_none(document: Any) -> None:
    floors = document["floors"]["practice"]["causalab"]
    floors["laboratory.cubic"] = floors["laboratory.linear"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (of_other_rules, "measured on an exam of other rules"),
        (of_another_grader, "measured by another grader's rules"),
        (of_a_variant_that_is_none, "laboratory.cubic, which is no variant"),
        (lambda d: d["floors"]["practice"].clear(), "not measured"),
    ],
)
def test_floors_that_do_not_fit_are_left_out_with_one_line(
    change: Callable[[Any], object], told: str, measured: Path, tmp_path: Path
) -> None:
    """Never a number on a scale that is another exam's."""
    found = stated_floors(load_config(copied(measured, tmp_path, change)))
    assert found.members == {}
    (remark,) = found.remarks
    assert told in remark and "skill of practice will be null" in remark


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "seed": "s", "floors": {}}']
)
def test_a_damaged_floors_file_is_one_line(text: str, measured: Path, tmp_path: Path) -> None:
    """It names the file and what to do."""
    toml = copied(measured, tmp_path)
    (tmp_path / "floors" / "practice.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"practice\.json: .*measure it again") as found:
        stated_floors(load_config(toml))
    assert "\n" not in str(found.value)


def test_floors_of_another_exam_in_this_ones_file_are_one_line(
    measured: Path, tmp_path: Path
) -> None:
    """A file that was copied under another name."""

    def change(document: Any) -> None:
        for member in ("floors", "floor_rules"):
            document[member]["theory"] = document[member].pop("practice")

    with pytest.raises(UsageError, match="floors of theory, not practice"):
        stated_floors(load_config(copied(measured, tmp_path, change)))


def test_other_sizes_keep_the_floors_and_other_rules_do_not(measured: Path, tmp_path: Path) -> None:
    """How many episodes a split has does not change what guessing is worth; which suites, does."""
    toml = copied(measured, tmp_path)
    toml.write_text(SPLITS.replace("graphs = 3", "graphs = 9"), encoding="utf-8")
    assert stated_floors(load_config(toml)).remarks == ()
    toml.write_text(SPLITS.replace('"main-3"', '"main-5"'), encoding="utf-8")
    assert "other rules" in stated_floors(load_config(toml)).remarks[0]


def test_one_exam_of_two_rules_has_no_floor(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of an exam would stand for two scales."""
    toml = tmp_path / "floored.toml"
    toml.write_text(SPLITS.replace('"main-3"', '"main-5"', 1), encoding="utf-8")
    assert main(["floors", str(toml), "all"]) == 2
    assert "drawn by other rules in another split" in capsys.readouterr().err
    assert main(["floors", str(measured), "practise"]) == 2
    assert "practice" in capsys.readouterr().err


def test_an_interrupted_measurement_goes_on_where_it_was(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that are there are not built again; one that was cut short is."""
    config: ReleaseConfig = load_config(measured)
    track = TRACKS["causalab"]
    assert track.floors.twin is not None
    asked = frozenset({"laboratory.linear"})
    settings = track.floors.twin(dict(config.splits[0].tracks)["causalab"], None, asked)

    def draw() -> Any:
        return draw_twin(
            "causalab", settings, "again", tmp_path / "parts",
            composed=False, tasks=5, asked=asked, workers=1, reporter=Reporter(quiet=True),
        )  # fmt: skip

    whole = draw()
    parts = sorted((tmp_path / "parts").iterdir())
    parts[0].write_bytes(parts[0].read_bytes()[:100])
    before = {part: part.stat().st_mtime_ns for part in parts[1:]}
    assert draw() == whole
    assert before == {part: part.stat().st_mtime_ns for part in parts[1:]}


def _floors(document: Any) -> dict[tuple[str, ...], Any]:
    """The floors of a file, one by one."""
    found: dict[tuple[str, ...], Any] = {}
    for exam, tracks in document["floors"].items():
        for track, variants in tracks.items():
            for key, entry in variants.items():
                for regime, floor in ({"": entry} if "policy" in entry else entry).items():
                    found[exam, track, key, regime] = floor
    return found


@pytest.mark.slow
def test_another_seeds_twin_gives_the_same_floors_within_their_errors(
    root: Path, tmp_path: Path
) -> None:
    """Every floor of ``mini``; several minutes. Best policies may change where two are alike."""
    toml = root / "splits" / "mini.toml"
    found = []
    for seed in ("one", "another"):
        arguments = ["floors", str(toml), "mini", "--seed", seed, "--out", str(tmp_path / seed)]
        assert main([*arguments, "--tasks", "100", "--quiet"]) == 0
        text = (tmp_path / seed / "mini.json").read_text(encoding="utf-8")
        found.append(_floors(json.loads(text)))
    assert found[0].keys() == found[1].keys()
    far = {}
    for place, first in found[0].items():
        second = found[1][place]
        error = (first["se"] ** 2 + second["se"] ** 2) ** 0.5
        off = abs(first["points"] - second["points"])
        far[place] = off / error if error else off * 1e6
    assert max(far.values()) < 4.5, far
    assert sum(one > 2 for one in far.values()) <= len(far) / 8, far


def test_an_exam_of_some_variants_has_their_floors_and_keeps_them_when_others_come() -> None:
    """A release of today would have no skill tomorrow, when its grader asks one thing more."""
    cells = [("f.a", ""), ("f.b", "")]
    twin = TwinPart(tuple(Measured("t", "w", cell, ("always",), (0.5,)) for cell in cells), ())
    track = TRACKS["causalab"]
    assert set(floors_of(track, None, twin)) == {"f.a", "f.b"}
    assert set(floors_of(track, None, twin, frozenset({"f.b"}))) == {"f.b"}
    graded = GRADED["causalab"]
    first, *others = graded.variants
    narrower = replace(graded, variants=(first,))
    assert rules_sha256(graded, [first.key]) == rules_sha256(narrower, [first.key])
    assert rules_sha256(graded, [first.key]) != rules_sha256(graded, [first.key, others[0].key])
    stricter = replace(graded, rules=graded.rules + 1)
    assert rules_sha256(graded, [first.key]) != rules_sha256(stricter, [first.key])
