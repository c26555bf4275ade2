"""Random worlds on every motif, and plain Monte Carlo that shares nothing with the library's."""

from dataclasses import dataclass

import numpy as np
import pytest

from builder.equations.mechanisms import BINARY_PROFILES, CONTINUOUS_PROFILES, profile
from builder.equations.sampling import sample_world
from builder.equations.world import World
from builder.graphs.motifs import MOTIFS
from builder.splits import seeds

KINDS = ("continuous", "binary")


@dataclass(frozen=True)
class Case:
    """One world with its treatment and outcome; ``name`` says how to get it again."""

    name: str
    world: World
    x: str
    y: str

    def rng(self, stream: int = 0) -> np.random.Generator:
        """A keyed generator as the builder uses them, without a seed sequence to spawn from."""
        return seeds.stream(self.name.encode(), str(stream))


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    """48 worlds: every motif four times, once for each pair of kinds."""
    motifs, found = list(MOTIFS.values()), []
    for i in range(48):
        motif = motifs[i % len(motifs)]
        turn = i // len(motifs)
        kinds = {motif.treatment: KINDS[turn % 2], motif.outcome: KINDS[turn // 2 % 2]}
        rng = seeds.stream(b"worlds", str(i))
        world = sample_world(rng, motif.graph, kinds, outcome=motif.outcome)
        found.append(Case(f"{motif.name}-{i}", world, motif.treatment, motif.outcome))
    return found


MEDIATED = ("chain", "mediation", "arrowhead", "diamond", "frontdoor", "triangle", "confounding")


@pytest.fixture(scope="session")
def curved_cases() -> list[Case]:
    """28 worlds of every mechanism profile, most with mediators."""
    found = []
    for i in range(28):
        motif = MOTIFS[MEDIATED[i % len(MEDIATED)]]
        turn = i // len(MEDIATED)
        kinds = {motif.treatment: KINDS[turn % 2], motif.outcome: KINDS[turn // 2 % 2]}
        continuous = list(CONTINUOUS_PROFILES)[i % len(CONTINUOUS_PROFILES)]
        binary = list(BINARY_PROFILES)[i % len(BINARY_PROFILES)]
        rng, own = seeds.stream(b"curved", str(i)), profile(continuous, binary)
        world = sample_world(rng, motif.graph, kinds, outcome=motif.outcome, profile=own)
        name = f"{motif.name}-{continuous}-{binary}-{i}"
        found.append(Case(name, world, motif.treatment, motif.outcome))
    return found
