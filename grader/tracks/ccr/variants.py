"""The variants of CCR."""

from pathlib import Path
from typing import Final

from grader.shape import read_variants
from grader.tracks.ccr import shapes

CCR: Final = read_variants("ccr", Path(__file__).with_suffix(".toml"), vars(shapes).values())
