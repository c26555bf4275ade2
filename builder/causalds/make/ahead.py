"""Stories that somebody writes at a desk are waited for before any scene is built.

Then the requests of all scenes lie there at once, a person sees what is waited for, and workers
find every reply in the transcripts. It can be done so early because a story does not depend on the
numbers of its scene.
"""

from collections.abc import Sequence
from functools import partial

from builder.attempts import Rejected
from builder.causalds.make.scene import narrate
from builder.causalds.plan.types import ScenePlan
from builder.seeds import attempt_key
from builder.track import InstanceSpec, Progress
from builder.words.llm.waiting import tell_all


def tell_ahead(specs: Sequence[InstanceSpec], progress: Progress, most: int) -> None:
    """Has the stories of these scenes told, where they are told at a desk; ``most`` is how many
    tries a scene has.

    Raises ``UsageError`` for a folder or a reply that cannot be used, and for one that is late.
    """
    # A split that is told at a desk begins with scenes that are; other large ones are not planned
    # here once more.
    request = ScenePlan.from_json(specs[0].config_json).request if specs else None
    desk = None if request is None else request.settings.desk_at(request.where)
    if request is None or desk is None:
        return
    plans = ((spec, ScenePlan.from_json(spec.config_json)) for spec in specs)
    tellings = [partial(_tell, spec, plan, most) for spec, plan in plans if plan.request]
    with progress.stage("stories from the desk", len(tellings)) as told:
        seconds, private = request.settings.seconds, specs[0].private
        tell_all(tellings, desk, private, seconds, told, progress.note)


def _tell(spec: InstanceSpec, plan: ScenePlan, most: int) -> None:
    """Tells a scene as its attempts will ask for it: anew until a telling succeeds."""
    for wordless in range(most):
        try:
            narrate(plan, attempt_key(spec.key, wordless))
            return
        except Rejected:
            continue
