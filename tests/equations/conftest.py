"""Random worlds on every motif, and plain Monte Carlo that shares nothing with the library's."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from builder.equations.profiles import BINARY_PROFILES, CONTINUOUS_PROFILES, profile
from builder.equations.sampling import sample_world
from builder.equations.world import World
from builder.graphs.motifs import MOTIFS

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
        return np.random.Generator(np.random.Philox(key=digest(f"{self.name}/{stream}")))


def digest(text: str) -> int:
    """A generator key from a text, the same in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generate(count: int, seed: int) -> Iterator[Case]:
    """Worlds that run through motifs, then kinds of treatment, then kinds of outcome."""
    motifs = list(MOTIFS.values())
    for i in range(count):
        motif = motifs[i % len(motifs)]
        kinds = {
            motif.treatment: KINDS[(i // len(motifs)) % 2],
            motif.outcome: KINDS[(i // len(motifs) // 2) % 2],
        }
        rng = np.random.Generator(np.random.Philox(key=digest(f"world/{seed}/{i}")))
        world = sample_world(rng, motif.graph, kinds, outcome=motif.outcome)
        yield Case(f"{motif.name}-{seed}-{i}", world, motif.treatment, motif.outcome)


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    """96 worlds: every motif eight times, once for each pair of kinds in each half of them."""
    return list(generate(96, seed=1))


MEDIATED = ("chain", "mediation", "arrowhead", "diamond", "frontdoor", "triangle", "confounding")


@pytest.fixture(scope="session")
def curved_cases() -> list[Case]:
    """56 worlds, one of every pair of mechanism profiles, most with mediators."""
    found = []
    for i in range(56):
        motif = MOTIFS[MEDIATED[i % len(MEDIATED)]]
        turn = i // len(MEDIATED)
        kinds = {motif.treatment: KINDS[turn % 2], motif.outcome: KINDS[turn // 2 % 2]}
        continuous = list(CONTINUOUS_PROFILES)[i % len(CONTINUOUS_PROFILES)]
        binary = list(BINARY_PROFILES)[i % len(BINARY_PROFILES)]
        rng = np.random.Generator(np.random.Philox(key=digest(f"curved/{i}")))
        world = sample_world(
            rng, motif.graph, kinds, outcome=motif.outcome, profile=profile(continuous, binary)
        )
        name = f"{motif.name}-{continuous}-{binary}-{i}"
        found.append(Case(name, world, motif.treatment, motif.outcome))
    return found
