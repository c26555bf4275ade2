"""Contexts that can be measured, exact units, planning, private splits, the second derivation."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from built_tasks import pairs_of
from ccr_worlds import built, grade

from baselines.ccr import perfect
from builder.commands.main import main
from builder.splits.settings import TomlTable
from builder.tracks.ccr import plan as planning
from builder.tracks.ccr import sampling
from builder.tracks.ccr.ask import answer_bits
from builder.tracks.ccr.check import audit_instance, unit_weights
from builder.tracks.ccr.model import KINDS, BooleanContext, ancestors, chain, evaluate, patterns
from builder.tracks.ccr.quantities import component_response
from builder.tracks.ccr.track import TRACK
from causal_exams.cli import main as sit
from grader.errors import UsageError
from grader.opening import open_release
from grader.release.exam import choose_exam
from grader.tracks.ccr.algorithm import paths

ONE = {"simulation": 1}


def design(count: int, size: int = 3, operators: str = "random") -> planning.Design:
    kinds = planning.draw_kinds(KINDS, count, np.random.default_rng(count))
    return planning.Design((size,) * count, kinds, operators)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("operators", ["random", "mixed"])
def test_sampled_contexts_keep_the_bounds(count: int, operators: str) -> None:
    """Below the bounds a relative error of 0.1 cannot be told from noise."""
    rng = np.random.default_rng(count)
    for _ in range(10):
        sampled = sampling.sample_context(design(count, 4, operators), rng, "here")
        tree = sampled.tree
        for pair in pairwise(tree.nodes):
            assert Fraction(15, 100) <= sampled.quantities[pair]["pns"] <= Fraction(85, 100)
        assert sampled.quantities[tree.global_pair]["pns"] >= Fraction(2, 100)
        assert sampling.measurable(tree, sampled.quantities) == tree.pairs
        assert sampling.references(tree, sampled.quantities) == (tree.global_pair,)


def test_nine_components_ask_only_what_can_be_measured() -> None:
    """The global PNS of nine components is exact, and far too small to ask about."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        sampled = sampling.sample_context(design(9), rng, "here")
        tree, exact = sampled.tree, sampled.quantities
        asked, counted = sampling.measurable(tree, exact), sampling.references(tree, exact)
        assert exact[tree.global_pair]["pns"] < Fraction(2, 100) and tree.global_pair not in asked
        assert all(tree.span(p) <= 5 and exact[p]["pns"] >= Fraction(2, 100) for p in asked)
        assert counted and all(2 <= tree.span(pair) <= 5 for pair in counted)
        for pair in counted:
            for path in paths(tree.nodes, pair):
                assert set(pairwise(path)) <= set(asked)


@pytest.mark.parametrize("operators", ["or", "and", "random", "mixed"])
@pytest.mark.parametrize(("kind", "size"), [("cycle", 2), ("cycle", 3), ("cycle", 4), ("wheel", 4)])
@pytest.mark.parametrize("tenths", [(2, 8), (4, 8), (3, 5)])
def test_the_best_attainable_pns_is_that_of_brute_force(operators, kind, size, tenths):
    """A bound that is too low refuses good designs; one too high samples in vain."""
    dag = chain([kind], [size], np.random.default_rng(0))
    both = ("or", "and")
    choices = {"or": [("or",) * size], "and": [("and",) * size]}.get(
        operators, list(product(both, repeat=size))
    )
    best = Fraction(0)
    for own in choices:
        for among in choices if operators == "mixed" and size < 4 else [own]:
            for ends in product(tenths, repeat=size - 1):
                context = BooleanContext(dag, own, among, (5, *ends))  # type: ignore[arg-type]
                best = max(best, component_response(context, tuple(range(size))).pns)
    assert planning.best_component(size, operators, tenths) == best


