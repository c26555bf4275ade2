"""The variants of CausalDS: the 33 (family, variant) pairs of the paper's Tables 8-10 are all here,
and ours, which are asked by name.

Families and variants have the paper's names. What the truth row and the inputs of each variant
hold is stated in :mod:`grader.tracks.causalds`.
"""

from pathlib import Path
from typing import Final

from grader.shape import read_variants
from grader.tracks.causalds import shapes

CAUSALDS: Final = read_variants(
    "causalds", Path(__file__).with_suffix(".toml"), vars(shapes).values()
)
