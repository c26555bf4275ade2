"""What a track hands to the release machinery and what it gets back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

Row = dict[str, object]
"""One row of a config: column name to a plain value that fits the config's Arrow schema."""


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    """One instance to build: all that ``Track.build`` may depend on.

    ``key`` seeds the hidden world, ``id_key`` names the instance and its tasks (see
    ``builder.seeds``); both stay out of ``repr`` so that no message can carry them.
    ``config_json`` is canonical JSON of whatever the track decided while planning.
    """

    track: str
    split: str
    index: int
    key: bytes = field(repr=False)
    instance_id: str
    private: bool
    id_key: bytes = field(repr=False)
    config_json: str

    @property
    def label(self) -> str:
        """``track/split/index``, the name that ``build --only`` takes."""
        return f"{self.track}/{self.split}/{self.index}"


@dataclass(frozen=True, slots=True)
class Built:
    """What one instance became.

    ``rows`` maps a config to its rows; ``rejections`` counts rejected attempts by reason;
    ``seconds`` says how long each stage took and never enters a release.
    """

    rows: dict[str, list[Row]]
    rejections: tuple[tuple[str, int], ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()


class Track(Protocol):
    """One exam of the benchmark as the release machinery sees it."""

    @property
    def name(self) -> str:
        """The track's name; its configs are ``name`` and ``name_...``."""

    @property
    def schemas(self) -> Mapping[str, pa.Schema]:
        """Config to explicit Arrow schema; the first column of each is the id of its rows."""

    @property
    def private_configs(self) -> frozenset[str]:
        """The configs that a private-truth split keeps out of the public repository."""

    def parse(self, table: Mapping[str, object], where: str) -> Any:
        """The checked form of the track's TOML table; raises ``UsageError`` naming the key."""

    def plan(self, config: Any, split: str, count_root: bytes, private: bool) -> list[InstanceSpec]:
        """The instances of a split, in index order."""

    def build(self, spec: InstanceSpec) -> Built:
        """Builds one instance: a pure function of ``spec``."""
