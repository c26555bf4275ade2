"""An independent search for models that agree with an episode on every legal experiment.

All acyclic graphs are enumerated and each node is fitted, in exact fractions, to the unrounded
readings of a grid of experiments. Whatever candidates are found is then run beside the truth.
Nothing of ``builder.causalab.make.undecided`` or ``audit_pairs`` is used.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from grader.laboratory.episode import Episode

Values = dict[str, Fraction]
Coefficients = dict[str, tuple[Fraction, Fraction]]
LEVELS = (Fraction(0), Fraction(36), Fraction(100))
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


def exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


@dataclass(frozen=True)
class Candidate:
    """A model: coefficients by node and parent, and frequency's base."""

    terms: Mapping[str, Coefficients]
    base: Fraction

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        return frozenset((p, node) for node, found in self.terms.items() for p in found)

    def inflow(self, node: str, values: Values) -> Fraction:
        return sum(
            (w * values[p] + u * values[p] ** 2 for p, (w, u) in self.terms[node].items()),
            Fraction(0),
        )

    def state(self, bases: Values, held: Values) -> Values:
        """All values without rounding; ``bases`` holds frequency's too."""
        values: Values = {}
        while len(values) < len(self.terms):
            for node, found in self.terms.items():
                if node not in values and all(p in values for p in found):
                    values[node] = held.get(node, bases[node] + self.inflow(node, values))
        return values

    def bases_behind(self, values: Values) -> Values:
        """The property bases that show ``values``; frequency's base is not free."""
        bases = {node: values[node] - self.inflow(node, values) for node in self.terms}
        bases[list(self.terms)[-1]] = self.base
        return bases

    def session(
        self, opening: Values, mode: str, settings: Sequence[tuple[str, Fraction]]
    ) -> list[Values]:
        """The readings of a session on a crystal that shows ``opening`` at first."""
        bases, held = self.bases_behind(opening), Values()
        found = [self.state(bases, held)]
        for name, value in settings:
            if mode == "shift":
                bases[name] = value
            elif mode == "do":
                held[name] = value
            else:
                bases[name] += value - self.state(bases, held)[name]
            found.append(self.state(bases, held))
        return found


def truth(episode: Episode) -> Candidate:
    return Candidate(
        {
            node: {t.parent: (exact(t.linear), exact(t.quadratic)) for t in terms}
            for node, terms in episode.model.equations.items()
        },
        exact(episode.model.base),
    )


def sessions(episode: Episode) -> Iterator[list[tuple[str, Fraction]]]:
    """Legal experiments: every order of few settings, then all properties at every level."""
    names = episode.controllable
    for name, value in product(names, LEVELS):
        yield [(name, value)]
    for first, second in product(names, repeat=2):
        if first != second and episode.budget > 1:
            yield [(first, LEVELS[1]), (second, LEVELS[2]), (first, LEVELS[0])][: episode.budget]
    for level in LEVELS if episode.budget >= len(names) else ():
        for turn in range(len(names)):
            order = names[turn:] + names[:turn]
            yield [(n, level + 7 * i * (-1 if level else 1)) for i, n in enumerate(order)]


@dataclass(frozen=True)
class Seen:
    """A reading; by node the unknown numbers in it (base, shift) and its base where it is known.

    A held node has neither.
    """

    values: Values
    unknown: Mapping[str, tuple[str, ...]]
    known: Values


def evidence(episode: Episode) -> list[Seen]:
    """Everything that can be seen, with what is known of each node's base."""
    model, target = truth(episode), episode.target
    base = {target: model.base}
    found = []
    for number, bases in enumerate(episode.private["records"]):
        start = model.state({**{n: exact(b) for n, b in bases.items()}, **base}, {})
        steps = []
        if number == 0:
            chain = episode.public["chain"]
            steps = [(s["set"]["name"], exact(s["set"]["value"])) for s in chain]
        found += _session(episode, model, start, steps, f"record {number}", disturbed=False)
    if episode.budget:
        bases = {n: exact(b) for n, b in episode.private["manipulator"].items()}
        start = model.state({**bases, **base}, {})
        disturbed = episode.disturbance is not None
        for settings in sessions(episode):
            found += _session(episode, model, start, settings, "manipulator", disturbed)
    return found


def _session(
    episode: Episode,
    model: Candidate,
    start: Values,
    settings: Sequence[tuple[str, Fraction]],
    crystal: str,
    disturbed: bool,
) -> list[Seen]:
    last: dict[str, tuple[int, Fraction]] = {}
    found = []
    readings = model.session(start, episode.mode, settings)
    for step, values in enumerate(readings):
        if step:
            name, value = settings[step - 1]
            last[name] = (step, value)
        # Under a disturbance a candidate may shift any node in its own way after each setting.
        shift = (f"shift {step}",) if disturbed and step else ()
        unknown, known = {}, {}
        for node in episode.nodes:
            if node == episode.target:
                unknown[node] = ("shared", *shift)
            elif node not in last:
                unknown[node] = (crystal, *shift)
            elif episode.mode == "shift":
                known[node] = last[node][1]
                unknown[node] = shift
            elif episode.mode == "pin":
                at, value = last[node]
                unknown[node] = (f"{crystal} {settings[:at]} {value}", *shift)
        found.append(Seen(values, unknown, known))
    return found


