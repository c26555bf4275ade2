"""The protocol of the paper on compositional causal reasoning (G.1, Figures G.2 and G.3).

- Every factual and every counterfactual question is a call of its own: the context, one case, one
  yes-or-no question, "be as concise as possible" (G.1; Figures G.2, G.4).
- Five replies to each question (G.1, "Computing PNS Estimates"): the preset's five epochs, one
  reply each, which the grader resamples as the paper does.
- With ``examples`` every question comes behind two worked ones, a factual and a counterfactual
  (Figure G.3), about a context of ours.
- A reply becomes a Boolean by what it means (G.1, "Extracting Boolean Values from Text"). Where a
  model plays the role ``extractor`` (``--model-role extractor=…``) it is asked as in the paper, at
  temperature 0; else the words yes and no, true and false, and their like decide.
- Decoding is the model's own (G.1).

A task without cases (direct, deductive) is in none of the paper's experiments: one reply, its last
block the answer.
"""

from inspect_ai.model import (
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from causal_exams.conversation import ANSWER, end
from causal_exams.endings import CONTEXT, REFUSED
from causal_exams.extraction import yes_or_no
from causal_exams.lab_host import Host
from causal_exams.questions import answer_of, questions, with_examples
from causal_exams.solvers.one_reply import one_reply
from causal_exams.words import told
from grader.exam import Exam
from grader.io.jsonio import canonical

EXTRACTOR = "extractor"


@solver
def make(exam: Exam, host: Host, variant: str = "") -> Solver:
    """The solver; ``variant`` is ``examples`` or empty."""
    single = one_reply(exam, host)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        asked = questions(state.input_text)
        if not asked:
            return await single(state, generate)
        texts = [with_examples(q.text) if variant == "examples" else q.text for q in asked]
        model = get_model()
        outputs: list[ModelOutput] = await collect(*(model.generate(text) for text in texts))
        said = await collect(
            *(_meaning(q.text, output) for q, output in zip(asked, outputs, strict=True))
        )
        state.messages = [
            message
            for text, output in zip(texts, outputs, strict=True)
            for message in (ChatMessageUser(content=text), output.message)
        ]
        state.output = outputs[-1]
        if all(output.stop_reason in _NO_REPLY for output in outputs):
            end(state, _NO_REPLY[outputs[-1].stop_reason])
            return state
        state.store.set(ANSWER, canonical(answer_of(asked, said)))
        return state

    return solve


_NO_REPLY = {"model_length": CONTEXT, "content_filter": REFUSED}


async def _meaning(question: str, output: ModelOutput) -> bool | None:
    """Yes, no, or None where a reply says neither."""
    if EXTRACTOR not in model_roles() or not output.completion.strip():
        return yes_or_no(output.completion)
    extractor: Model = get_model(role=EXTRACTOR)
    prompt = told("ccr-paper.extractor", question=question, answer=output.completion)
    read = await extractor.generate(prompt, config=GenerateConfig(temperature=0, max_tokens=16))
    return yes_or_no(read.completion)
