"""Building causalab: what is planned, what becomes public, and what suites have in common."""

import json
from collections import Counter
from typing import Any, get_args

import pytest
from lab_worlds import episodes, worlds

from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance, InstanceSpec
from builder.tracks.causalab.ask import MODE_SENTENCES, write_prompt
from builder.tracks.causalab.check import audit_instance
from builder.tracks.causalab.plan import EpisodeSettings
from builder.tracks.causalab.show import report
from builder.tracks.causalab.suites import PAPER, SUITES
from builder.tracks.causalab.track import TRACK
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
    truths = {row["task_id"]: row for row in built.rows["causalab_truth"]}
    return [
        (
            row,
            json.loads(str(row["inputs_json"])),
            json.loads(str(truths[row["task_id"]]["target_json"])),
        )
        for row in built.rows["causalab"]
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
    (spec,) = specs(
        graphs=1, suites=["main-4", "3o0i-4", "12o0i-4", "3o12i-4"], settings=["reference"]
    )
    by_name = {
        private["suite"]: (public, private) for _, public, private in rows(TRACK.build(spec))
    }
    long, short = by_name["12o0i-4"][0], by_name["3o0i-4"][0]
    assert short["records"] == long["records"][:3] and len(long["records"]) == 12
    assert by_name["main-4"][0]["records"] == short["records"][:2]
    assert len({json.dumps(public["reactor"]) for public, _ in by_name.values()}) == 1
    assert short["opening"] is None and by_name["3o12i-4"][0]["opening"] is not None
    assert [by_name[n][1]["regime"] for n in ("3o0i-4", "3o12i-4", "main-4")] == [
        "3o0i", "3o12i", "2o12i",
    ]  # fmt: skip


def test_disclosed_suites_stand_beside_the_undisclosed_they_match() -> None:
    """Each disturbed suite once for each value, the others once; the truth rows tell them apart."""
    table: dict[str, Any] = {
        "suites": ["main-4", "hidden-range-5", "hidden-frequency-2 0o4i"],
        "graphs": 2,
    }
    (first, _) = specs(disclosed=[True, False], **table)
    made = TRACK.build(first)
    groups = {str(row["structure"]) for row in made.rows["causalab_truth"]}
    doubled = {"hidden-range-5", "hidden-range-5-wide", "hidden-frequency-2"}
    marked = {
        "hidden-range-5-disclosed",
        "hidden-range-5-disclosed-wide",
        "hidden-frequency-2-disclosed",
    }
    assert groups == {"main-4", "main-4-wide"} | doubled | marked
    (world,) = made.rows["causalab_worlds"]
    scene = {"tasks": made.rows["causalab"]}
    assert audit_instance(world, made.rows["causalab_truth"], None, scene) == []
    alone = {
        str(row["prompt"]) for spec in specs(**table) for row in TRACK.build(spec).rows["causalab"]
    }
    assert len(alone & {str(row["prompt"]) for row in made.rows["causalab"]}) == 5
    assert config(disclosed=True, **table).episodes == config(disclosed=[True], **table).episodes
    assert [suite.disclosed for suite, _ in config(**table).episodes] == [False] * 5


OWN = ["1o0i-3", "0o1i-7", "2o3i-5", "main-5 4o6i", "main-5 2o3i", "quad-hard 3o9i",
       "freqparent-4 5o3i", "hidden-frequency-2 0o4i"]  # fmt: skip


def test_regimes_of_ones_own_are_built_and_derived_twice() -> None:
    """Records and budget as the split file says, under the name that curves read, and the gate's
    second derivation finds no fault."""
    found = specs(graphs=2, suites=["main-5", *OWN])
    regimes = set()
    worlds_of, truths = [], {}
    for spec in found:
        made = TRACK.build(spec)
        worlds_of += [json.loads(str(row["world_json"])) for row in made.rows["causalab_worlds"]]
        truths |= {str(row["task_id"]): json.loads(str(row["target_json"]))
                   for row in made.rows["causalab_truth"]}  # fmt: skip
        for row, public, private in rows(made):
            seen, budget = len(public["records"]), public["budget"]
            assert private["regime"] == row["view"] == f"{seen}o{budget}i"
            regimes.add(f"{private['suite']} {private['regime']}")
            Episode.load(str(row["task_id"]), public, private)
        (world,) = made.rows["causalab_worlds"]
        scene = {"tasks": made.rows["causalab"]}
        assert audit_instance(world, made.rows["causalab_truth"], None, scene) == []
    views = {f"{name} {name.partition('-')[0]}" if name[0].isdigit() else name for name in OWN}
    assert regimes == {"main-5 2o16i", *views}
    told = "\n".join(report(worlds_of, truths))
    assert told.index("| main-5 |") < told.index("| main-5 4o6i |") and "| 2o3i-5 |" in told


def test_a_regime_of_the_papers_is_the_papers() -> None:
    """Naming what is there already changes no byte, and more suites none of the others."""
    (plain,) = specs(graphs=1, suites=["main-4", "3o6i-4"], settings=["reference"])
    (named,) = specs(graphs=1, suites=["3o6i-4", "main-4 2o12i"], settings=["reference"])
    assert plain == named
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
        ({"graphs": 2, "suites": ["main-4 90o90i"]}, "90 records and 90 interventions; use 1 to"),
        ({"graphs": 2, "suites": ["golden-4 2o4i"]}, "a trace .* leave its regime out"),
        ({"graphs": 2, "suites": ["3o6i-4 2o4i"]}, "names two regimes; write 2o4i-4"),
        ({"graphs": 2, "suites": ["hidden-count-1 6o0i"]}, "allow at least one, such as 2o1i"),
        ({"graphs": 2, "suites": ["main-9 2o4i"]}, 'unknown name "main-9 2o4i"'),
        ({"graphs": 2, "suites": ["2o4i-5", "2o4i-5"]}, "listed twice"),
        ({"graphs": 150}, "graphs of three named nodes"),
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


def test_a_disturbance_shifts_the_nodes_of_its_suite() -> None:
    """One sequence value an intervention; a cause of frequency first; frequency where asked."""
    for suite in (s for s in PAPER if s.hidden is not None):
        assert suite.hidden is not None
        for episode in episodes(suite.name, count=6):
            hidden = episode.disturbance
            assert hidden is not None and len(hidden.sequence) == episode.budget
            assert len(hidden.nodes) == suite.hidden.count
            assert (episode.target in hidden.nodes) == suite.hidden.frequency
            assert set(hidden.sequence) <= {-suite.hidden.reach, 0.0, suite.hidden.reach}
            causes = {cause for cause, effect in episode.edges if effect == episode.target}
            assert causes & set(hidden.nodes) or suite.name == "hidden-frequency-1"


def test_a_golden_trace_touches_every_property() -> None:
    for episode in [*episodes("golden-4"), *episodes("golden-6")]:
        steps = episode.public["chain"]
        assert {step["set"]["name"] for step in steps} == set(episode.names)
        assert episode.budget == 0 and len(steps) == 6


def test_the_prompt_says_nothing_that_the_public_side_does_not() -> None:
    """It is a function of the public side, and names neither suite nor mechanism."""
    for parts in [*worlds("hidden-range-50", "wide", 2), *worlds("quad-hard", count=2)]:
        text = write_prompt(parts.public, "lab-0", "lab-0.jsonl")
        for word in (parts.private["suite"], "hidden-", "wide", "reference", "shift,"):
            assert word not in text
        for reading in parts.public["records"]:
            assert all(f"{value:g}" in text for value in reading.values() if value % 1 == 0)
