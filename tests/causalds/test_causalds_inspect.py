"""Looking at one scene: page, pictures, equations and the command."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from causalds_scenes import plain, plan, world

from builder.commands.main import main
from builder.equations.equation import Parent
from builder.equations.mechanisms import MECHANISMS
from builder.tracks import TRACKS
from builder.tracks.causalds.make.observe import recoverability
from builder.tracks.causalds.show.page import equation, inspect_scene, recovery_picture
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError
from grader.pages.graph import layered_graph
from grader.tracks.causalds.tables import world_graph


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
