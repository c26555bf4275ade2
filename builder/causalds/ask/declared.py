"""What ``inputs_json`` of each variant declares: nothing else about a task is public by design."""

from collections.abc import Mapping

from builder.causalds.ask import ASKERS


def declared_inputs(key: str, inputs: Mapping[str, object]) -> frozenset[str]:
    """The members that the inputs of a task of this variant must have."""
    return ASKERS[key].declares(inputs)
