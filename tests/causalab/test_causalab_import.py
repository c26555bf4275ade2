"""``import-causalab``: the reference's models become episodes, value for value where it can be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference_files import four, freqparent, golden, hidden, quadratic, three, write_files

from builder.cli.main import main
from builder.importing.causalab.episodes import (
    TRACK,
    Seeding,
    complete,
    import_config,
    observation_stream,
)
from builder.importing.causalab.reference import Record, read_folder
from grader.errors import UsageError
from grader.io.release import Release
from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory

KEY = b"k" * 32


def records(tmp_path: Path, **documents: dict[str, Any]) -> dict[str, Record]:
    for name, document in documents.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    return {record.suite: record for record in read_folder(tmp_path)[0]}


def episode(record: Record, seeding: Seeding = "reference") -> Episode:
    parts = complete(record, KEY, seeding)
    return Episode.of("lab-0", parts.public, parts.private)


def test_the_observation_stream_is_the_references() -> None:
    """Its first fourteen numbers, dealt to the nodes of a graph in turn."""
    stream = [81, 14, 3, 94, 35, 31, 28, 17, 94, 13, 86, 94, 69, 11]
    dealt = observation_stream(["a", "b", "c", "d", "e", "f", "g"], 2)
    assert [value for bases in dealt for value in bases.values()] == stream
    assert observation_stream(["x", "y"], 2) == [{"x": 81, "y": 14}, {"x": 3, "y": 94}]


def test_records_are_read_by_hand_worked_arithmetic(tmp_path: Path) -> None:
    """quantumSize 81 + density 14 = 95, 20 + 28 + 285 = 333; 3 + 94 = 97, 20 + 188 + 291 = 499."""
    found = episode(records(tmp_path, a=three())["a"])
    assert found.public["records"] == [
        {"quantumSize": 95.0, "density": 14.0, "resonanceFreq": 333.0},
        {"quantumSize": 97.0, "density": 94.0, "resonanceFreq": 499.0},
    ]
    assert found.mode == "pin" and found.budget == 8 and found.family == "linear"


def test_a_golden_trace_replays_value_for_value(tmp_path: Path) -> None:
    """By hand: density 77 gives 17.5 + 77 = 94.5 and 20 + 154 + 283.5 = 457.5. Quantum size pinned
    to 1 has base 1 - 77 = -76 and 20 + 154 + 3 = 177. Density 12 moves it to 12 - 76 = -64, and
    20 + 24 - 192 = -148. The first crystal's bases are 30 and 47.5 - 30 = 17.5."""
    found = episode(records(tmp_path, g=golden())["g"])
    assert found.private["records"][0] == {"quantumSize": 17.5, "density": 30.0}
    shown = [step["reading"] for step in found.public["chain"]]
    assert shown == [
        {"quantumSize": 94.5, "density": 77.0, "resonanceFreq": 457.5},
        {"quantumSize": 1.0, "density": 77.0, "resonanceFreq": 177.0},
        {"quantumSize": -64.0, "density": 12.0, "resonanceFreq": -148.0},
    ]
    assert found.budget == 0 and found.public["opening"] is None
    assert len(found.public["records"]) == 4  # the trace's two observations, then the stream's


def test_pin_mode_agrees_with_a_session_worked_by_hand(tmp_path: Path) -> None:
    """Four nodes: T = b + 2·ph, M = b + 3·T, f = 20 + ph + 2·T, from bases T 4, ph 10, M 1."""
    record = records(tmp_path, f=four())["f"]
    parts = complete(record, KEY, "reference")
    parts.private["manipulator"] = {"temperatureC": 4.0, "ph": 10.0, "moisture": 1.0}
    parts.public["opening"] = {
        "temperatureC": 24.0, "ph": 10.0, "moisture": 73.0, "resonanceFreq": 78.0,
    }  # fmt: skip
    lab = Laboratory(Episode.of("lab-0", parts.public, parts.private))
    # M shows 5: its base becomes 5 - 72 = -67.
    assert lab.intervene("moisture", 5) == {
        "temperatureC": 24.0, "ph": 10.0, "moisture": 5.0, "resonanceFreq": 78.0,
    }  # fmt: skip
    # T shows 30: base 10. M = -67 + 90 = 23. f = 20 + 10 + 60.
    assert lab.intervene("Temperature (°C)", 30) == {
        "temperatureC": 30.0, "ph": 10.0, "moisture": 23.0, "resonanceFreq": 90.0,
    }  # fmt: skip
    # ph is a root: T = 10 + 1 = 11, M = -67 + 33 = -34, f = 20 + 0.5 + 22.
    assert lab.intervene("ph", 0.5) == {
        "temperatureC": 11.0, "ph": 0.5, "moisture": -34.0, "resonanceFreq": 42.5,
    }  # fmt: skip


def test_a_quadratic_record_keeps_its_presets_and_target(tmp_path: Path) -> None:
    """Reactor 40, 30, 20: T = 40 + 7.2 - 24 = 23.2; f = 75.6 + 6.45888 - 27.84 + 6.4 - 25.6."""
    found = episode(records(tmp_path, q=quadratic())["q"])
    assert found.private["records"][1] == {"temperatureC": 0.0, "ph": 50.0, "moisture": 100.0}
    assert found.private["manipulator"] == {"temperatureC": 5.0, "ph": 6.0, "moisture": 7.0}
    assert found.public["reactor"]["temperatureC"] == 23.2
    assert found.frequency == 35.02
    assert found.family == "quadratic"


