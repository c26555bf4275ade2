"""The observation layer: what views share, change and tell; looking at one scene."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from causalds_scenes import by_view, has_binary, in_views, part, plain, plan, specs, values, world

from builder.commands.main import main
from builder.equations.equation import Parent
from builder.equations.mechanisms import EMPIRICAL, MECHANISMS
from builder.release.attempts import Rejection
from builder.tracks import TRACKS
from builder.tracks.causalds.check.audit import audit_instance
from builder.tracks.causalds.design.scene_plan import VIEWS, ScenePlan, Thresholds, View
from builder.tracks.causalds.make.observe import draw_bundle, recoverability
from builder.tracks.causalds.show.page import equation, inspect_scene, recovery_picture
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError
from grader.pages.graph import layered_graph
from grader.tracks.causalds.tables import world_graph

ALL_VIEWS = ("clean", "proxy", "proxy_hard")


@cache
def viewed() -> tuple[tuple[Any, ...], ...]:
    """Task row, its declared inputs, world and scene of every task of scenes in three views."""
    return tuple(
        (task, json.loads(task["inputs_json"]), world(built), built)
        for built in in_views()
        for task in built.rows["causalds"]
    )


def test_truths_and_verdicts_are_the_same_in_every_view() -> None:
    for one in in_views():
        truth = {row["task_id"]: row for row in one.rows["causalds_truth"]}
        details = world(one)["task_details"]
        by_view: dict[str, dict[tuple[str, str], tuple[object, ...]]] = {v: {} for v in ALL_VIEWS}
        for task in one.rows["causalds"]:
            row = truth[task["task_id"]]
            key = f"{task['family']}.{task['variant']}", details.get(task["task_id"], "")
            by_view[task["view"]][key] = tuple(
                row[c] for c in ("should_abstain", "value", "value_se", "target_json", "structure")
            )
        for view in ALL_VIEWS[1:]:
            assert by_view[view].items() <= by_view["clean"].items()
            # Measured variables have wider margins: some labels are asked in the clean view only.
            wider = {key for key, _ in set(by_view["clean"]) - set(by_view[view])}
            assert all(key.startswith(("association.", "collider_", "effect_")) for key in wider)
            assert not any(key.endswith(("_point", "_95", "_predictor")) for key in wider)


def test_a_world_is_stored_in_the_nine_digits_that_it_was_built_from() -> None:
    """Every further digit would be another one on another processor, and so would the shard."""
    for one in in_views():
        record = world(one)
        stored = json.dumps([record["world"], record["views"], record["quantities"]])
        found = list[str]()
        json.loads(stored, parse_float=found.append)
        assert len(found) > 20
        assert [n for n in map(float, found) if n != float(f"{n:.9g}")] == []


def test_only_synthetic_profiles_put_squares_into_measurements() -> None:
    """Which profiles are empirical is a property of theirs, not of their place in a table."""
    squared: dict[str, bool] = {}
    for one in in_views():
        record = world(one)
        bundles = [b for view in record["views"].values() for b in view["bundles"].values()]
        parameters = [m["parameters"] for b in bundles for m in b["measurements"]]
        name = record["plan"]["equations"]["continuous"]
        found = any(any(one.get("squares", ())) for one in parameters)
        squared[name] = squared.get(name, False) or found
    assert set(squared.values()) == {True, False}
    assert all(found is (name not in EMPIRICAL["continuous"]) for name, found in squared.items())


def test_views_share_their_rows_and_show_replaced_variables_in_calibration_rows_only() -> None:
    """A column of the variable itself would make its measurements pointless."""
    replaced, indices = 0, list[float]()
    for one in in_views():
        rows, record = by_view(one), world(one)
        clean = values(rows["clean"], "data")
        assert rows["clean"]["calibration"] == []
        for view in ALL_VIEWS[1:]:
            for kind in ("data", "test_features"):
                shown, own = values(rows["clean"], kind), values(rows[view], kind)
                assert all(np.array_equal(shown[name], own[name]) for name in shown.keys() & own)
                assert len({v.size for v in (*shown.values(), *own.values())}) == 1
            bundles = record["views"][view]["bundles"]
            names = {record["variables"][node]["name"] for node in bundles}
            data, calibration = values(rows[view], "data"), values(rows[view], "calibration")
            assert not names & data.keys() and calibration.keys() == data.keys() | names
            chosen = record["views"][view]["calibration"]
            share = VIEWS[view].calibration
            assert len(chosen) == round(share * 600) == len(set(chosen))
            indices.append(float(np.mean(chosen)) / 599)
            for name in names:
                assert np.array_equal(calibration[name], clean[name][chosen])
                assert {f"{name}_meas_a", f"{name}_meas_b"} <= data.keys()
            outcome = record["variables"][record["outcome"]]["name"]
            features = values(rows[view], "test_features")
            assert not [n for n in features if n.partition("_meas_")[0] == outcome]
            replaced += len(names)
    assert replaced > 30
    assert abs(np.mean(indices) - 0.5) < 4 * np.sqrt(1 / 12 / 60 / len(indices))


def test_the_audit_sees_a_changed_measurement() -> None:
    one = in_views()[0]
    (record,), (label,) = one.rows["causalds_worlds"], one.rows["causalds_labels"]
    label = {**label, "values": list(map(float, label["values"]))}
    document = json.loads(record["world_json"])
    bundle = next(iter(document["views"]["proxy"]["bundles"].values()))
    for measurement in bundle["measurements"]:
        key = "bias" if "bias" in measurement["parameters"] else "gain"
        measurement["parameters"][key] += 2.0
    changed = {**record, "world_json": json.dumps(document)}
    views = {task["task_id"]: task["view"] for task in one.rows["causalds"]}
    truths = [t for t in one.rows["causalds_truth"] if views[t["task_id"]] == "proxy"]
    problems = audit_instance(changed, truths, label, by_view(one)["proxy"])
    assert any("noise sds" in text or "sigmas" in text for text in problems)


def test_thresholds_that_nothing_meets_end_in_a_clear_failure() -> None:
    """A scene that cannot be measured is replaced by rule, not measured badly."""
    view = View("proxy", (1, 1), (2, 2), (1.0, 3.0), thresholds=Thresholds(50, 50, 50, 50))
    with pytest.raises(Rejection):
        draw_bundle(np.random.default_rng(0), Parent(0.0, 1.0), (-3, 3), view)


def test_a_window_bounds_how_well_measurements_recover_a_variable() -> None:
    """The band of the paper's Figure 6: neither too hard nor too easy."""
    window = (0.3, 0.8)
    changes = {"concepts": [1, 1], "window": list(window)}
    planned = specs(views=["proxy"], observation={"proxy": changes}, diagnostics=True)
    built = TRACK.build(planned[0])
    (bundle,) = world(built)["views"]["proxy"]["bundles"].values()
    assert window[0] <= bundle["recoverability"]["joint"] <= window[1]


