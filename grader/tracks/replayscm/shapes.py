"""The forms of answers to ReplaySCM tasks: how they are scored, the right ones, and the variants.

A program is scored by replay, by its semantic structure, and by whether an error was avoidable. A
variable is a parent when flipping it can change the mechanism's value, whatever the formula
mentions (§3, Table C.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from graphlib import TopologicalSorter
from operator import or_
from pathlib import Path
from typing import Any, Final

from grader.errors import UsageError
from grader.io.jsonio import pretty_json
from grader.scoring.model import Mark, Truth
from grader.scoring.shape import Shape, Task, read_variants
from grader.tracks.replayscm.boolean import Formula, equivalent, essential, size
from grader.tracks.replayscm.problem import (
    BooleanProgram,
    Worlds,
    make_program,
    pack,
    parse_map,
)
from grader.tracks.replayscm.replay import (
    Replay,
    best_separation,
    by_place,
    replay,
    separation,
    shifted_figures,
    shows_difference,
)
from grader.tracks.replayscm.submission import ProgramAnswer, check, check_inputs, check_truth

Mechanisms = Mapping[str, Formula]


def edges_of(mechanisms: Mechanisms) -> set[tuple[str, str]]:
    """Return the edges from a functional parent to its child."""
    return {(parent, child) for child, names in parents(mechanisms).items() for parent in names}


def parents(mechanisms: Mechanisms) -> dict[str, frozenset[str]]:
    """Return the functional parents of every endogenous variable."""
    return {child: frozenset(essential(formula)) for child, formula in mechanisms.items()}


def compare(
    mechanisms: Mechanisms, reference: Mechanisms
) -> tuple[dict[str, float], list[str], list[str]]:
    """Return metrics of a program's graph and local functions against those of a reference, the
    variables whose functions differ, and those whose parent sets do.

    Both have the same endogenous variables. ``parent_shd``, ``parent_missed`` and ``parent_added``
    count edges, the other metrics are shares, or 1 and 0.
    """
    ours, theirs = parents(mechanisms), parents(reference)
    mine, gold = edges_of(mechanisms), edges_of(reference)
    common = len(mine & gold)
    moved = [name for name in reference if ours[name] != theirs[name]]
    changed = [name for name in reference if not equivalent(mechanisms[name], reference[name])]
    children = len(reference)
    metrics = {
        "parent_recall": common / len(gold) if gold else 1.0,
        "parent_f1": 2 * common / (len(mine) + len(gold)) if mine or gold else 1.0,
        "parent_shd": len({frozenset(edge) for edge in mine ^ gold}),
        "parent_variable_exact": 1 - len(moved) / children,
        "parent_missed": len(gold - mine),
        "parent_added": len(mine - gold),
        "parent_map_exact": int(not moved),
        "local_match": 1 - len(changed) / children,
        "local_full": int(not changed),
    }
    return metrics, changed, moved


def total_size(mechanisms: Mechanisms) -> int:
    """Return the number of AST nodes of all mechanisms together."""
    return sum(size(formula) for formula in mechanisms.values())


@dataclass(frozen=True, slots=True)
class SeparatingRow:
    """A held-out ``row``, counted over all worlds, that tells an answer from gold (Appendix I).

    The answer's mechanism of ``child`` is wrong there on right ``inputs``, values of the parents in
    either program; ``gold`` is the right value. ``support`` counts the training rows that show
    these inputs, where ``child`` is not set.
    """

    row: int
    child: str
    inputs: Mapping[str, int]
    gold: int
    support: int


def separating_row(
    program: BooleanProgram, gold: Mechanisms, training: Worlds, heldout: Worlds, test: Replay
) -> SeparatingRow | None:
    """Return the first row of ``heldout`` that ``test``, its replay, finds wrong, with the variable
    of least support; None without."""
    rows = reduce(or_, test.wrong.values(), 0)
    if not rows:
        return None
    row = (rows & -rows).bit_length() - 1
    wrong = [name for name in program.order if test.wrong[name] >> row & 1]
    found = []
    for child in wrong:
        own = essential(program.mechanisms[child])
        if not set(own) & set(wrong):
            names = sorted({*own, *(essential(gold[child]) if child in gold else ())})
            inputs = {name: heldout.values[name] >> row & 1 for name in names}
            shown = training.full & ~training.clamped[child]
            for name, value in inputs.items():
                shown &= training.values[name] if value else ~training.values[name]
            right = heldout.values[child] >> row & 1
            found.append(SeparatingRow(row, child, inputs, right, shown.bit_count()))
    return min(found, key=lambda one: one.support)


DEEPEST: Final = 3
"""Edits at this causal depth, 1 without an endogenous parent, and deeper are counted together
(Table G.5)."""

LEVELS: Final = ("original", "extra", "cex", "certified")
"""Levels of evidence about one program, each of which begins with the worlds of the one before."""


def facts(truth: Truth) -> dict[str, Any]:
    """Return figures of a task as 1 or 0, ``level`` as place in ``LEVELS``, ``kill_coverage``."""
    target = truth.target
    return {
        "matched": int(target["matched"]),
        "level": LEVELS.index(target["level"]),
        "determined": int(target["determined"]),
        "unique": int(target["unique"]),
        "has_shifted": int("shifted" in target),
        "kill_coverage": target["kill_coverage"],
    }


def induction(task: Task, truth: Truth, answer: ProgramAnswer) -> Mark:
    """Mark an induced program: value 1 if it is exact on all training and held-out worlds, loss 0
    if the declared roots are right, too."""
    program, problem = answer.program, answer.problem
    heldout = pack(problem.names, truth.target["heldout"])
    train, test = replay(program, problem.training), replay(program, heldout)
    heldout_exact = train.exact and test.exact
    root_exact = set(program.roots) == set(truth.target["roots"])
    gold = parse_map(truth.target["gold"])
    apart = separating_row(program, gold, problem.training, heldout, test)
    extra: dict[str, Any] = {
        "train_exact": int(train.exact),
        "train_world_exact": train.world_rate,
        "heldout_world_exact": test.world_rate,
        "train_cell": train.cell_rate,
        "heldout_cell": test.cell_rate,
        **_error_labels(truth, train, test),
        "root_exact": int(root_exact),
        "heldout_exact": int(heldout_exact),
        "ast_size": total_size(program.mechanisms),
        "ast_gold": total_size(gold),
        "separating_support": None if apart is None else apart.support,
        "alternative": int(train.exact),
        **shifted_figures(problem, truth, program, train.exact),
        **by_place((problem.training, heldout), gold, program.mechanisms),
    }
    if root_exact:
        metrics, changed, _ = compare(program.mechanisms, gold)
        extra |= metrics
        extra["alternative"] = int(train.exact and bool(changed))
    loss = float(not (heldout_exact and root_exact))
    message = _why(train, test, root_exact)
    return Mark("heldout_exact", float(heldout_exact), loss, extra=extra, message=message)


def alternative(task: Task, truth: Truth, answer: ProgramAnswer) -> Mark:
    """Mark a distinct program that fits, with an experiment that separates and shows it."""
    program, problem = answer.program, answer.problem
    assert problem.reference is not None and problem.roots is not None
    assert answer.intervention is not None and answer.witness is not None
    reference = make_program(problem.roots, problem.reference)
    train = replay(program, problem.training)
    metrics, changed, moved = compare(program.mechanisms, problem.reference)
    success = train.exact and bool(changed)
    name, value = answer.intervention
    known = name in problem.names
    pair = cell = best = 0.0
    witness = False
    if known and changed:
        pair, cell = separation(reference, program, name, value)
        best = best_separation(reference, program)
        witness = shows_difference(reference, program, name, value, answer.witness)
    joint = success and pair > 0 and witness
    extra: dict[str, Any] = {
        "train_exact": int(train.exact),
        "train_world_exact": train.world_rate,
        "train_cell": train.cell_rate,
        "distinct": int(bool(changed)),
        "alternative": int(success),
        "experiment_valid": int(known),
        "separates": int(success and pair > 0),
        "witness": int(success and witness),
        "pair_disagreement": pair if success else None,
        "cell_difference": cell if success else None,
        "optimality": pair / best if success and best > 0 else None,
        "joint": int(joint),
        **metrics,
    }
    if success:
        extra |= _edit_locality(changed, moved, problem.reference)
    message = "" if joint else _why_no_alternative(train, changed, pair, witness)
    return Mark("joint_success", float(joint), float(not joint), extra=extra, message=message)


def _error_labels(truth: Truth, train: Replay, test: Replay) -> dict[str, int]:
    """Return how many wrong held-out cells the evidence determines, and how many not.

    For a train-exact answer every wrong cell must be undetermined, since that answer itself is a
    second candidate; anything else is an error in the truth, and raises ``UsageError``.
    """
    flags = truth.target["undetermined"]
    undetermined = sum(
        (rows & int(flags.get(child, "0"), 16)).bit_count() for child, rows in test.wrong.items()
    )
    determined = test.cells_wrong - undetermined
    if train.exact and (determined or (truth.target["determined"] and test.cells_wrong)):
        raise UsageError(
            "a legal train-exact program fails a held-out cell that the audit calls determined"
        )
    return {"wrong_determined": determined, "wrong_undetermined": undetermined}


def _edit_locality(
    changed: Sequence[str], moved: Sequence[str], reference: Mechanisms
) -> dict[str, int]:
    """Return the figures of Tables G.4 and G.5: how many variables of ``reference`` were edited,
    whether one alone with its parents kept or not, and counts by depth."""
    one = len(changed) == 1
    graph, level = parents(reference), dict[str, int]()
    inner = {child: names & graph.keys() for child, names in graph.items()}
    for child in TopologicalSorter(inner).static_order():
        level[child] = min(DEEPEST, 1 + max((level[name] for name in inner[child]), default=0))
    counted = {
        "vars": reference,
        "changed": changed,
        "moved": [child for child in changed if child in moved],
    }
    return {
        "changed": len(changed),
        "one_variable_edit": int(one),
        "one_variable_same_parents": int(one and not moved),
        "one_variable_new_parents": int(one and bool(moved)),
        **{
            f"{what}_depth_{depth}": sum(level[child] == depth for child in children)
            for what, children in counted.items()
            for depth in range(1, DEEPEST + 1)
        },
    }


def _why(train: Replay, test: Replay, root_exact: bool) -> str:
    """Return the first thing that is wrong with an induced program, "" if none."""
    if not root_exact:
        return "the declared roots are not the roots"
    if not train.exact:
        return (
            f"{train.cells_wrong} of {train.cells} training cells differ, "
            f"{train.worlds_exact} of {train.worlds} worlds are exact"
        )
    if not test.exact:
        return f"exact on training; {test.worlds_exact} of {test.worlds} held-out worlds are exact"
    return ""


def _why_no_alternative(train: Replay, changed: list[str], pair: float, witness: bool) -> str:
    """Return the first thing wrong with an alternative, "" if none; ``pair`` is its separation."""
    if not changed:
        return "the program is the reference: no mechanism is another function"
    if not train.exact:
        return f"{train.cells_wrong} of {train.cells} training cells differ"
    if pair == 0:
        return "the intervention does not separate the programs"
    return "the witness does not show a difference" if not witness else ""


def _gold(task: Task, truth: Truth) -> str:
    roots = {"roots": truth.target["roots"]} if task.inputs["roots"] is None else {}
    return pretty_json({"mechanisms": truth.target["gold"], **roots})


_shape = partial(
    Shape, field="mechanisms", pool="pass", input_mode="prompt", check=check, facts=facts,
    check_inputs=check_inputs, check_truth=check_truth,
)  # fmt: skip
_induction = partial(_shape, kind="program", metric="heldout_exact", score=induction)

MECHANISMS: Final = _induction("mechanisms", gold=_gold)
ROOTS_MECHANISMS: Final = _induction("roots_mechanisms", gold=_gold)
ALTERNATIVE_SCM: Final = _shape(
    "alternative_scm", "alternative", metric="joint_success", score=alternative,
    gold=lambda task, truth: pretty_json(truth.target["alternative"]),  # with its experiment
)  # fmt: skip


REPLAYSCM: Final = read_variants(
    "replayscm", Path(__file__).with_name("variants.toml"), globals().values()
)
