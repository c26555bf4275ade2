"""Reading the public reference's JSONL files: one structural causal model a line.

The files hold models only; what an episode needs beyond them is completed in
:mod:`builder.importing.causalab.episodes`. Whatever does not fit the format is an error that
names file, line and member, never a guess.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from builder.causalab.make.equations import Equations
from builder.causalab.plan.suites import Family
from grader.errors import UsageError
from grader.io.jsonio import BadJson, parse_strict
from grader.laboratory.model import Crystal, CyclicModel, Term

TARGET: Final = "resonanceFreq"
MAX_FILE_BYTES: Final = 50_000_000
MAX_NODES: Final = 8
_SHORT: Final = {TARGET: "freq", "temperatureC": "temp"}
"""The names inside coefficient names, where they differ from the nodes'."""
_PRODUCT: Final = re.compile(r"\b(coeff[12]?_\w+)\s*\*\s*(\w+)")

Bases = dict[str, float]


class Malformed(Exception):
    """A record that is not in the format; the message names the member."""


@dataclass(frozen=True, slots=True)
class HiddenVariable:
    """The hidden variable's nodes and values."""

    nodes: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """The traced measurements of a golden record: readings, and what was set before each."""

    observations: tuple[Mapping[str, float], ...]
    settings: tuple[tuple[str, float], ...]
    readings: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One model of the reference.

    It is what ``line`` of the file ``suite`` says. ``names`` are the controllable nodes in the
    file's order; ``presets`` the fixed crystals of a quadratic record: two observations,
    manipulator, reactor.
    """

    suite: str
    line: str
    graph_id: str
    names: tuple[str, ...]
    displays: Mapping[str, str]
    equations: Equations
    budget: int
    family: Family
    acts: bool
    hidden: HiddenVariable | None
    presets: tuple[Bases, ...]
    trace: Trace | None

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(cause, effect) pairs, sorted."""
        return sorted(
            (t.parent, node) for node, terms in self.equations.terms.items() for t in terms
        )


def read_folder(folder: Path) -> tuple[list[Record], str]:
    """All records of the JSONL files in ``folder``, and a SHA-256 over names and bytes.

    Raises ``UsageError``.
    """
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    if not files:
        raise UsageError(f"{folder}: no .jsonl file there; name the reference's dataset folder")
    digest = hashlib.sha256()
    records: list[Record] = []
    for file in files:
        data = _bytes(file)
        digest.update(file.name.encode("utf-8") + b"\0" + hashlib.sha256(data).digest())
        found = list(_records(file, data))
        ids = [record.graph_id for record in found]
        if len(set(ids)) < len(ids):
            repeated = next(name for name in ids if ids.count(name) > 1)
            raise UsageError(f"{file}: graph_id {repeated!r} appears twice; keep one of them")
        records += found
    return records, digest.hexdigest()


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as handle:
            data = handle.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror or error})") from None
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"{file}: over {MAX_FILE_BYTES} bytes; this is no file of the reference")
    return data


def _records(file: Path, data: bytes) -> Iterator[Record]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = read_record(file.stem, line)
            check_trace(record)
            yield record
        except BadJson as error:
            raise UsageError(f"{file}: line {number}: {error.message}") from None
        except (Malformed, CyclicModel) as error:
            raise UsageError(f"{file}: line {number}: {error}; it cannot be imported") from None


def read_record(suite: str, line: bytes) -> Record:
    """The model in a line of the file ``suite``; raises ``BadJson`` and :class:`Malformed`."""
    document = parse_strict(line)
    if not isinstance(document, dict):
        raise Malformed("not an object")
    nodes = _member(document, "nodes", dict)
    if TARGET not in nodes or not 3 <= len(nodes) <= MAX_NODES:
        raise Malformed(f"nodes: 3 to {MAX_NODES} of them, {TARGET} among them")
    names = tuple(name for name in nodes if name != TARGET)
    family: Family = document.get("equation_family", "linear")
    if family not in ("linear", "quadratic"):
        raise Malformed("equation_family: neither linear nor quadratic")
    params = _member(document, "params", dict)
    edges = _edges(document, nodes)
    order = (*names, TARGET)
    return Record(
        suite=suite,
        line=line.decode("utf-8"),
        graph_id=_member(document, "graph_id", str),
        names=names,
        displays={name: _member(_entry(nodes, name), "display_name", str) for name in order},
        equations=Equations(
            {name: _terms(name, _entry(nodes, name), edges, params, family) for name in order},
            _number(params, "base_freq", "params"),
        ),
        budget=_budget(document),
        family=family,
        acts=document.get("frequency_can_be_parent") is True,
        hidden=_hidden(document, nodes),
        presets=_presets(document, names) if family == "quadratic" else (),
        trace=_trace(document, names),
    )


def _member(document: Mapping[str, Any], key: str, kind: type) -> Any:
    value = document.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Malformed(f"{key}: absent or not a {kind.__name__}")
    return value


def _number(document: Mapping[str, Any], key: str, where: str) -> float:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed(f"{where}.{key}: absent or not a number")
    return float(value)


