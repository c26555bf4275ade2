"""Planning, private splits, and the gate's second derivation."""

import json
from collections import Counter, defaultdict

import pytest
from ccr_worlds import built

from builder.commands.main import main
from builder.splits.settings import TomlTable
from builder.tracks.ccr.check import audit_instance
from builder.tracks.ccr.plan import VERDICTS
from builder.tracks.ccr.track import TRACK
from causal_exams.cli import main as sit
from grader.opening import open_release
from grader.release.exam import choose_exam

PRIVATE = """
name = "hidden"
version = "0.1.0"
floor_tasks = 0

[splits.test]
truth = "private"
secret_env = "CCR_TEST_SECRET"

[splits.test.ccr]
simulation = 2
direct = 2
deductive = 3
linear = 3
inductive = 4
stated = 2
additive = 4
components = [2, 3]
nodes = [3, 3]

[splits.test.exams.first]
ccr = { tasks = "all", variants = ["simulation.*", "direct.*", "deductive.*"] }

[splits.test.exams.inductive]
ccr = { tasks = "all", variants = ["inductive.*"] }
"""


def test_a_private_split_passes_its_gate_and_grades_100(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CCR_TEST_SECRET", bytes(range(64, 96)).hex())
    (tmp_path / "hidden.toml").write_text(PRIVATE)
    arguments = ["build", str(tmp_path / "hidden.toml"), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--quiet", "--workers", "1"]) == 0, capsys.readouterr().err
    public = tmp_path / "out" / "public"
    folders = sorted(path.name for path in public.iterdir() if path.is_dir())
    assert folders == ["ccr", "ccr_exams", "commitments", "tasks"]
    gate = (tmp_path / "out" / "GATE.md").read_text()
    assert "nothing private in public | ok" in gate and "gold answers | ok" in gate
    exams = {name: choose_exam(open_release(public), None, name) for name in ("first", "inductive")}
    families = {name: {task.family for task in exam.tasks} for name, exam in exams.items()}
    assert families == {
        "first": {"simulation", "direct", "deductive"}, "inductive": {"inductive"},
    }  # fmt: skip
    # What writes an exam for another harness reads variants from the table of all of them.
    asked = ["--release", str(public), "--exam", "inductive"]
    assert sit(["export", "harbor", str(tmp_path / "tasks"), *asked]) == 0
    asked_tasks = {task.task_id for task in exams["inductive"].tasks}
    assert asked_tasks == {path.name for path in (tmp_path / "tasks").iterdir() if path.is_dir()}


def test_every_kind_of_context_has_its_own_tasks() -> None:
    """A given value in one task must not be another's answer: one task a stated context."""
    table = {"simulation": 4, "long": 1, "direct": 5, "deductive": 12, "linear": 9}
    specs = TRACK.plan(TRACK.parse(TomlTable(table, "here.")), "dev", b"root", False)
    plans = [json.loads(spec.config_json) for spec in specs]
    assert len({spec.instance_id for spec in specs}) == 31
    assert sum(plan["variant"] is None for plan in plans) == 5
    verdicts = [plan["verdict"] for plan in plans if plan["purpose"] == "deductive"]
    assert set(verdicts) == {"value", "inconsistent", "insufficient"}
    sizes = [(p["purpose"], len(p["design"]["sizes"])) for p in plans]
    assert {n for purpose, n in sizes if purpose == "simulation"} == {2, 3, 4, 5}
    assert [n for purpose, n in sizes if purpose == "long"] == [9]
    linear = {p["variant"] for p in plans if p["purpose"] == "linear"}
    assert linear == {"direct.linear", "deductive.linear", "direct.trap"}


def test_private_verdicts_do_not_tell_each_other() -> None:
    """In turn, two deductive tasks of an exam never had the same verdict. Drawn by themselves they
    have it as often as chance has it, and each verdict keeps its share (4 standard errors)."""
    config = TRACK.parse(TomlTable({"deductive": 2, "linear": 6, "inductive": 2}, "here."))
    exams, found = 400, defaultdict[str, list[list[str]]](list)
    for number in range(exams):
        own = defaultdict(list)
        for spec in TRACK.plan(config, "test", b"root %d" % number, True):
            plan = json.loads(spec.config_json)
            if plan["verdict"] is not None:
                own[plan["variant"]].append(plan["verdict"])
        for variant, pair in own.items():
            found[variant].append(pair)
    assert set(found) == {"deductive.boolean", "deductive.linear", "inductive.boolean"}
    for variant, pairs in found.items():
        even = variant == "deductive.linear"
        shares = {v: 1 / 3 if even else 1 / 2 if v == "value" else 1 / 4 for v in VERDICTS}
        alike = sum(share**2 for share in shares.values())
        checks = [(alike, exams, sum(one == other for one, other in pairs))]
        verdicts = Counter(verdict for pair in pairs for verdict in pair)
        checks += [(share, 2 * exams, verdicts[v]) for v, share in shares.items()]
        for share, count, seen in checks:
            assert abs(seen - share * count) < 4 * (count * share * (1 - share)) ** 0.5, variant


@pytest.mark.parametrize(
    "changes",
    [
        {"sizes": (3, 3, 3)},
        {"sizes": (3, 4, 4, 3)},
        {"purpose": "direct", "variant": "direct.boolean", "sizes": (3, 4, 3)},
        {"purpose": "deductive", "variant": "deductive.boolean", "verdict": "inconsistent"},
        {"purpose": "linear", "variant": "direct.trap", "sizes": (4, 4)},
    ],
)
def test_the_audit_agrees_and_sees_a_changed_truth(changes: dict[str, object]) -> None:
    rows = built("audit", **changes).rows
    (world,) = rows["ccr_worlds"]
    assert audit_instance(world, rows["ccr_truth"]) == []
    assert any("no truth" in problem for problem in audit_instance(world, rows["ccr_truth"][1:]))
    spoiled = []
    for truth in rows["ccr_truth"]:
        target = json.loads(str(truth["target_json"]))
        if "answers" in target:
            first, *others = target["answers"]["do_true"]
            target["answers"]["do_true"] = "".join(["10"[int(first)], *others])
        elif "quantities" in target:
            target["quantities"]["Q1"]["exact"] = "1/3"
        else:
            target["verdict"] = "insufficient"
        spoiled.append(truth | {"target_json": json.dumps(target)})
    problems = audit_instance(world, spoiled)
    assert all(any(str(t["task_id"]) in problem for problem in problems) for t in spoiled)
