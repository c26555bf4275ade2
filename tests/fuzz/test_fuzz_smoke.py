"""Every target on its corpus, on every finding so far, and on some mutations of them."""

import random
from pathlib import Path

import pytest
from fuzz_targets import TARGETS

HERE = Path(__file__).parent
KEPT = {
    name: [
        file
        for folder in ("corpus", "findings")
        for file in sorted((HERE / folder / name).glob("*"))
    ]
    for name in TARGETS
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_and_every_finding_are_read_or_refused(name: str) -> None:
    """A target without a corpus would start from nothing."""
    assert KEPT[name]
    for file in KEPT[name]:
        TARGETS[name](file.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_the_corpus_are_read_or_refused(name: str) -> None:
    """The same mutations every time; `make fuzz` looks for others."""
    rng = random.Random(name)
    texts = [file.read_bytes() for file in KEPT[name]]
    for _ in range(40):
        data = bytearray(rng.choice(texts))
        for _ in range(rng.randint(1, 4)):
            at = rng.randint(0, len(data))
            data[at : at + rng.randint(0, 4)] = rng.randbytes(rng.randint(0, 3))
        TARGETS[name](bytes(data))