def test_a_binary_measurement_far_from_its_threshold_tells_nothing() -> None:
    """Its probability is 1 to the last digit there; 0/0 once made all its information unknown."""
    concept, hard = Parent(0.4, 1.7), VIEWS["proxy_hard"]
    bundles = (
        draw_bundle(np.random.default_rng(100 + i), concept, (-4.0, 5.0), hard) for i in range(12)
    )
    one = next(m for bundle in bundles for m in bundle.measurements if m.noise is None)
    far = one.information(np.array([-1e6, 1e6]))
    assert np.array_equal(far, [0.0, 0.0])


def test_private_scenes_ship_one_view_each() -> None:
    """One scene under two views would give away what the measurements hide."""
    planned = specs(scenes=30, views=list(ALL_VIEWS), private=True, split="test")
    plans = [ScenePlan.from_json(spec.config_json) for spec in planned]
    assert sorted(plan.questions.views[0].name for plan in plans) == sorted(ALL_VIEWS * 10)
    for spec in planned[:3]:
        rows = TRACK.build(spec).rows
        assert len(rows["causalds_scenes"]) == len(rows["causalds"]) == 1
        assert rows["causalds_scenes"][0]["view"] == rows["causalds"][0]["view"]
        if rows["causalds"][0]["input_mode"] == "story":
            assert rows["causalds_scenes"][0]["calibration"] == []


