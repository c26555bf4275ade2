"""Building causalab: plans, what becomes public, what suites share; a private split, hosted."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from laboratories import audit, episodes, worlds

from baselines.__main__ import main as answer
from builder.commands.main import main as build
from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance, InstanceSpec
from builder.tracks.causalab.ask import MODE_SENTENCES, write_prompt
from builder.tracks.causalab.plan import PAPER, SUITES, EpisodeSettings
from builder.tracks.causalab.track import TRACK
from grader.commands.main import main as grade
from grader.errors import UsageError
from grader.laboratory.episode import Episode
from grader.laboratory.model import Mode

ROOT = b"causalab build tests"


def config(**table: object) -> EpisodeSettings:
    return TRACK.parse(TomlTable(table, "splits.dev.causalab."))


def specs(private: bool = False, **table: object) -> list[InstanceSpec]:
    return TRACK.plan(config(**table), "dev", ROOT, private)


def rows(built: BuiltInstance) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Task row, public side and private side of every episode."""
    pairs = zip(built.rows["causalab"], built.rows["causalab_truth"], strict=True)
    return [
        (row, json.loads(str(row["inputs_json"])), json.loads(str(truth["target_json"])))
        for row, truth in pairs
    ]


def test_matched_suites_are_episodes_of_one_graph() -> None:
    """Four-node suites share topology; linear ones of a setting share coefficients too."""
    found = specs(graphs=2, suites=["main-4", "quad-hard", "hidden-count-2", "3o6i-4", "golden-4"])
    assert len(found) == 2
    for spec in found:
        episodes_of = rows(TRACK.build(spec))
        assert len(episodes_of) == 6  # main-4 in both settings
        edges = {
            frozenset((t["parent"], n) for n, ts in private["equations"].items() for t in ts)
            for _, _, private in episodes_of
        }
        assert len(edges) == 1
        linear = [
            private["equations"]
            for _, public, private in episodes_of
            if public["family"] == "linear" and private["setting"] == "reference"
        ]
        assert len(linear) == 4 and all(equations == linear[0] for equations in linear)


def test_regimes_are_views_of_one_episode_with_nested_records() -> None:
    """12o0i shows 3o0i's records and nine more; crystals and target are the same."""
    suites = ["main-4", "3o0i-4", "12o0i-4", "3o12i-4"]
    (spec,) = specs(graphs=1, suites=suites, settings=["reference"])
    by_name = {private["suite"]: (shown, private) for _, shown, private in rows(TRACK.build(spec))}
    long, short = by_name["12o0i-4"][0], by_name["3o0i-4"][0]
    assert short["records"] == long["records"][:3] and len(long["records"]) == 12
    assert by_name["main-4"][0]["records"] == short["records"][:2]
    assert len({json.dumps(public["reactor"]) for public, _ in by_name.values()}) == 1
    assert short["opening"] is None and by_name["3o12i-4"][0]["opening"] is not None
    regimes = [by_name[n][1]["regime"] for n in ("3o0i-4", "3o12i-4", "main-4")]
    assert regimes == ["3o0i", "3o12i", "2o12i"]


def test_disclosed_suites_stand_beside_the_undisclosed_they_match() -> None:
    """Each disturbed suite once for each value, the others once; the truth rows tell them apart."""
    suites = ["main-4", "hidden-range-5", "hidden-frequency-2"]
    table: dict[str, Any] = {"graphs": 2, "suites": suites}
    (first, _) = specs(disclosed=[True, False], **table)
    made = TRACK.build(first)
    groups = {str(row["structure"]) for row in made.rows["causalab_truth"]}
    assert groups == {"main-4", "main-4-wide"} | {
        f"{name}{mark}{setting}"
        for name, setting in zip((*suites[1:], suites[1]), ("", "", "-wide"), strict=True)
        for mark in ("", "-disclosed")
    }
    assert audit(made) == []
    alone = {
        str(row["prompt"]) for spec in specs(**table) for row in TRACK.build(spec).rows["causalab"]
    }
    assert len(alone & {str(row["prompt"]) for row in made.rows["causalab"]}) == 5
    assert config(disclosed=True, **table).episodes == config(disclosed=[True], **table).episodes
    assert [suite.disclosed for suite, _ in config(**table).episodes] == [False] * 5


OWN = ["1o0i-3", "0o1i-7", "2o3i-5", "4o6i-5"]


