"""The ways to sit an exam: the settings ``closed`` and ``open``, each a protocol.

A protocol leads a conversation through its methods alone, so that this module needs no Inspect.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from causal_exams.attempts import ANSWERED, STEPS
from causal_exams.extraction import answer_in
from causal_exams.words import wording
from grader.io.jsonio import BadJson, parse_strict

if TYPE_CHECKING:
    from causal_exams.conversation import Conversation

CLOSED, OPEN = "closed", "open"
MIXED: Final = "mixed"
"""The setting of a run whose tracks are sat under different ones."""
REPLIES: Final = 50
"""Replies a task may take, besides one for each experiment that a laboratory allows."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way to sit tasks, under the ``setting`` closed or open.

    ``lead`` leads the whole conversation about one task, up to the answer. ``sandboxed`` says
    whether it needs a sandbox. ``epochs`` are the attempts at each task.
    """

    setting: str
    lead: "Callable[[Conversation], Awaitable[None]]"
    sandboxed: bool = False
    epochs: int = 1


async def take_one_reply(talk: "Conversation") -> None:
    """Ask for one reply to the prompt, and store the answer in it: its last fenced block.

    In a laboratory the reply's hypothesis and prediction are the whole session.
    """
    kind = "json" if talk.in_laboratory else talk.task.shape.suffix.removeprefix(".")
    more = [wording("closed.laboratory")] if talk.in_laboratory else []
    talk.begin(wording("closed.system", kind=kind), *more)
    reply = await talk.reply()
    if reply is None:
        return
    answer = answer_in(reply, kind)
    if not talk.in_laboratory:
        if answer is not None:
            talk.answer(answer)
        return
    # What is wrong is refused by the laboratory and noted in its transcript.
    try:
        document = parse_strict((answer or "").encode("utf-8", "surrogatepass"))
    except BadJson as error:
        talk.session.refuse("request", error.message, "a reply")
        return
    if not isinstance(document, dict) or "prediction" not in document:
        talk.session.refuse("request", 'send {"prediction": …, "hypothesis": {…}}', "a reply")
        return
    if document.get("hypothesis") is not None:
        talk.session.request({"op": "hypothesis", "record": document["hypothesis"]})
    talk.session.request({"op": "predict", "value": document["prediction"]})


async def lead_agent(talk: "Conversation") -> None:
    """Offer bash, python and the laboratory's tools, and let the model work until it has answered.

    It has answered when a reply calls no tool and the answer file is valid, or when its session in
    the laboratory is over. The step limit is ``REPLIES``, and one more for each experiment of the
    budget.
    """
    talk.offer_shell("bash", "python")
    most, more = REPLIES, []
    stack = wording("open.stack", packages=await talk.packages())
    if talk.in_laboratory:
        talk.offer_laboratory()
        most += talk.session.laboratory.episode.budget
        more.append(wording("open.laboratory"))
    talk.begin(wording("open.system", stack=stack, file=talk.task.answer_file), *more)
    for _ in range(most):
        if await talk.reply() is None:
            return
        if talk.calls:
            await talk.act()
            if talk.in_laboratory and talk.session.is_over:
                talk.end(ANSWERED)
                return
            continue
        if talk.in_laboratory:  # a prediction would have ended the session
            talk.say(wording("open.unpredicted"))
            continue
        data = await talk.answer_file()
        if data is None:
            talk.say(wording("open.absent", file=talk.task.answer_file))
        elif problem := await talk.problem(data):
            talk.say(wording("open.invalid", problem=problem))
        else:
            talk.end(ANSWERED)
            return
    talk.end(STEPS)


SETTINGS: Final[Mapping[str, Protocol]] = {
    CLOSED: Protocol(CLOSED, take_one_reply),
    OPEN: Protocol(OPEN, lead_agent, sandboxed=True),
}
