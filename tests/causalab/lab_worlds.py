"""Episodes for tests, drawn as the builder draws them but without a release around them."""

from collections.abc import Iterator

from builder.graphs.graph import LatentDAG
from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key, hmac_key, stream
from builder.tracks.causalab.episode import EpisodeParts, draw_episode
from builder.tracks.causalab.plan import sample_graphs
from builder.tracks.causalab.suites import Suite, SuiteSetting, read_label
from grader.laboratory.episode import Episode
from grader.laboratory.model import Mode

ROOT = b"tests of causalab"


def worlds(
    name: str,
    setting: SuiteSetting = "reference",
    count: int = 4,
    mode: Mode = "shift",
    seed: str = "",
) -> Iterator[EpisodeParts]:
    """``count`` episodes of a suite, every second one with fixed properties in ``wide``."""
    suite, _ = read_label(f"{setting}/{name}")
    graphs = stream(ROOT, f"graphs/{seed}/{suite.topology}")
    for turn, topology in enumerate(sample_graphs(suite.size, count, suite.acts, graphs)):
        key = hmac_key(ROOT, f"{seed}/{suite.topology}/{turn}")
        fixed = setting == "wide" and turn % 2 == 1
        yield attempt(topology, suite, setting, fixed, mode, key)


def attempt(
    topology: LatentDAG, suite: Suite, setting: SuiteSetting, fixed: bool, mode: Mode, key: bytes
) -> EpisodeParts:
    """The first attempt that is not rejected, as the builder makes them."""
    for number in range(100):
        try:
            return draw_episode(topology, suite, setting, fixed, mode, attempt_key(key, number))
        except Rejection:
            continue
    raise AssertionError("a hundred attempts rejected")


def episodes(
    name: str,
    setting: SuiteSetting = "reference",
    count: int = 4,
    mode: Mode = "shift",
    seed: str = "",
) -> list[Episode]:
    return [
        Episode.load(f"lab-{turn:016x}", parts.public, parts.private)
        for turn, parts in enumerate(worlds(name, setting, count, mode, seed))
    ]
