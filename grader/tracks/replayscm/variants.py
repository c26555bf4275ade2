"""The variants of ReplaySCM."""

from pathlib import Path
from typing import Final

from grader.shape import read_variants
from grader.tracks.replayscm import shapes

REPLAYSCM: Final = read_variants(
    "replayscm", Path(__file__).with_suffix(".toml"), vars(shapes).values()
)
