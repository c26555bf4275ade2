"""Reading the public reference's tables into contexts of ours.

The tables hold the model in their sentences only: the adjacency matrix and the Bernoulli
parameters are columns, the functions are not. Each known sentence of the released themes is
parsed; an unknown one is an error that names the row, never a guess.
"""

import ast
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from builder.ccr.make.graph import numbered
from builder.ccr.make.model import BooleanContext, Operator
from grader.errors import UsageError

COLUMNS: Final = (
    "Context ID",
    "Sample ID",
    "DAG adjacency matrix",
    "DAG nodes",
    "Exogenous variables",
    "Bernoulli parameters",
    "Causal context",
    "Sample context",
)
"""The columns of the raw table that are read."""

_LONGEST_FIELD: Final = 1 << 24
_NUMPY: Final = re.compile(r"\bnp\.\w+\(([^()]*)\)")
_NODE: Final = r"([\w'-]+)"


class Unknown(Exception):
    """A sentence that no grammar knows."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One node's sentence: its operator, its parents, its threshold or the code it depends on."""

    operator: Operator
    parents: tuple[str, ...]
    need: str


@dataclass(frozen=True, slots=True)
class Theme:
    """A released theme: the words by which a story shows it, and how its sentences are read."""

    name: str
    mark: str
    rules: Any
    bits: Any