def test_regimes_of_ones_own_are_built_and_derived_twice() -> None:
    """Records and budget as the split file says, under the name that curves read, and the gate's
    second derivation finds no fault in them, nor in any suite with a disturbance."""
    papers = [suite for suite in PAPER if suite.hidden or suite.name in ("main-5", "quad-hard")]
    found = specs(graphs=2, suites=[*(suite.name for suite in papers), *OWN])
    regimes = set()
    for spec in found:
        made = TRACK.build(spec)
        for row, public, private in rows(made):
            seen, budget = len(public["records"]), public["budget"]
            assert private["regime"] == row["view"] == f"{seen}o{budget}i"
            regimes.add(f"{private['suite']} {private['regime']}")
            Episode.load(str(row["task_id"]), public, private)
        assert audit(made) == []
    views = {f"{name} {name.partition('-')[0]}" for name in OWN}
    assert regimes == {f"{suite.name} 2o{suite.budget}i" for suite in papers} | views


def test_suites_of_ones_own_change_none_of_the_others() -> None:
    (plain,) = specs(graphs=1, suites=["main-4", "3o6i-4"], settings=["reference"])
    (more,) = specs(graphs=1, suites=["main-4", "3o6i-4", "3o7i-4"], settings=["reference"])
    rows_of = {s: {str(r["task_id"]): r for r in TRACK.build(s).rows["causalab"]}
               for s in (plain, more)}  # fmt: skip
    assert rows_of[plain].items() <= rows_of[more].items() and len(rows_of[more]) == 3


def test_in_a_private_split_no_graph_is_in_two_episodes() -> None:
    found = specs(private=True, per_suite=2)
    plans = [json.loads(spec.config_json) for spec in found]
    assert all(len(plan["episodes"]) == 1 for plan in plans)
    graphs = [(frozenset(plan["names"]), str(plan["edges"])) for plan in plans]
    assert len(set(graphs)) == len(graphs) == 2 * sum(len(s.settings) for s in SUITES.values())


def test_more_graphs_than_there_are_is_one_line() -> None:
    """Suites of four nodes ask for 28 times as many: drawing went on for ever, in twins too."""
    with pytest.raises(UsageError, match=r"dev\.causalab\.per_suite: 140. different .*lower it$"):
        specs(private=True, per_suite=50)
    with pytest.raises(UsageError, match=r"dev\.causalab\.graphs: 150 different graphs of 3 nodes"):
        specs(graphs=150)
    floors = TRACK.floors
    assert floors is not None
    planned = TRACK.plan(floors.twin(config(per_suite=20), 200), "twin", ROOT, False)
    asked = Counter(key for spec in planned for key in floors.variants_of(spec))
    assert asked["laboratory.quadratic"] == 100 and asked["laboratory.linear"] > 200