def test_prompts_explain_measurements_in_full_and_only_where_there_are_any() -> None:
    """Without the note a test taker could not know what the columns are."""
    for one in in_views()[:6]:
        record = world(one)
        for task in one.rows["causalds"]:
            bundles = record["views"][task["view"]]["bundles"]
            prompt = task["prompt"]
            explained = bool(bundles) and task["input_mode"] == "data"
            assert ("## Measurements" in prompt) == explained
            assert task["input_mode"] == "data" or "_meas_" not in prompt  # paper A.16.2
            for bundle in bundles.values() if explained else ():
                assert all(m["column"] in prompt for m in bundle["measurements"])
            random_sample = "`calibration.parquet`" in prompt and "simple random sample" in prompt
            assert random_sample == explained


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory):
    """Two scenes, three views, as shards on disk, with recoverability diagnostics."""
    folder = tmp_path_factory.mktemp("inspect")
    few = {"columns": [2, 2], "concepts": [1, 1]}
    settings = {
        "scenes": 2, "composition": "full", "rows": {"train": 300, "test": 80},
        "views": ["clean", "proxy", "proxy_hard"], "diagnostics": True,
        "observation": {"proxy": few, "proxy_hard": few},
    }  # fmt: skip
    done = [TRACK.build(spec) for spec in plan(settings)]
    (folder / "public").mkdir()
    (folder / "public" / "manifest.json").write_text("{}")
    for name, schema in TRACK.tables.items():
        rows = [row for one in done for row in one.rows[name]]
        rows = [plain(row) for row in rows] if name == "causalds_scenes" else rows
        (folder / "public" / name).mkdir()
        file = folder / "public" / name / "dev-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return folder, done


def test_the_page_shows_everything_and_needs_nothing_else(release, tmp_path, capsys) -> None:
    """Graph, equations, truths with errors, columns of every view, measurements, pictures."""
    folder, done = release
    for index, one in enumerate(done):
        file = tmp_path / "page.html"
        place = f"dev/{index}" if index else one.rows["causalds_worlds"][0]["instance_id"]
        assert main(["inspect", str(folder), place, "--out", str(file)]) == 0
        text, record = file.read_text(encoding="utf-8"), world(one)
        assert "://" not in text.replace("http://www.w3.org", "") and "<script" not in text
        for variable in record["variables"].values():
            assert variable["name"] in text
        for view, shown in record["views"].items():
            assert f"View {view}" in text
            for column in shown["columns"]:
                assert column["name"] in text
        boxes = re.findall(r"<rect[^>]*dasharray", layered_graph(world_graph(record)).markup())
        assert len(boxes) == len(record["world"]["latent"]), "unmeasured variables are dashed"
        told = dict(record["quantities"])
        given = [*told.pop("partial").values(), *told.pop("change").values()]
        for found in (*told.values(), *given):
            if found is None:
                assert "not identifiable" in text
            else:
                assert f"{found['value']:.6g}" in text and found["source"] in text
        assert "recoverability" in text
        shown_text = capsys.readouterr().out
        assert one.rows["causalds_worlds"][0]["instance_id"] in shown_text
        assert f"effect of {record['variables'][record['treatment']]['name']} on" in shown_text


def test_a_page_is_called_by_no_id_that_leads_elsewhere(release, tmp_path, monkeypatch, capsys):
    """Ids of a release made elsewhere became names of files."""
    drawn = replace(TRACK, scene_page=lambda *_: ("page", "../x\nwhat it shows"))
    monkeypatch.setitem(TRACKS, "causalds", drawn)
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", str(release[0]), "dev/0"]) == 2
    assert "is not a plain name" in capsys.readouterr().err
    assert not (tmp_path.parent / "x.html").exists()


def test_a_wrong_scene_is_refused_with_a_hint(release, tmp_path, capsys) -> None:
    folder, done = release
    name = done[0].rows["causalds_worlds"][0]["instance_id"]
    with pytest.raises(UsageError, match="did you mean"):
        inspect_scene(folder, name[:-1])
    with pytest.raises(UsageError, match="not among the 2 scenes"):
        inspect_scene(folder, "dev/17")
    assert main(["inspect", str(tmp_path), "dev/0"]) == 2
    assert "no release there" in capsys.readouterr().err