@dataclass(frozen=True, slots=True)
class Sample:
    """A case of a context: its bits by node, in node order, and the published text."""

    bits: tuple[bool, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ImportedContext:
    """A context as it was read: theme, model, each node's sentence, the whole text, its cases.

    ``samples`` are by their published id, in the order in which the tables list them.
    """

    name: str
    theme: str
    model: BooleanContext
    rules: Mapping[str, Rule]
    text: str
    samples: dict[str, Sample] = field(default_factory=dict)


def read_tables(paths: Sequence[Path]) -> tuple[list[ImportedContext], int]:
    """The contexts of raw tables (CSV or Parquet), by name, and the number of rows read.

    Replicates of a sample are read once. Raises ``UsageError`` naming file and row.
    """
    contexts: dict[str, ImportedContext] = {}
    rows = 0
    for path in paths:
        for number, row in enumerate(_rows(path), start=1):
            rows += 1
            try:
                _take(row, path.stem, contexts)
            except (Unknown, ValueError, SyntaxError, KeyError) as error:
                message = " ".join(str(error).split())
                raise UsageError(
                    f"{path}: row {number}: {message}; this table cannot be imported"
                ) from None
    if not contexts:
        raise UsageError(f"{paths[0]}: no row; give the raw table of the reference")
    return [found for _, found in sorted(contexts.items())], rows


def _rows(path: Path) -> Iterator[dict[str, str]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        for batch in pq.ParquetFile(path).iter_batches(500):
            for row in batch.to_pylist():
                yield {key: str(value) for key, value in row.items()}
        return
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            yield from csv.DictReader(handle)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read ({error}); give a raw table") from None
    finally:
        csv.field_size_limit(before)  # it holds for the whole process, for answers being graded too


def _take(row: Mapping[str, str], table: str, contexts: dict[str, ImportedContext]) -> None:
    """Adds the sample of one row to the context that it is about."""
    absent = [name for name in COLUMNS if row.get(name) is None]
    if absent:
        raise Unknown(f"no column {absent[0]!r}")
    name = f"{table}/{row['Context ID']}"
    story = row["Causal context"]
    theme = next((theme for theme in THEMES if theme.mark in story), None)
    if theme is None:
        raise Unknown(f"unknown theme in {story[:60]!r}")
    codes = dict(zip(_names(row["DAG nodes"]), _names(row["Exogenous variables"]), strict=True))
    rules = theme.rules(story, codes)
    model = _model(row, rules)
    context = contexts.setdefault(name, ImportedContext(name, theme.name, model, rules, story))
    if context.model != model:
        # The reference gives two contexts of equal sizes in one list the same id.
        raise Unknown(f"context {row['Context ID']} holds two different models")
    bits = theme.bits(row["Sample context"], rules)
    sample = Sample(tuple(bits[node] for node in model.dag.nodes), row["Sample context"])
    context.samples.setdefault(row["Sample ID"], sample)


def _model(row: Mapping[str, str], rules: Mapping[str, Rule]) -> BooleanContext:
    """The model of a row; its sentences must name the parents that its matrix has."""
    names = _names(row["DAG nodes"])
    matrix = _matrix(row["DAG adjacency matrix"])
    if matrix.shape != (len(names), len(names)) or (np.tril(matrix) != 0).any():
        raise Unknown("the adjacency matrix is not upper triangular over the nodes")
    parents = tuple(tuple(np.nonzero(matrix[:, v])[0].tolist()) for v in range(len(names)))
    tenths = []
    for value in _literal(row["Bernoulli parameters"]):
        tenth = Fraction(str(value)) * 10
        if tenth.denominator != 1 or not 0 < tenth < 10:
            raise Unknown(f"the Bernoulli parameter {value} is no tenth")
        tenths.append(int(tenth))
    if set(rules) != set(names):
        odd = sorted(set(rules) ^ set(names))[0]
        raise Unknown(f"the sentences and the column 'DAG nodes' differ on {odd!r}")
    for name, row_parents in zip(names, parents, strict=True):
        expected = {names[p] for p in row_parents}
        if set(rules[name].parents) != expected:
            raise Unknown(f"the sentence of {name!r} and the adjacency matrix differ")
    operators = tuple(rules[name].operator for name in names)
    return BooleanContext(numbered(parents, names), operators, operators, tuple(tenths))


def _literal(cell: str) -> Any:
    """A Python literal, without NumPy's type names."""
    return ast.literal_eval(_NUMPY.sub(r"\1", cell.strip()))


def _names(cell: str) -> list[str]:
    return [str(name) for name in _literal(cell)]


def _matrix(cell: str) -> Any:
    """A matrix as a list of lists, or as NumPy prints it."""
    text = re.sub(r"^array\((.*)\)$", r"\1", cell.strip(), flags=re.DOTALL)
    if "," not in text:
        text = re.sub(r"(?<=[\d.\]])\s+(?=[-\d\[])", ", ", text)
    return np.array(ast.literal_eval(text), dtype=float)


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part.strip()]


def _joined(rest: str, state: str) -> tuple[Operator, tuple[str, ...]]:
    """The operator and parents of ``or if A ... or if B ...`` or ``and A ... and B ...``."""
    for operator, mark in (("or", " or if "), ("and", " and ")):
        pattern = rf"(?:{mark}{_NODE} {state})+"
        if re.fullmatch(pattern, rest):
            parents = tuple(re.findall(rf"{mark}{_NODE} {state}", rest))
            return ("or" if operator == "or" else "and"), parents
    raise Unknown(f"unknown conditions {rest!r}")


def _party_rules(story: str, codes: Mapping[str, str]) -> dict[str, Rule]:
    """CandyParty (paper Fig. G.2): own condition first, or the parents first."""
    rules: dict[str, Rule] = {}
    for sentence in _sentences(story):
        head = re.fullmatch(rf"{_NODE} will be happy if (.*)\.", sentence)
        if head is None:
            continue
        own = r"(?:she|he|they) gets? at least (\d+) candies"
        first = re.fullmatch(rf"{own}((?: or if| and).*)?", head[2])
        last = re.fullmatch(rf"((?:{_NODE} is happy or if )+){own}", head[2])
        if last is not None:
            parents = tuple(re.findall(rf"{_NODE} is happy or if ", last[1]))
            rules[head[1]] = Rule("or", parents, last[last.lastindex or 0])
        elif first is not None:
            operator, parents = _joined(first[2], "is happy") if first[2] else ("or", ())
            rules[head[1]] = Rule(operator, parents, first[1])
        else:
            raise Unknown(f"unknown sentence {sentence!r}")
    return rules


def _party_bits(sample: str, rules: Mapping[str, Rule]) -> dict[str, bool]:
    found = {name: int(n) for name, n in re.findall(rf"{_NODE} gets (\d+)", sample)}
    if set(found) != set(rules):
        raise Unknown("the sample does not list everybody's candies")
    return {name: found[name] >= int(rule.need) for name, rule in rules.items()}


def _flu_rules(story: str, codes: Mapping[str, str]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for sentence in _sentences(story)[1:]:
        head = re.fullmatch(
            rf"{_NODE} will get vaccinated if she had a high fever or bronchitis for at least "
            r"(\d+) days in the previous flu season(.*)\.",
            sentence,
        )
        if head is None:
            raise Unknown(f"unknown sentence {sentence!r}")
        operator, parents = _joined(head[3], "gets vaccinated") if head[3] else ("or", ())
        rules[head[1]] = Rule(operator, parents, head[2])
    return rules


def _flu_bits(sample: str, rules: Mapping[str, Rule]) -> dict[str, bool]:
    """Two symptoms qualify; both must lie on the same side of the threshold."""
    bits: dict[str, bool] = {}
    for sentence in _sentences(sample):
        head = re.search(rf"{_NODE} had (.*)\.$", sentence)
        if head is None:
            raise Unknown(f"unknown sentence {sentence!r}")
        days = {
            symptom: int(n)
            for symptom, n in re.findall(r"(a high fever|bronchitis) for (\d+) days", head[2])
        }
        if head[1] not in rules or len(days) != 2:
            raise Unknown(f"unknown sample {sentence!r}")
        sides = {n >= int(rules[head[1]].need) for n in days.values()}
        if len(sides) != 1:
            raise Unknown(f"the two symptoms of {head[1]!r} disagree")
        bits[head[1]] = sides.pop()
    if set(bits) != set(rules):
        raise Unknown("the sample does not describe everybody")
    return bits


def _note_rules(story: str, codes: Mapping[str, str]) -> dict[str, Rule]:
    pain = re.search(r"significant pain \(rated .*? if they carry allele (\w+),", story)
    if pain is None:
        raise Unknown("no sentence about pain")
    rules = {"pain": Rule("or", (), pain[1])}
    own = (
        r"the patient (?:carries allele|has a family history of|has previously received surgery "
        r"for) (\w+)"
    )
    for sentence in _sentences(story):
        if not sentence.startswith("If "):
            continue
        head = re.fullmatch(
            r"If (.*), then (?:(?:lab|vital) (\w+) will be \w+ \(.*\)|"
            r"the surgeon will recommend surgery)\.",
            sentence,
        )
        if head is None:
            raise Unknown(f"unknown sentence {sentence!r}")
        operator: Operator = "and" if " and " in head[1] and " or " not in head[1] else "or"
        clauses = head[1].split(f" {operator} ")
        codes_found = [match[1] for c in clauses if (match := re.fullmatch(own, c))]
        parents = [_finding(c) for c in clauses if not re.fullmatch(own, c)]
        if len(codes_found) != 1:
            raise Unknown(f"unknown conditions {head[1]!r}")
        rules[head[2] or "surgery"] = Rule(operator, tuple(parents), codes_found[0])
    for node, rule in rules.items():
        if codes.get(node) != rule.need:
            raise Unknown(f"the sentence of {node!r} and 'Exogenous variables' differ")
    return rules


def _finding(clause: str) -> str:
    if clause == "the patient self-reports significant pain":
        return "pain"
    match = re.fullmatch(r"(\w+) is (?:elevated|low)", clause)
    if match is None:
        raise Unknown(f"unknown condition {clause!r}")
    return match[1]


def _note_bits(sample: str, rules: Mapping[str, Rule]) -> dict[str, bool]:
    """A code that is listed is present; the root's is its allele."""
    if "Genetic Screening:" not in sample:
        raise Unknown("a sample without genetic screening")
    sections = {
        "alleles": re.search(r"Patient carries alleles ([^.]*)\.", sample),
        "family": re.search(r"Family History: ([^.]*)\.", sample),
        "surgeries": re.search(r"Prior surgeries for ([^.]*)\.", sample),
    }
    if not all(sections.values()):
        raise Unknown("a sample without alleles, family history or past surgeries")
    listed = {code for match in sections.values() if match for code in match[1].split(", ")}
    return {name: rule.need in listed for name, rule in rules.items()}


THEMES: Final = (
    Theme("FluVaccine", "vaccinated against the flu", _flu_rules, _flu_bits),
    Theme("ClinicalNotes", "requires surgical intervention", _note_rules, _note_bits),
    Theme("CandyParty", "candies", _party_rules, _party_bits),
)