def test_shared_graphs_are_refused_in_a_private_split() -> None:
    with pytest.raises(UsageError, match=r"splits\.dev\.causalab\.graphs: .*per_suite"):
        specs(private=True, graphs=2)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "graphs: write either"),
        ({"graphs": 2, "per_suite": 2}, "graphs: write either"),
        ({"graphs": 0}, "graphs: must be a whole number"),
        ({"graph": 2}, "graph: unknown key.*graphs"),
        ({"graphs": 2, "suites": ["main-9"]}, 'suites: unknown name "main-9".*main-'),
        ({"graphs": 2, "suites": []}, "suites: must be a list"),
        ({"graphs": 2, "suites": ["golden-4"], "settings": ["wide"]}, "no suite named exists"),
        ({"graphs": 2, "suites": ["4o8i-9"]}, 'suites: "4o8i-9" has 9 nodes; end it with -3 to'),
        ({"graphs": 2, "suites": ["0o0i-4"]}, "0 records and 0 interventions; use 1 to 100"),
        ({"graphs": 2, "suites": ["90o90i-4"]}, "90 records and 90 interventions; use 1 to"),
        ({"graphs": 2, "suites": ["main-4 2o4i"]}, 'unknown name "main-4 2o4i"'),
        ({"graphs": 2, "suites": ["2o4i-5", "2o4i-5"]}, "listed twice"),
        ({"graphs": 2, "mode": "soft"}, 'mode: unknown name "soft"'),
        ({"graphs": 2, "disclosed": "yes"}, r'disclosed: must be false, true or .*, not "yes"'),
        ({"graphs": 2, "disclosed": 1}, "disclosed: must be false, true or .*, not 1"),
        ({"graphs": 2, "disclosed": []}, "disclosed: must be false, true or"),
        ({"graphs": 2, "disclosed": [True, True]}, "disclosed: must be false, true or"),
        (
            {"graphs": 2, "disclosed": True, "suites": ["main-4"]},
            "disclosed: no suite named has a hidden disturbance; leave the key out",
        ),
    ],
)
def test_a_bad_table_is_one_line_with_the_key_and_the_fix(table, message):
    with pytest.raises(UsageError, match=f"splits.dev.causalab.*{message}") as caught:
        config(**table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_split_can_be_in_any_mode_and_the_prompt_says_which(mode: str) -> None:
    (spec,) = specs(graphs=1, suites=["golden-4"], mode=mode)
    ((row, public, private),) = rows(TRACK.build(spec))
    assert public["mode"] == mode
    assert [s in str(row["prompt"]) for s in MODE_SENTENCES.values()] == [
        m == mode for m in get_args(Mode)
    ]
    Episode.load(str(row["task_id"]), public, private)


def test_wide_bars_a_property_from_control_in_half_of_the_graphs() -> None:
    found = [
        [entry["controllable"] for entry in parts.public["variables"]]
        for parts in worlds("main-7", "wide", 10)
    ]
    assert sum(not all(flags) for flags in found) == 5
    assert all(sum(flags) >= 4 for flags in found)
    assert all(all(e["controllable"] for e in p.public["variables"]) for p in worlds("main-7"))


def test_a_golden_trace_touches_every_property() -> None:
    for episode in [*episodes("golden-4"), *episodes("golden-6")]:
        steps = episode.public["chain"]
        assert {step["set"]["name"] for step in steps} == set(episode.names)
        assert episode.budget == 0 and len(steps) == 6


def test_the_prompt_says_nothing_that_the_public_side_does_not() -> None:
    for parts in [*worlds("hidden-range-50", "wide", 2), *worlds("quad-hard", count=2)]:
        text = write_prompt(parts.public, "lab-0", "lab-0.jsonl")
        for word in (parts.private["suite"], "hidden-", "wide", "reference", "shift,"):
            assert word not in text
        for reading in parts.public["records"]:
            assert all(f"{value:g}" in text for value in reading.values() if value % 1 == 0)


SPLITS = """
name = "laboratories"
version = "0.1.0"
floor_tasks = 0

[splits.dev]
truth = "public"
seed = "laboratories 1"
[splits.dev.causalab]
graphs = 2
suites = ["main-3", "freqparent-4", "3o0i-4"]
[splits.dev.exams.practice]
causalab = { tasks = "all" }

[splits.test]
truth = "private"
secret_env = "LABORATORY_TEST_SECRET"
[splits.test.causalab]
per_suite = 2
suites = ["main-3", "hidden-count-1", "golden-4"]
[splits.test.exams.final]
causalab = { tasks = "all" }
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten public and eight private episodes, past the gate."""
    folder = tmp_path_factory.mktemp("laboratories")
    (folder / "splits.toml").write_text(SPLITS, encoding="utf-8")
    out = folder / "release"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABORATORY_TEST_SECRET", "8f3a91c2d04be5167a22f10c9d5e4b6a" * 2)
        command = ["build", str(folder / "splits.toml"), "--out", str(out), "--quiet"]
        assert build([*command, "--workers", "1"]) == 0
    return out


def test_a_private_split_needs_its_host(release, tmp_path, capsys):
    """The public folder is all that a test taker has; the maintainer hosts the laboratory."""
    arguments = ["--release", str(release), "--split", "test", "--out"]
    assert answer(["solver", *arguments, str(tmp_path / "a")]) == 2
    error = capsys.readouterr().err
    assert "private in split test" in error and "--private" in error
    hosted = [*arguments, str(tmp_path / "b"), "--private", str(release)]
    assert answer(["solver", *hosted]) == 0
    command = [str(tmp_path / "b"), "--release", str(release), "--split", "test"]
    report = tmp_path / "report.json"
    assert grade([*command, "--quiet", "--csv", str(tmp_path / "rows.csv")]) == 2
    assert grade([*command, "--quiet", "--reveal", "--json", str(report)]) == 0
    assert json.loads(report.read_text(encoding="utf-8"))["points"] >= 95


def test_blind_answers_need_no_host(release: Path, tmp_path: Path) -> None:
    """``constant`` and, without a host, ``random`` open no laboratory and still are sessions."""
    for name in ("constant", "random"):
        out = tmp_path / name
        options = ["--release", str(release), "--split", "test", "--out", str(out)]
        assert answer([name, *options]) == 0
        command = [str(out), "--release", str(release), "--split", "test", "--quiet", "--strict"]
        assert grade(command) == 0


def test_the_generation_report_stands_beside_table_1(release, capsys):
    assert build(["inspect", str(release)]) == 0
    text = capsys.readouterr().out
    assert "4 graphs" not in text and "6 graphs, 10 episodes." in text
    row, _ = (line for line in text.splitlines() if line.startswith("| 3 |"))
    assert row.startswith("| 3 | 50 / 2 | 2.56 / ")
    assert "# dev: causalab" in text and "rejected attempts: " in text