def fits(
    episode: Episode, seen: Sequence[Seen], node: str, parents: Sequence[str]
) -> Coefficients | None:
    """Coefficients, none of them zero, with which ``node`` obeys ``parents`` everywhere."""
    powers = (1, 2) if episode.family == "quadratic" else (1,)
    rows, targets = _rows(seen, node, parents, powers)
    solved = _solve(rows, targets, len(rows[0]) if rows else len(parents) * len(powers))
    if solved is None:
        return None
    particular, directions = solved
    count = len(parents) * len(powers)
    free = [vector for vector in (d[:count] for d in directions) if any(vector)]
    solution = particular[:count]
    for prime, vector in zip(PRIMES, free, strict=False):
        solution = [a + Fraction(prime, 29) * b for a, b in zip(solution, vector, strict=True)]
    step = len(powers)
    found = {
        p: (solution[i * step], solution[i * step + 1] if step == 2 else Fraction(0))
        for i, p in enumerate(parents)
    }
    return found if all(any(pair) for pair in found.values()) else None


def _rows(
    seen: Sequence[Seen], node: str, parents: Sequence[str], powers: Sequence[int]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Differences of readings with the same unknowns; one of each has a column an unknown.

    An unknown in no other such reading makes that one say nothing, so it is left out.
    """
    first: dict[tuple[str, ...], tuple[list[Fraction], Fraction]] = {}
    rows, targets = [], []
    for item in seen:
        if node not in item.unknown:  # held
            continue
        row = [item.values[p] ** power for p in parents for power in powers]
        left = item.values[node] - item.known.get(node, Fraction(0))
        if names := item.unknown[node]:
            start = first.setdefault(names, (row, left))
            row = [a - b for a, b in zip(row, start[0], strict=True)]
            left -= start[1]
        if any(row) or left:
            rows.append(row)
            targets.append(left)
    uses = Counter(name for names in first for name in names)
    shared = sorted(name for name, count in uses.items() if count > 1)
    rows = [[*row, *(Fraction(0) for _ in shared)] for row in rows]
    for names, (row, left) in first.items():
        if set(names) <= set(shared):
            rows.append([*row, *(Fraction(name in names) for name in shared)])
            targets.append(left)
    return rows, targets


def _solve(
    rows: list[list[Fraction]], targets: list[Fraction], width: int
) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    """Gauss-Jordan elimination, a row at a time: a solution and a basis of the free directions."""
    pivots: dict[int, list[Fraction]] = {}
    for row, target in zip(rows, targets, strict=True):
        line = [*row, target]
        for column, pivot in pivots.items():
            if line[column]:
                factor = line[column]
                line = [a - factor * b for a, b in zip(line, pivot, strict=True)]
        column = next((c for c in range(width) if line[c]), None)
        if column is None:
            if line[width]:
                return None
            continue
        line = [value / line[column] for value in line]
        for other, pivot in pivots.items():
            factor = pivot[column]
            pivots[other] = [a - factor * b for a, b in zip(pivot, line, strict=True)]
        pivots[column] = line
    particular = [pivots[c][width] if c in pivots else Fraction(0) for c in range(width)]
    free = []
    for column in range(width):
        if column not in pivots:
            vector = [-pivots[c][column] if c in pivots else Fraction(0) for c in range(width)]
            vector[column] = Fraction(1)
            free.append(vector)
    return particular, free


@cache
def graphs(count: int) -> tuple[tuple[int, ...], ...]:
    """Every acyclic graph on ``count`` nodes, as parent bit masks."""
    found = []
    for masks in product(range(1 << count), repeat=count):
        if any(mask >> i & 1 for i, mask in enumerate(masks)):
            continue
        placed, left = 0, set(range(count))
        while ready := {i for i in left if not masks[i] & ~placed}:
            left -= ready
            placed |= sum(1 << i for i in ready)
        if not left:
            found.append(masks)
    return tuple(found)


def search(episode: Episode) -> list[Candidate]:
    """All graphs some model of which agrees with everything, each with one such model."""
    nodes, seen = episode.nodes, evidence(episode)
    target = len(nodes) - 1
    known: dict[tuple[int, int], Coefficients | None] = {}
    found = []
    for masks in graphs(len(nodes)):
        if not episode.public["frequency_may_be_parent"] and any(m >> target & 1 for m in masks):
            continue
        terms = {}
        for i, mask in enumerate(masks):
            if (i, mask) not in known:
                parents = [n for j, n in enumerate(nodes) if mask >> j & 1]
                known[i, mask] = fits(episode, seen, nodes[i], parents)
            fitted = known[i, mask]
            if fitted is None:
                break
            terms[nodes[i]] = fitted
        else:
            found.append(_with_base(episode, terms, seen))
    return found


def _with_base(
    episode: Episode, terms: Mapping[str, Coefficients], seen: Sequence[Seen]
) -> Candidate:
    bare = Candidate(terms, Fraction(0))
    calm = next(item for item in seen if item.unknown[episode.target] == ("shared",))
    return Candidate(terms, calm.values[episode.target] - bare.inflow(episode.target, calm.values))


def disagreements(candidates: Sequence[Candidate]) -> set[tuple[str, str]]:
    """The ordered pairs that are an edge of some candidates and not of others."""
    edges = [candidate.edges for candidate in candidates]
    return {pair for a, b in combinations(edges, 2) for pair in a ^ b}