def test_the_recovery_picture_has_two_bars_a_variable() -> None:
    """Naive and joint, as in the paper's figure."""
    found = {"naive": 0.4, "joint": 0.7, "gap": 0.3}
    bars = [("A & B", found), ("C", {**found, "naive": -0.2})]
    svg = recovery_picture(bars).markup()
    ET.fromstring(svg)
    assert len(re.findall("<title>(?:naive|joint)", svg)) == 4 and "Δ 0.30" in svg


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_an_equation(name) -> None:
    """A scene whose equations cannot be read cannot be judged."""
    parents = [Parent(0.1, 1.2), Parent(0.5, 0.5, True)]
    noise = {"family": "student_t", "scale": 0.7, "shape": [6.0]}
    node = {
        "name": "V",
        "parents": ["A", "B"],
        "mechanism": name,
        "parameters": MECHANISMS[name].draw(np.random.default_rng(1), parents),
        "noise": None if MECHANISMS[name].kind == "binary" else noise,
    }
    text = equation(node, {"V": "Vee", "A": "Aye", "B": "Bee"})
    assert "Vee" in text and "Aye" in text and "Bee" in text and f"{name}(" in text


def test_recoverability_is_that_of_a_case_worked_by_hand() -> None:
    """Two unit-noise measurements of a standard normal: R^2 is 1/2 for one, 2/3 for both."""
    rng = np.random.default_rng(2)
    z = rng.standard_normal(16_000)
    w = np.column_stack([z + rng.standard_normal(16_000) for _ in range(2)])
    found = recoverability(w[:8000], z[:8000], w[:800], z[:800], w[8000:], z[8000:])
    assert found["naive"] == pytest.approx(0.5, abs=0.03)
    assert found["joint"] == pytest.approx(2 / 3, abs=0.03)
    assert found["gap"] == pytest.approx(found["misspecification"] + found["information_gain"])


def test_no_variable_is_shown_on_a_reversed_scale_and_measurements_may_be() -> None:
    """Measured or not, a larger number is more of the variable."""
    slopes = []
    for built in in_views():
        scenes = {row["view"]: row for row in built.rows["causalds_scenes"]}
        record = world(built)
        for view in ("proxy", "proxy_hard"):
            rows_, shown = values(scenes[view], "calibration"), record["views"][view]
            for node, bundle in shown["bundles"].items():
                name = record["variables"][node]["name"]
                slopes += [
                    np.corrcoef(rows_[one["column"]], rows_[name])[0, 1]
                    for one in bundle["measurements"]
                ]
    assert min(slopes) < -0.3 and max(slopes) > 0.3
    for task, _, record, _ in viewed():
        data = task["input_mode"] == "data"
        assert ("never reversed" in part(task["prompt"], "Scale")) == data
        measured = bool(record["views"][task["view"]]["bundles"])
        assert ("rise or fall with its variable" in task["prompt"]) == (data and measured)


def test_a_prediction_names_only_columns_that_are_there_to_be_left_out() -> None:
    """A measured outcome has no column of its own; its measurements are what is held back."""
    seen = set()
    for task, inputs, record, built in viewed():
        if task["family"] != "prediction":
            continue
        measured = record["outcome"] in record["views"][task["view"]]["bundles"]
        outcome = inputs["outcome"]
        (scene,) = (s for s in built.rows["causalds_scenes"] if s["view"] == task["view"])
        there = outcome in {column["name"] for column in scene["columns"]}
        assert there is not measured
        question = part(task["prompt"], "Question")
        assert ("but that one" in question) == there
        assert (f"but the measurements of **{outcome}**" in question) == measured
        seen.add(measured)
    assert seen == {True, False}


def test_a_measured_binary_variable_is_listed_with_its_values() -> None:
    """The scale section says that binary variables are 0 and 1 'as listed above'."""
    met = 0
    for task, _, record, _ in viewed():
        if task["input_mode"] == "story":
            continue
        assert ("as listed above" in part(task["prompt"], "Scale")) == has_binary(record)
        listed = part(task["prompt"], "Measurements")
        for node in record["views"][task["view"]]["bundles"]:
            variable = record["variables"][node]
            states = variable["states"] or ("", "")
            kind = "continuous" if variable["kind"] == "continuous" else "binary: 1 if"
            (line,) = (x for x in listed.split("\n") if x.startswith(f"- {variable['name']} ("))
            assert f"({kind}" in line and states[0] in line and states[1] in line
            met += variable["kind"] == "binary"
    assert met > 20
