"""The site to read tasks: complete, true, and safe whatever the release and the answers hold."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from browser import WIDTHS, browser, console, opened, parsed
from grading import Runner, put
from small_release import TASKS, task_id

from grader.commands.main import main
from grader.opening import open_release
from grader.pages.browse import INDEX, TaskView, pages
from grader.pages.graph import Explanation, Graph, layered_graph
from grader.release.exam import Split
from grader.release.scenes import Scene
from grader.scoring.model import RawAnswer

NASTY = "<img src=x onerror=alert(1)>\"'&</svg></style><b>\u202e\x07"
MARKDOWN = "![x](http://a/b) [x](javascript:y) <http://a> &#8238; [x]\n\n[x]: http://a\n<i>x</i>"


@pytest.fixture(scope="module")
def site(mini_release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of ``mini`` with the right answers."""
    place = tmp_path_factory.mktemp("site")
    at = ["--release", str(mini_release), "--exam", "mini"]
    assert main(["gold", *at, "--out", str(place / "gold")]) == 0
    words = ["browse", str(mini_release), "--exam", "mini", "--answers", str(place / "gold")]
    assert main([*words, "--html", str(place / "site")]) == 0
    return place / "site"


def test_every_task_has_a_page_and_a_row(site: Path, mini_release: Path) -> None:
    exams = [pq.read_table(file) for file in mini_release.glob("public/*_exams/*.parquet")]
    ids = {row["task_id"] for table in exams for row in table.to_pylist() if row["exam"] == "mini"}
    assert {file.stem for file in site.iterdir()} == ids | {"index"}
    index = parsed((site / INDEX).read_text("utf-8"))
    linked = {link.get("href") for link in index.iter("a")}
    assert {f"{name}.html" for name in ids} <= linked
    for file in site.iterdir():
        text = file.read_text("utf-8")
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        assert "default-src 'none'" in text and text.count("<script") == (file.name == INDEX)
        assert parsed(text) is not None
        assert ("test features:" in text) == ("causalds, prediction." in text), "no test, no rows"


def test_sentences_light_the_edges_that_they_tell(site: Path, mini_release: Path) -> None:
    """Against the world rows, read by another reader: each told edge, in its sentence."""
    worlds = {
        row["instance_id"]: json.loads(row["world_json"])
        for file in mini_release.glob("public/causalds_worlds/*.parquet")
        for row in pq.read_table(file).to_pylist()
    }
    tasks = {
        row["task_id"]: row["instance_id"]
        for file in mini_release.glob("public/causalds/*.parquet")
        for row in pq.read_table(file, columns=["task_id", "instance_id"]).to_pylist()
    }
    seen = 0
    for file in site.glob("cds-*.html"):
        world = worlds[tasks[file.stem]]
        body = parsed(file.read_text("utf-8"))
        drawn = {
            node.get("class", "").split()[1]: node.find("{*}title").text  # type: ignore[union-attr]
            for node in body.iterfind(".//{*}g")
            if node.get("class", "").startswith("edge ")
        }
        names = {node: variable["name"] for node, variable in world["variables"].items()}
        edges = {f"{names[a]} → {names[b]}" for a, b in world["world"]["edges"]}
        assert set(drawn.values()) == edges
        told = {
            (drawn[kind], " ".join(span.itertext()))
            for span in body.iter("span")
            if span.get("class", "").startswith("told ")
            for kind in span.get("class", "").split()[1:]
        }
        stated = {
            (f"{one['what'][1]} → {one['what'][2]}", " ".join(one["sentence"].split()))
            for one in world["attestations"]
            if one["what"][0] == "edge"
        }
        assert {pair for pair in told if pair[0] in edges} <= stated
        seen += len(told)
    assert seen > 200


def test_all_four_tracks_show_truth_proof_and_answer(site: Path) -> None:
    for start in ("cds", "ccr", "lab", "rscm"):
        files = sorted(site.glob(f"{start}-*.html"))
        assert files
        for file in files[:5]:
            text = file.read_text("utf-8")
            for part in ("How it was proved", "How it is scored", "The answer given"):
                assert part in text, (file.name, part)
            first = text[text.index('<div class="prose">') : text.index("The answer given")]
            assert "</section>" not in first and "<details" not in first, "question beside answer"
            assert "<p>" in first and "\n## " not in text and "**" not in first
            assert "full points" in text or "abstained, due" in text, file.name


