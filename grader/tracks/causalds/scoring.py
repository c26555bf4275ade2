"""The scorers of CausalDS (Tables 8-10, Eq. 1, A.9): exact matches, numbers, intervals, sets, and
held-out predictions, whose sums are exact (``fmean``)."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress
from operator import sub
from statistics import fmean
from typing import Any, Final

from grader.io.jsonio import clip
from grader.io.names import known_name, normal_label, normal_name
from grader.scoring.model import CheckedAnswer, Mark, Predictions, Truth
from grader.scoring.shape import Task

_WORD: Final = re.compile(r"\w+")


def exact(right: bool) -> Mark:
    """Return a mark of value 1 and loss 0 if ``right``, else of value 0 and loss 1."""
    return Mark("exact", value=float(right), loss=float(not right))


def exact_answer(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark as right an answer whose field holds one of the accepted labels, booleans or numbers."""
    return exact(is_accepted(answer[task.shape.field], truth.target["accepted"]))


def both_signs(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark as right two signs that are each in their accepted set, whatever variable is named."""
    before = is_accepted(answer["sign_before"], truth.target["accepted_before"])
    after = is_accepted(answer["sign_after"], truth.target["accepted_after"])
    return exact(before and after)


def is_accepted(given: object, accepted: Iterable[object]) -> bool:
    """Return whether ``given`` is in the set: labels without case and padding, true is not 1."""
    own, *keys = (
        (isinstance(value, bool), normal_label(value) if isinstance(value, str) else value)
        for value in (given, *accepted)
    )
    return own in keys


def exact_name(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark as right one of the accepted variables, verbatim where the truth says so."""
    given, accepted = answer[task.shape.field], truth.target["accepted"]
    if truth.target.get("verbatim"):
        return exact(given in accepted)
    right = reader(task.inputs["candidates"])(given) in {normal_name(name) for name in accepted}
    return exact(right)


def reader(names: Iterable[str]) -> Callable[[str], str]:
    """Return the function from a spelling to the normal name; one of no name becomes its own."""
    return partial(known_name, known=frozenset(map(normal_name, names)))


def unknown_names(given: Iterable[str], known: Iterable[str]) -> str:
    """Return the message about names in ``given`` that are none of ``known``, "" without any."""
    listed = list(known)
    unknown = set(map(reader(listed), given)) - set(map(normal_name, listed)) - {""}
    said = "names that are not the task's count as wrong"
    return f"{said}: {clip(sorted(unknown), 200)}" if unknown else ""


def with_unknown_names(task: Task, document: dict[str, Any]) -> CheckedAnswer:
    """Return the answer with a message about names that are none of those on offer or, where the
    task offers none, do not stand in its prompt (empty where it was not read)."""
    given, inputs = document[task.shape.field], task.inputs
    if task.shape.kind == "edges":
        given = answered_pairs(task, document)
    elif task.shape.kind != "sets":
        given = [[given] if task.shape.kind == "name" else given]
    is_word = isinstance(document[task.shape.field], str) and task.shape.kind != "name"
    names = [] if is_word else [*chain.from_iterable(given)]
    offered = inputs.get("candidates", inputs.get("available"))
    if offered is None:
        offered = _spelled_in(task.prompt, {*names}) if task.prompt else names
    return CheckedAnswer("scored", document, message=unknown_names(names, offered))


def _spelled_in(prompt: str, names: Iterable[str]) -> list[str]:
    """Return what a prompt holds of each name: itself, its first words, its other number."""
    told, forms = _words(prompt), list[str]()
    for name in names:
        parts = normal_name(name).split()
        forms += [f"{name}s", name.strip().removesuffix("s")]
        forms += [" ".join(parts[:count]) for count in range(1, len(parts) + 1)[-5:]]
    return [form for form in forms if _words(form) in told]


def _words(text: str) -> str:
    """Return the words of a text without case and punctuation, a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def interval_score(lower: float, upper: float, target: float, alpha: float) -> float:
    """Return the interval score (Gneiting & Raftery 2007, eq. 43); 0 is perfect."""
    below = lower - target if target < lower else 0.0
    above = target - upper if target > upper else 0.0
    return (upper - lower) + 2.0 / alpha * (below + above)


def point(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark a number by NRelErr = |answer - target| / (1 + |target|)."""
    target = truth.value
    assert target is not None
    error = abs(float(answer[task.shape.field]) - target)
    return Mark("abs_error", value=error, loss=error / (1 + abs(target)))


def effect_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark an effect as :func:`point`, with its plain relative error beside it (Table 9)."""
    mark = point(task, truth, answer)
    relative = (mark.value or 0.0) / abs(truth.value) if truth.value else None
    return replace(mark, extra={"relative_error": relative})


def effect_interval(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark an interval by NRelIS = interval score / (1 + |target|), not its estimate."""
    target = truth.value
    assert target is not None
    lower, upper = float(answer["ci_lower"]), float(answer["ci_upper"])
    score = interval_score(lower, upper, target, float(task.inputs["alpha"]))
    return Mark(
        "interval_score",
        value=score,
        loss=score / (1 + abs(target)),
        coverage=float(lower <= target <= upper),
        width=upper - lower,
        extra={"normalised_width": (upper - lower) / (1 + abs(target))},
    )


def check_value(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` for an identifiable target without a value."""
    if truth.value is None and not truth.should_abstain:
        raise ValueError("column value: null, though the target is identifiable")


def graph_edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark edges by F1 over (cause, effect), a skeleton's over unordered pairs; an unknown name is
    a wrong member."""
    pairs, nodes = answered_pairs(task, answer), truth.target["nodes"]
    given, target = (read_pairs(task, nodes, some) for some in (pairs, truth.target["edges"]))
    return _f1_mark(given, target, unknown_names(chain.from_iterable(pairs), nodes))


def ends_of(task: Task) -> tuple[str, str]:
    """Return the members that name the two ends of an edge in an answer."""
    return ("from", "to") if task.shape.field == "edges" else ("a", "b")


def answered_pairs(task: Task, answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the two ends of each edge, as the answer spells them."""
    one, other = ends_of(task)
    return [(edge[one], edge[other]) for edge in answer[task.shape.field]]


def read_pairs(
    task: Task, nodes: Iterable[str], pairs: Iterable[Iterable[str]]
) -> frozenset[tuple[str, str]]:
    """Return the pairs by normal names, of a skeleton in their order and of two variables."""
    read = reader(nodes)
    # A name of brackets alone is no name: the reference leaves its edge out, and so do we.
    named = [(a, b) for a, b in (map(read, pair) for pair in pairs) if a and b]
    if task.shape.field != "edges":
        named = [(min(pair), max(pair)) for pair in named if len({*pair}) == 2]
    return frozenset(named)


def listed_members(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark a list of sets or of names by F1 over its members; a word is right or wrong as a
    whole."""
    given, true = answer[task.shape.field], truth.target[task.shape.kind]
    if (right := _as_a_word(given, truth)) is not None:
        return Mark("f1", value=float(right), loss=float(not right))
    if task.shape.kind == "names":
        given, true = ([[name] for name in names] for names in (given, true))
    return _f1_mark(*_read_sets(given, true))


def one_of_the_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Mark as right a list, in any order and with repeats, that is one of the sets, or the
    right word."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return exact(right)
    members, valid = _read_sets([given], truth.target["sets"])
    return exact(members <= valid)


def _as_a_word(given: object, truth: Truth) -> bool | None:
    """Return whether the right word is given, False for word against list; None for two lists."""
    category = normal_label(given) if isinstance(given, str) else "set"
    right: str = truth.target["category"]
    return None if category == right == "set" else category == right


Sets = frozenset[frozenset[str]]


def _read_sets(given: Iterable[list[str]], target: Sequence[list[str]]) -> tuple[Sets, Sets]:
    """Return the answer's sets and the true ones, with the normal names of the true ones."""
    read = reader(chain.from_iterable(target))
    answered, true = (
        frozenset(frozenset(map(read, entry)) for entry in sets) for sets in (given, target)
    )
    return answered, true


def _f1_mark(given: frozenset[Any], target: frozenset[Any], message: str = "") -> Mark:
    """Return the mark of F1 = 2|A ∩ B| / (|A| + |B|) over members with normal names, 1 when both
    are empty, with precision and recall, each 0 where it would divide by 0."""
    shared = len(given & target)
    score = 2 * shared / (len(given) + len(target)) if given or target else 1.0
    precision = shared / len(given) if given else 0.0
    recall = shared / len(target) if target else 0.0
    extra = {"precision": precision, "recall": recall}
    return Mark("f1", value=score, loss=1 - score, extra=extra, message=message)


def point_predictor(task: Task, truth: Truth, answer: Predictions) -> Mark:
    """Mark predictions by RMSE/(1+sd) for a continuous outcome, else by :func:`_binary`."""
    labels = truth.labels or ()
    if truth.target["kind"] == "binary":
        return _binary(labels, answer.prediction, float(truth.target["sd"]))
    errors = [p - y for p, y in zip(answer.prediction, labels, strict=True)]
    # hypot scales internally, so a prediction of 1e200 gives a huge loss instead of an overflow
    rmse = math.hypot(*errors) / math.sqrt(len(errors))
    sd = float(truth.target["sd"])
    return Mark(
        "rmse",
        value=rmse,
        loss=rmse / (1 + sd),
        extra={
            "mae": _bounded_mean([abs(error) for error in errors]),
            "r2": 1 - (rmse / sd) ** 2 if sd > 0 and rmse / sd < 1e150 else None,
        },
    )


def _binary(labels: Sequence[float], predictions: Sequence[float], sd: float) -> Mark:
    """Mark probabilities by sqrt(Brier)/(1+sd); the value is AUC, or Brier with one class.

    They are clipped to [0, 1] for the Brier score and to [1e-6, 1-1e-6] for the log loss; AUC ranks
    them as given.
    """
    clipped = [min(max(p, 0.0), 1.0) for p in predictions]
    brier = fmean([(p - y) ** 2 for p, y in zip(clipped, labels, strict=True)])
    inner = [min(max(p, 1e-6), 1 - 1e-6) for p in predictions]
    log_loss = -fmean(
        [math.log(p if y == 1.0 else 1 - p) for p, y in zip(inner, labels, strict=True)]
    )
    loss = math.sqrt(brier) / (1 + sd)
    extra = {"brier": brier, "log_loss": log_loss}
    auc = area_under_roc(labels, predictions)
    if auc is None:
        return Mark("brier", value=brier, loss=loss, extra=extra)
    return Mark("auc", value=auc, loss=loss, extra={**extra, "auc": auc})


def area_under_roc(labels: Sequence[float], scores: Sequence[float]) -> float | None:
    """Return the ROC AUC, ties at half; None when one class is absent."""
    is_positive = [label == 1.0 for label in labels]
    positives = list(compress(scores, is_positive))
    negatives = sorted(compress(scores, [not own for own in is_positive]))
    if not positives or not negatives:
        return None
    halves = sum(bisect_left(negatives, s) + bisect_right(negatives, s) for s in positives)
    return halves / 2 / (len(positives) * len(negatives))


def prediction_interval(task: Task, truth: Truth, answer: Predictions) -> Mark:
    """Mark intervals by the mean interval score over the held-out rows / (1 + sd)."""
    alpha = float(task.inputs["alpha"])
    rows = list(zip(answer.lower, answer.upper, truth.labels or (), strict=True))
    score = _bounded_mean([interval_score(lower, upper, y, alpha) for lower, upper, y in rows])
    width = _bounded_mean(list(map(sub, answer.upper, answer.lower)))
    sd = float(truth.target["sd"])
    return Mark(
        "interval_score",
        value=score,
        loss=score / (1 + sd),
        coverage=sum([lower <= y <= upper for lower, upper, y in rows]) / len(rows),
        width=width,
        extra={"normalised_width": width / (1 + sd)},
    )


def _bounded_mean(values: Sequence[float]) -> float:
    """Return the mean, or the largest double where the sum is beyond it (bounds like ±1e308)."""
    largest = math.nextafter(math.inf, 0.0)
    try:
        plain = fmean(values)
        return plain if plain < math.inf else fmean(min(value, largest) for value in values)
    except OverflowError:
        return largest


def check_labels(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` unless there is one held-out label for each row to predict."""
    count, rows = len(truth.labels or ()), task.inputs["rows"]
    if count != rows:
        raise ValueError(f"column values of its labels: {count} of {rows} labels")
