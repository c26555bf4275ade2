"""The variants of ReplaySCM."""

from typing import Final

from grader.shape import Variant


def _replayscm(family: str, name: str, shape: str, rule: str) -> Variant:
    return Variant(
        "replayscm", family, name, 2, "pass", "heldout_exact" if family == "induction" else
        "joint_success", shape, "mechanisms", False, "prompt", rule,
    )  # fmt: skip


_REPLAY_RULE: Final = (
    "Right when the program replays every training world and every held-out world exactly"
)
_ALTERNATIVE_RULE: Final = (
    "Right when the program fits every training world, differs from the reference in some "
    "mechanism's function, and the intervention with the witness shows a difference."
)


REPLAYSCM: Final[tuple[Variant, ...]] = (
    _replayscm("induction", "ordered", "mechanisms", f"{_REPLAY_RULE}."),
    _replayscm("induction", "block", "mechanisms", f"{_REPLAY_RULE}."),
    _replayscm("induction", "hidden", "mechanisms", f"{_REPLAY_RULE}."),
    _replayscm(
        "induction", "hidden_roots", "roots_mechanisms",
        f"{_REPLAY_RULE}, and the declared roots are the roots.",
    ),
    _replayscm("alternative", "alternative_ordered", "alternative_scm", _ALTERNATIVE_RULE),
    _replayscm("alternative", "alternative_hidden", "alternative_scm", _ALTERNATIVE_RULE),
)  # fmt: skip