def _entry(nodes: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if not isinstance(nodes[name], dict):
        raise Malformed(f"nodes.{name}: not an object")
    entry: Mapping[str, Any] = nodes[name]
    if bool(entry.get("is_controllable")) == (name == TARGET):
        raise Malformed(f"nodes.{name}.is_controllable: true for all nodes but {TARGET}")
    return entry


def _budget(document: Mapping[str, Any]) -> int:
    budget = _member(document, "budget", int)
    if not 0 <= budget <= 1000:
        raise Malformed("budget: not between 0 and 1000")
    return int(budget)


def _edges(document: Mapping[str, Any], nodes: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for edge in _member(document, "edges", list):
        ends = (edge.get("from"), edge.get("to")) if isinstance(edge, dict) else (None, None)
        if ends[0] not in nodes or ends[1] not in nodes or ends[0] == ends[1] or ends in found:
            raise Malformed(f"edges: {edge!r} is no edge between two nodes, or is there twice")
        found.append(ends)
    return [(str(cause), str(effect)) for cause, effect in found]


def _terms(
    name: str,
    entry: Mapping[str, Any],
    edges: Sequence[tuple[str, str]],
    params: Mapping[str, Any],
    family: Family,
) -> tuple[Term, ...]:
    """A node's terms, in the order in which its computation adds them."""
    causes = [cause for cause, effect in edges if effect == name]
    computation = entry.get("computation", "")
    if not isinstance(computation, str):
        raise Malformed(f"nodes.{name}.computation: not a text")
    added = list(dict.fromkeys(parent for _, parent in _PRODUCT.findall(computation)))
    if sorted(added) != sorted(causes):
        raise Malformed(f"nodes.{name}.computation: its terms are not those of the edges")
    terms = []
    for parent in added:
        ends = f"{_SHORT.get(parent, parent)}_{_SHORT.get(name, name)}"
        names = ("coeff",) if family == "linear" else ("coeff1", "coeff2")
        terms.append(Term(parent, *(_number(params, f"{k}_{ends}", "params") for k in names)))
    return tuple(terms)


def _hidden(document: Mapping[str, Any], nodes: Mapping[str, Any]) -> HiddenVariable | None:
    block = document.get("hidden_variable")
    if block is None:
        return None
    if not isinstance(block, dict) or block.get("edge_weight") != 1:
        raise Malformed("hidden_variable: not an object with edge_weight 1")
    affected = _member(block, "affected_nodes", list)
    if not affected or any(name not in nodes for name in affected):
        raise Malformed("hidden_variable.affected_nodes: not a list of nodes")
    space = _member(block, "value_space", list)
    if not space:
        raise Malformed("hidden_variable.value_space: empty")
    values = {str(i): value for i, value in enumerate(space)}
    numbers = (_number(values, key, "hidden_variable.value_space") for key in values)
    return HiddenVariable(tuple(affected), tuple(numbers))


def _presets(document: Mapping[str, Any], names: Sequence[str]) -> tuple[Bases, ...]:
    block = _member(document, "quadratic_metadata", dict)
    presets = _member(block, "observation_presets", list)
    if len(presets) != 2:
        raise Malformed("quadratic_metadata.observation_presets: not two of them")
    maps = [*presets, block.get("property_manipulator"), block.get("reactor")]
    return tuple(_bases(entry, names, "quadratic_metadata") for entry in maps)


def _bases(entry: object, names: Sequence[str], where: str) -> Bases:
    if not isinstance(entry, dict) or sorted(entry) != sorted(names):
        raise Malformed(f"{where}: a base map that has not one number for every property")
    return {name: _number(entry, name, where) for name in names}


def _trace(document: Mapping[str, Any], names: Sequence[str]) -> Trace | None:
    entries = document.get("bootstrap_past_data")
    if entries is None:
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Malformed("bootstrap_past_data: not a list of objects")
    observations: list[Bases] = []
    settings: list[tuple[str, float]] = []
    readings: list[Bases] = []
    for entry in entries:
        reading = _bases(entry.get("props"), names, "bootstrap_past_data.props")
        reading[TARGET] = _number(entry, "freq", "bootstrap_past_data")
        made = entry.get("intervention")
        if made is None:
            if settings:
                raise Malformed("bootstrap_past_data: an observation after an intervention")
            observations.append(reading)
            continue
        if not isinstance(made, dict) or made.get("target_prop") not in names:
            raise Malformed("bootstrap_past_data.intervention: no property of the record")
        value = _number(made, "target_value", "bootstrap_past_data.intervention")
        settings.append((str(made["target_prop"]), value))
        readings.append(reading)
    if not observations:
        raise Malformed("bootstrap_past_data: it begins without an observation")
    return Trace(tuple(observations), tuple(settings), tuple(readings))


def bases_behind(record: Record, reading: Mapping[str, float]) -> Bases:
    """The bases that a reading of a trace must have had."""
    found = {}
    for name in record.names:
        inflow = sum(
            term.quadratic * reading[term.parent] ** 2 + term.linear * reading[term.parent]
            for term in record.equations.terms[name]
        )
        found[name] = round(reading[name] - inflow, 2) + 0.0
    return found


def check_trace(record: Record) -> None:
    """Raises :class:`Malformed` where a trace is not what the model gives, and ``CyclicModel``."""
    model, trace = record.equations.model, record.trace
    if trace is None:
        return
    for reading in trace.observations:
        if model.read(bases_behind(record, reading)) != dict(reading):
            raise Malformed("bootstrap_past_data: an observation is not what the model gives")
    crystal = Crystal(model, bases_behind(record, trace.observations[0]), "pin")
    for number, (setting, reading) in enumerate(
        zip(trace.settings, trace.readings, strict=True), start=1
    ):
        crystal.set(*setting)
        if crystal.read() != dict(reading):
            raise Malformed(f"bootstrap_past_data: intervention {number} does not replay")