def test_an_unattainable_design_is_refused_with_its_bound() -> None:
    """Sampling in vain for minutes is no way to say that sizes are wrong."""
    with pytest.raises(UsageError, match=r"splits.dev.ccr: a wheel of 5 .* at most 0.1296"):
        planning.check_design(
            planning.Design((3, 5), ("cycle", "wheel"), "or", (4, 8)), "splits.dev.ccr"
        )
    with pytest.raises(UsageError, match=r"global PNS of at most 0.01"):
        planning.check_design(planning.Design((5,) * 5, ("cycle",) * 5, "or"), "splits.dev.ccr")
    planning.check_design(planning.Design((5, 5), ("wheel", "wheel"), "or"), "splits.dev.ccr")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, "simulation: no context"),
        ({"simulation": -1}, "simulation: must be a whole number from 0"),
        ({**ONE, "theme": []}, "unknown key"),
        ({**ONE, "components": [1, 3]}, "components: must be two whole numbers from 2"),
        ({**ONE, "nodes": [4, 3]}, "4 is more than 3"),
        ({**ONE, "kinds": ["weel"]}, 'unknown name "weel"; did you mean'),
        ({**ONE, "probability": [0.25, 0.8]}, "probability: must be tenths"),
        ({**ONE, "operators": ["or"], "nodes": [3, 10]}, "at most 0.1342"),
        ({"long": 1, "nodes": [3, 12]}, "more than the 77 variables"),
        ({**ONE, "graph": "figure-5"}, 'graph: unknown name "figure-5"; did you mean'),
        ({**ONE, "graph": "figure-4", "nodes": [3, 4]}, "nodes: cannot be had with graph"),
        ({**ONE, "graph": "figure-4", "linear": 3}, "linear: cannot be had with graph"),
        ({**ONE, "graph": "figure-4", "operators": ["or"], "probability": [0.7, 0.7]},
         "at most 0.027, below 0.15; use fewer nodes or other operators, or a lower bound"),
        ({**ONE, "local_pns": [0.5]}, "local_pns: must be two numbers from 0.0001 to 1"),
        ({**ONE, "global_pns": 0}, "global_pns: must be a number from 1e-06 to 1"),
        ({**ONE, "global_pns": 0.9}, "below 0.9; use fewer or smaller ones, or a lower bound"),
        ({"inductive": -1}, "inductive: must be a whole number from 0"),
        ({"additive": 0.5}, "additive: must be a whole number from 0"),
        ({**ONE, "graph": "figure-4", "additive": 3}, "additive: cannot be had with graph"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_in_one_line(change: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        planning.parse_settings(TomlTable(change, "mini.toml: splits.dev.ccr."))
    assert problem in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("count", "size"), [(2, 3), (3, 3), (4, 4), (9, 3)])
def test_right_answers_give_every_exact_quantity(count: int, size: int) -> None:
    """Exhaustive or stratified: no sampling error in the estimate of a perfect reasoner."""
    rng = np.random.default_rng(count)
    sampled = sampling.sample_context(design(count, size), rng, "here")
    context, exact = sampled.context, sampled.quantities
    for pair in sampling.measurable(sampled.tree, exact):
        _, values, stated = sampling.pair_units(context, sampled.tree, pair, rng)
        answers = {question: answer_bits(bits) for question, bits in values.items()}
        weights = unit_weights({"weights": stated, "answers": answers})
        count = 2 ** len(ancestors(context.dag, context.dag.index[pair[1]]))
        exhaustive = "numerators" in stated
        assert exhaustive == (count <= sampling.MAX_UNITS)
        assert len(weights) == (count if exhaustive else sampling.MAX_UNITS)
        assert sum(weights) == 1
        cells = list(zip(weights, values["do_true"], values["do_false"], strict=True))
        pns = sum(w for w, high, low in cells if high and not low)
        above = sum(w for w, high, _ in cells if high)
        below = sum(w for w, _, low in cells if low)
        found = {"pns": pns, "pn": pns / above, "ps": pns / (1 - below), "ate": above - below}
        assert found == exact[pair]


def test_stratified_units_follow_their_distribution_within_a_cell() -> None:
    """Units drawn from the wrong conditional would bias every noisy reasoner's estimate."""
    rng = np.random.default_rng(11)
    sampled = sampling.sample_context(design(4, 4, "mixed"), rng, "here")
    context, tree = sampled.context, sampled.tree
    effect = context.dag.index[tree.nodes[-1]]
    everything = patterns(len(context.dag.nodes))
    odds = np.array(context.tenths)[:, None] / 10
    mass = np.where(everything, odds, 1 - odds).prod(axis=0)
    high, low = (evaluate(context, everything, {0: level})[effect] for level in (True, False))
    sums = {name: np.zeros(len(context.dag.nodes)) for name in ("11", "10", "00")}
    counts = dict.fromkeys(sums, 0)
    for _ in range(30):
        bits, told, _ = sampling.pair_units(context, tree, tree.global_pair, rng)
        for name in sums:
            inside = (told["do_true"] == (name[0] == "1")) & (told["do_false"] == (name[1] == "1"))
            sums[name] += bits[:, inside].sum(axis=1)
            counts[name] += int(inside.sum())
    for name, total in sums.items():
        inside = (high == (name[0] == "1")) & (low == (name[1] == "1"))
        expected = (everything[:, inside] * mass[inside]).sum(axis=1) / mass[inside].sum()
        spread = np.sqrt(np.clip(expected * (1 - expected), 1e-9, None) / counts[name])
        assert np.abs(total / counts[name] - expected).max() <= (4.5 * spread + 1e-9).max()


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
    """In turn, two deductive tasks of an exam never had the same verdict."""
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
        shares = {v: 1 / 3 if even else 1 / 2 if v == "value" else 1 / 4 for v in planning.VERDICTS}
        alike = sum(share**2 for share in shares.values())
        checks = [(alike, exams, sum(one == other for one, other in pairs))]
        verdicts = Counter(verdict for pair in pairs for verdict in pair)
        checks += [(share, 2 * exams, verdicts[v]) for v, share in shares.items()]
        for share, count, seen in checks:
            assert abs(seen - share * count) < 4 * (count * share * (1 - share)) ** 0.5, variant


ADDITIVE: dict[str, Any] = {"purpose": "additive", "sizes": (4, 4)}
CONTEXTS: list[dict[str, Any]] = [
    {"sizes": (3, 3, 3)},
    {"sizes": (3, 4, 4, 3)},
    {"purpose": "direct", "variant": "direct.boolean", "sizes": (3, 4, 3)},
    {"purpose": "deductive", "variant": "deductive.boolean", "verdict": "inconsistent"},
    {"purpose": "linear", "variant": "direct.trap", "sizes": (4, 4)},
    *({"purpose": "inductive", "variant": "inductive.boolean", "verdict": verdict}
      for verdict in planning.VERDICTS),
    {"purpose": "stated", "variant": "inductive.stated"},
    {**ADDITIVE, "variant": "direct.additive"},
    *({**ADDITIVE, "variant": f"{family}.additive", "verdict": verdict}
      for family in ("inductive", "deductive") for verdict in planning.VERDICTS),
]  # fmt: skip


@pytest.mark.parametrize("changes", CONTEXTS)
def test_the_audit_agrees_and_sees_a_changed_truth(changes: dict[str, Any]) -> None:
    """The reader of prompts gets it right, so that they tell all that is needed."""
    for seed in range(4 if "verdict" in changes else 1):
        made = built(f"audit/{seed}", **changes)
        assert all(grade(pair, perfect(pair[0])).points == 1 for pair in pairs_of(made, "ccr"))
        (world,) = made.rows["ccr_worlds"]
        truths = made.rows["ccr_truth"]
        assert audit_instance(world, truths) == []
        assert any("no truth" in problem for problem in audit_instance(world, truths[1:]))
        spoiled = []
        for truth in truths:
            target = json.loads(str(truth["target_json"]))
            if "answers" in target:
                first, *others = target["answers"]["do_true"]
                target["answers"]["do_true"] = "".join(["10"[int(first)], *others])
            elif "quantities" in target:
                count = {"stated": 6, "additive": 5}.get(changes["purpose"])
                assert count in (None, len(target["quantities"]))
                target["quantities"]["Q2"]["exact"] = "1/3"
            elif target["verdict"] == "value":
                target["exact"] = str(Fraction(target["exact"]) * Fraction(101, 100))
            else:
                target["verdict"] = "value"
            spoiled.append(truth | {"target_json": json.dumps(target)})
        problems = audit_instance(world, spoiled)
        assert all(any(str(t["task_id"]) in problem for problem in problems) for t in spoiled)