def test_nothing_a_stranger_wrote_can_run(release: Path) -> None:
    """A release, answers, names, stories and columns made to break out of a page."""
    split = Split.open(open_release(release), "dev")
    (task,) = [one for one in split.tasks if one.task_id == task_id("ate")]
    truth = split.choose_exam_for().truths[task.task_id]
    prompt = f"{NASTY}\n\n{MARKDOWN}"
    hostile = replace(task, prompt=prompt, view=NASTY, instance_id=NASTY)
    tables = {NASTY: [(NASTY, [1.0, float("inf"), float("nan"), -1e308])], "data": []}
    graph = Graph([NASTY, "b", "b"], [(NASTY, "b"), ("b", NASTY), ("c", "b")], {})
    explanation = Explanation(
        graph, {NASTY: [(NASTY, "b")], "": [("b", NASTY)]}, [(NASTY, NASTY)], NASTY
    )
    scene = Scene(f"{NASTY}\n\n{NASTY}", [], tables)
    answer = RawAnswer("a", NASTY.encode())
    truth = replace(truth, structure=NASTY)
    shown = TaskView(task=hostile, scene=scene, truth=truth, explanation=explanation, answer=answer)
    for _, text in pages(NASTY, NASTY, [shown]):
        assert "<img" not in text and "onerror=alert(1)&gt;" in text
        assert not {"\x07", "\u202e"} & set(text) and not re.search('href="?(http|java)', text)
        assert parsed(text) is not None


def test_a_private_split_shows_no_truth_unless_asked(runner, secret, tmp_path):
    at = ("browse", runner.release, "--split", "test", "--html")
    assert runner.run(*at, tmp_path / "a").code == 0
    text = (tmp_path / "a" / f"{task_id('ate', 'test')}.html").read_text("utf-8")
    assert "The right answer" not in text and "How it was proved" not in text
    assert runner.run(*at, tmp_path / "b", "--reveal").code == 0
    text = (tmp_path / "b" / f"{task_id('ate', 'test')}.html").read_text("utf-8")
    assert "right answer" in text
    assert "--reveal" in runner.fails(*at, tmp_path / "c", "--answers", secret)
    assert "empty folder" in runner.fails(*at, tmp_path / "a")


def test_causes_stand_above_effects_and_no_edge_is_lost() -> None:
    graph = Graph(
        ["d", "c", "b", "a"], [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")]
    )
    tree = ET.fromstring(layered_graph(graph).markup())
    place = {
        node.findtext("{*}title"): float(rect.attrib["y"])
        for node in tree.iter("{http://www.w3.org/2000/svg}g")
        for rect in node.findall("{*}rect")
    }
    assert all(place[a] < place[b] for a, b in graph.edges)
    told = [node.text for node in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert {f"{a} → {b}" for a, b in graph.edges} <= set(told)


@pytest.mark.slow
def test_pages_open_in_a_browser_without_an_error_or_a_clipped_label(site, mini_release, tmp_path):
    """Report, board and four tasks at every width, all folds open, and the console is silent."""
    browser()
    answers = site.parent / "board"
    answers.mkdir()
    shutil.copytree(site.parent / "gold", answers / "gold")
    report, board = tmp_path / "report.html", tmp_path / "board.html"
    at = ["--release", str(mini_release), "--exam", "mini", "--html"]
    assert main(["grade", str(answers / "gold"), *at, str(report)]) == 0
    assert main(["leaderboard", str(answers), *at, str(board)]) == 0
    tasks = [sorted(site.glob(f"{start}-*.html"))[0] for start in ("cds", "ccr", "lab", "rscm")]
    found, said = opened([report, board, *tasks], tmp_path)
    assert len(found) == 6 * len(WIDTHS) and not said, said
    wrong: list[dict[str, Any]] = [one for one in found if one["clipped"] or one["over"] > 0]
    assert not wrong, wrong
    assert console(site / INDEX) == []


@pytest.mark.slow
def test_hostile_pages_stay_silent_in_a_browser(runner: Runner, gold: Path, tmp_path: Path) -> None:
    put(gold, "method", json.dumps({"method": NASTY}))
    (gold / "run.json").write_text(json.dumps({"system": NASTY, "settings": {NASTY: NASTY}}))
    folder = tmp_path / "site"
    words = ("browse", runner.release, "--split", "dev", "--exam", "all", "--answers", gold)
    assert runner.run(*words, "--html", folder).code == 0
    report = tmp_path / "report.html"
    at = ("grade", gold, *runner.dev, "--exam", "all")
    assert runner.run(*at, "--html", report).code == 0
    for page in (report, folder / INDEX, folder / f"{task_id('method')}.html"):
        assert console(page) == [], page
    assert len(list(folder.iterdir())) == len(TASKS) + 1
