"""From a track's plans to instance specs: the order, the keys and the public ids."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from builder.splits.seeds import hmac_key, id_key, instance_key, public_id, stream
from builder.splits.track import Asked, InstanceSpec


class Planned(Protocol):
    """What a track wants to build of one instance."""

    @property
    def asked(self) -> Asked:
        """What the release machinery reads of the plan."""
        ...

    def to_json(self) -> str:
        """The plan as the instance's ``config_json``."""
        ...


def plan_stream(count_root: bytes, track: str, split: str, purpose: str) -> np.random.Generator:
    """The random numbers with which a split is planned, one stream a purpose."""
    return stream(hmac_key(count_root, f"{track}/{split}/plan"), purpose)


def keyed_specs(
    plans: Iterable[Planned],
    place: tuple[str, str],
    naming: tuple[str, str],
    count_root: bytes,
    private: bool,
) -> list[InstanceSpec]:
    """The specs of ``plans``, in their order, at ``place`` (track, split).

    Plans come in random order, so that the index carries no information about the plan.
    ``naming`` holds the prefix of the public ids and the kind of thing they name. Keys and ids
    follow from ``count_root``, the place and the index alone.
    """
    (track, split), (prefix, kind) = place, naming
    specs = []
    for index, plan in enumerate(plans):
        ids = id_key(count_root, track, split, index)
        specs.append(
            InstanceSpec(
                track=track,
                split=split,
                index=index,
                key=instance_key(count_root, track, split, index),
                instance_id=public_id(prefix, ids, kind),
                private=private,
                id_key=ids,
                config_json=plan.to_json(),
                asked=plan.asked,
            )
        )
    return specs
