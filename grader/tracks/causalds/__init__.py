"""The causalds track. Formulas: CausalDS §3.7 and Tables 8-10.

What the scorers read of a truth row
------------------------------------
``should_abstain``: the estimand is not identifiable (for sets and forbidden controls the ATE; for
dominance the NDE or the NIE). Only variants with ``abstainable`` ever have it. ``value``: the
number that is asked for, null where there is none. ``target``, by kind of answer (``Shape.kind``):

predictions
    ``kind`` ("continuous" or "binary"), ``sd`` (population sd of the held-out labels), ``rows``.
sign, label, boolean, count
    ``accepted``: the *set* of answers that are right, as they are written in the answer's field,
    and never empty: labels, true or false, whole numbers. Where abstaining is due it is the
    documented abstention (the shape's ``abstention``). Where the ATE is identifiable without any
    valid set: ["no_backdoor"] (set_size), ["no_backdoor", 0] (set_count). Where an association is
    exactly zero: ["0", "unknown"] (the reference: ["unknown"]).
signs
    ``accepted_before`` and ``accepted_after``, each such a set.
name
    ``accepted``: the names that are right; more than one only where candidates tie.
number, interval
    nothing: the row's ``value`` is the target.
edges
    ``nodes``: all names, unmeasured ones included; ``edges``: [cause, effect] pairs (the skeleton
    ignores their direction).
set, sets
    ``category`` ("set", "no_backdoor" or "non_id") and ``sets``: *all* valid adjustment sets (set),
    all inclusion-minimal ones (sets); empty unless it is "set".
names
    ``category`` and ``names``: the observed variables other than treatment and outcome that are in
    no valid adjustment set; empty unless the category is "set".

What they read of the public inputs
-----------------------------------
``rows`` (both predictions), ``alpha`` (0.1 for prediction intervals, 0.05 for effect intervals),
``available`` (adjustment_set, adjustment_sets and forbidden: the names on offer) and ``candidates``
(conditioning_var: likewise). Beside these a task states, for its reader, ``treatment`` and
``outcome``, and where they apply ``x0``, ``x1``, ``conditioning_var`` (sign_before_after,
delta_point, delta_sign_only), ``variable`` (the collider_phenomenon cells and
collider_bias_boolean), ``observed`` (method_label and
identifiable_boolean) and ``estimand`` ("ETT", "NDE" or "NIE": counterfactual identification and
mediation, but not dominance).
"""

from pathlib import Path
from typing import Final

from grader.scoring.track import RunFigure, Track, TrackPages
from grader.tracks.causalds.figures import (
    compare,
    extend,
    leaderboard_ranks,
    score_by_reading,
)
from grader.tracks.causalds.matched_tasks import bundle
from grader.tracks.causalds.repeats import repeats
from grader.tracks.causalds.shapes import CAUSALDS


def _pages() -> TrackPages:
    """Import and return what the track shows."""
    from grader.tracks.causalds.tables import PAGES

    return PAGES


TRACK: Final = Track(
    name="causalds",
    variants=CAUSALDS,
    reading=Path(__file__).with_name("reading.md"),
    bundle=bundle,
    extend=extend,
    run_figure=RunFigure(
        name="causalds_score",
        label="CausalDSScore",
        digits=3,
        levels=("fixed", "paper"),
        of=score_by_reading,
    ),
    attempts=repeats,
    compare=compare,
    board_members=lambda reports: [
        {"composite_rank": ranks} for ranks in leaderboard_ranks(reports)
    ],
    pages=_pages,
)