def test_hidden_and_freqparent_records_say_so(tmp_path: Path) -> None:
    found = records(tmp_path, h=hidden(), p=freqparent())
    disturbed = episode(found["h"])
    assert disturbed.disturbance is not None
    assert disturbed.disturbance.nodes == ("temperatureC",)
    assert len(disturbed.disturbance.sequence) == 12
    acting = episode(found["p"])
    assert acting.public["frequency_may_be_parent"] and not acting.public["shifts"]
    assert ("resonanceFreq", "radiation") in acting.edges
    assert ("resonanceFreq", "radiation") in acting.undecided


def test_own_seeding_draws_other_observations_and_the_same_crystals(tmp_path: Path) -> None:
    record = records(tmp_path, a=three())["a"]
    fixed, own = complete(record, KEY, "reference"), complete(record, KEY, "own")
    assert fixed.public["records"] != own.public["records"]
    assert fixed.public["opening"] == own.public["opening"]
    assert complete(record, b"other", "reference").public["opening"] != fixed.public["opening"]
    assert complete(record, b"other", "reference").public["records"] == fixed.public["records"]


def test_records_with_one_named_graph_are_one_instance(tmp_path: Path) -> None:
    config = import_config(write_files(tmp_path / "mini"), "reference")
    ((_, imported),) = config.splits[0].tracks
    specs = TRACK.plan(imported, "dev", b"seed", False)
    suites = [
        sorted(entry["suite"] for entry in json.loads(spec.config_json)["imported"])
        for spec in specs
    ]
    assert sorted(suites) == [
        ["3nodes", "3nodes_golden"], ["4nodes", "4nodes_hidden_n1"], ["4nodes_freqparent"],
        ["4nodes_quad_hard"],
    ]  # fmt: skip


def test_the_command_writes_a_release_that_passes_the_gate(tmp_path: Path) -> None:
    """Graded like any other: gold has 100 points there, and truths are derived a second time."""
    folder, out = write_files(tmp_path / "mini"), tmp_path / "imported"
    command = ["import-causalab", str(folder), "--out", str(out), "--quiet", "--workers", "1"]
    assert main(command) == 0
    release = Release.open(out)
    tasks = list(release.tasks("dev"))
    assert len(tasks) == 6 and {task.track for task in tasks} == {"causalab"}
    truths = release.truths("dev", tasks)
    assert {truth.structure for truth in truths.values()} == {
        "3nodes", "3nodes_golden", "4nodes", "4nodes_hidden_n1", "4nodes_freqparent",
        "4nodes_quad_hard",
    }  # fmt: skip
    assert str(tmp_path) not in (out / "public/manifest.json").read_text(encoding="utf-8")
    assert "100" in (out / "GATE.md").read_text(encoding="utf-8")


def broken(change: Callable[[dict[str, Any]], None], document: dict[str, Any]) -> str:
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: "),
        ("[1]", "line 1: not an object"),
        ("{}", "line 1: nodes: absent"),
        (broken(lambda d: d.pop("budget"), three()), "budget: absent"),
        (broken(lambda d: d["params"].pop("base_freq"), three()), "params.base_freq: absent"),
        (
            broken(lambda d: d["params"].update(coeff_density_freq="2"), three()),
            "coeff_density_freq",
        ),
        (broken(lambda d: d["edges"].pop(), three()), "its terms are not those of the edges"),
        (broken(lambda d: d["edges"].append({"from": "x", "to": "y"}), three()), "no edge between"),
        (broken(lambda d: d["nodes"]["density"].pop("display_name"), three()), "display_name"),
        (broken(lambda d: d.update(equation_family="cubic"), three()), "equation_family"),
        (broken(lambda d: d["hidden_variable"].update(edge_weight=2), hidden()), "edge_weight 1"),
        (broken(lambda d: d["hidden_variable"].update(value_space=["x"]), hidden()), "value_space"),
        (broken(lambda d: d["quadratic_metadata"].pop("reactor"), quadratic()), "base map"),
        (broken(lambda d: d["bootstrap_past_data"][0]["props"].pop("density"), golden()), "props"),
    ],
)
def test_a_malformed_record_is_one_line_with_file_line_and_member(
    tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "bad.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        read_folder(tmp_path)
    assert "bad.jsonl: line 1" in str(caught.value) and "\n" not in str(caught.value)


def test_a_trace_that_does_not_replay_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = golden()
    document["bootstrap_past_data"][4]["props"]["quantumSize"] = -63
    (tmp_path / "g.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    command = ["import-causalab", str(tmp_path), "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*command, "--workers", "1"]) == 2
    assert "g.jsonl: line 1: bootstrap_past_data: intervention 3 does not replay" in (
        capsys.readouterr().err
    )


def test_a_cycle_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from reference_files import record

    document = record("x_0", ["ph", "density"], {("ph", "density"): 1, ("density", "ph"): 1})
    (tmp_path / "x.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    command = ["import-causalab", str(tmp_path), "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*command, "--workers", "1"]) == 2
    assert "x.jsonl: line 1: a circle through" in capsys.readouterr().err


def test_an_empty_folder_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \.jsonl file"):
        read_folder(tmp_path)
    text = json.dumps(three()) + "\n"
    (tmp_path / "a.jsonl").write_text(text + text, encoding="utf-8")
    with pytest.raises(UsageError, match="graph_id '3nodes_0' appears twice"):
        read_folder(tmp_path)
