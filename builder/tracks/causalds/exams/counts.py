"""Choose the scenes of an exam whose numbers of tasks by structure and family are given.

The table of a published exam (CausalDS, Table 11) is met number for number. Which scene fills which
place is an integer programme under random costs: every place is filled, no scene twice, as many
scenes as asked have an unidentifiable ATE, and few share a domain.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from builder.splits.seeds import stream
from builder.splits.track import Candidate
from builder.tracks.causalds.design.eligibility import VARIANTS
from builder.tracks.causalds.exams.model import ComposedExam
from grader.errors import UsageError


def choose_by_counts(
    model: ComposedExam, candidates: Sequence[Candidate], alike: int, key: bytes, where: str
) -> list[Candidate]:
    """Return a scene for each task that the model counts, left with its tasks of that family. Of
    one domain there are at most ``alike``, or as few as all domains can share. Raises
    ``UsageError`` at ``where`` that names the first number that cannot be met."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    places = [
        (scene, family)
        for scene in candidates
        for family in dict.fromkeys(VARIANTS[task.variant].family for task in scene.tasks)
        if model.counts.get(scene.traits["structure"], {}).get(family)
    ]
    wanted = {(one, f): n for one, row in model.counts.items() for f, n in row.items() if n}
    _check_supply(model, wanted, places, where)
    domains = {scene.traits["domain"] for scene in candidates} - {""}
    most = max(alike, -(-model.tasks // max(1, len(domains))))
    # Each rule is a sum over places: its least and greatest value, and where it counts.
    rules: dict[object, tuple[float, float]] = {pair: (n, n) for pair, n in wanted.items()}
    columns: dict[object, list[int]] = defaultdict(list)
    for place, (scene, family) in enumerate(places):
        domain = scene.traits["domain"]
        columns[scene.traits["structure"], family].append(place)
        columns[scene.instance_id].append(place)
        rules[scene.instance_id] = (0, 1)
        if domain:
            columns["domain", domain].append(place)
            rules["domain", domain] = (0, most)
        if model.unidentifiable is not None and _is_lost(scene):
            columns["lost"].append(place)
            rules["lost"] = (model.unidentifiable, model.unidentifiable)
    entries = [(row, place) for row, rule in enumerate(rules) for place in columns[rule]]
    rows, at = np.array(entries).T
    table = csr_array((np.ones(len(entries)), (rows, at)), shape=(len(rules), len(places)))
    low, high = np.array(list(rules.values())).T
    costs = -stream(key, "counts").gumbel(size=len(places))
    whole = np.ones(len(places), dtype=np.int64)
    limits = LinearConstraint(table, low, high)
    found = milp(costs, integrality=whole, bounds=Bounds(0, 1), constraints=limits)
    if not found.success:
        raise UsageError(
            f"{where}.counts: every number can be met, but not all of them at once with {most} "
            f"tasks a domain and unidentifiable = {model.unidentifiable}; raise the number of "
            "scenes, or change unidentifiable"
        )
    return [
        replace(scene, tasks=tuple(t for t in scene.tasks if VARIANTS[t.variant].family == family))
        for (scene, family), taken in zip(places, found.x, strict=True)
        if taken > 0.5
    ]


def _check_supply(
    model: ComposedExam,
    wanted: Mapping[tuple[str, str], int],
    places: Sequence[tuple[Candidate, str]],
    where: str,
) -> None:
    """Raise ``UsageError`` for the first structure, family or verdict with too few scenes."""
    scenes = {scene.instance_id: scene for scene, _ in places}.values()
    by_structure = Counter(scene.traits["structure"] for scene in scenes)
    by_place = Counter((scene.traits["structure"], family) for scene, family in places)
    for (structure, family), count in wanted.items():
        if by_place[structure, family] < count:
            raise UsageError(
                f"{where}.counts.{structure}.{family}: {count} tasks are asked, but "
                f"{by_place[structure, family]} scenes can be asked one; ask fewer or raise the "
                "number of scenes"
            )
    for structure, row in model.counts.items():
        if by_structure[structure] < sum(row.values()):
            raise UsageError(
                f"{where}.counts.{structure}: {sum(row.values())} tasks are asked, one a scene, "
                f"but {by_structure[structure]} scenes can be asked one; ask fewer, raise the "
                "number of scenes, or give this structure a larger share of them"
            )
    lost = sum(map(_is_lost, scenes))
    if model.unidentifiable is not None and lost < model.unidentifiable:
        raise UsageError(
            f"{where}.unidentifiable: {model.unidentifiable} are asked, but the ATE of {lost} "
            "scenes is not identifiable; ask fewer, or raise confounded"
        )


def _is_lost(scene: Candidate) -> bool:
    """Tell whether the scene's average effect is not identifiable."""
    return scene.traits["kind"].endswith("False")
