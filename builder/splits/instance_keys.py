"""From a track's plans to instance specs: the order, the keys and the public ids."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Self

import numpy as np
from pydantic import TypeAdapter

from builder.splits.seeds import hmac_key, id_key, instance_key, public_id, stream
from builder.splits.track import InstanceSpec, TaskPlan


class InstancePlan:
    """The base of a track's dataclass of plans: what it wants to build of one instance."""

    __slots__ = ()

    @property
    def task_plan(self) -> TaskPlan:
        """Return what the release machinery reads of the plan."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the plan as the instance's ``config_json``."""
        return _adapter_of(type(self)).dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the plan that :meth:`to_json` wrote."""
        plan: Self = _adapter_of(cls).validate_json(text)
        return plan


_adapter_of: Callable[[type], TypeAdapter[Any]] = cache(TypeAdapter)
"""The reader and writer of one class of plans."""


def plan_stream(count_root: bytes, track: str, split: str, purpose: str) -> np.random.Generator:
    """Return the random numbers with which a split is planned, one stream a purpose."""
    return stream(hmac_key(count_root, f"{track}/{split}/plan"), purpose)


def keyed_specs(
    plans: Iterable[InstancePlan],
    place: tuple[str, str],
    naming: tuple[str, str],
    count_root: bytes,
    private: bool,
) -> list[InstanceSpec]:
    """Return the specs of ``plans``, in their order, at ``place`` (track, split).

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
                task_plan=plan.task_plan,
            )
        )
    return specs
