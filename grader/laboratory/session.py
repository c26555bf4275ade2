"""One agent at work in the laboratory: what is allowed, what is shown, what is written down.

The order is experiments, then the reactor, then one prediction. Whatever is refused changes
nothing but the transcript. Nothing a session says depends on anything hidden except readings.

A transcript is evidence only if the engine would have written it. So every line is done again in a
fresh session, and what that writes must be the line: a reading, a budget or an order that could not
have happened is found whatever its digests say.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NoReturn

from grader.io.jsonio import BadJson, canonical_json, clip, parse_strict
from grader.laboratory.episode import Episode, Reading
from grader.laboratory.hypothesis import EMPTY, BadHypothesis, Hypothesis, parse_hypothesis
from grader.laboratory.model import round_reading
from grader.laboratory.transcript import Line, TranscriptError, content_of, seal, write_line

ENGINE_VERSION: Final = "1"

MAX_ATTEMPTS: Final = 3
"""A step's hypothesis may be asked for again twice (paper A.5)."""
MAX_RECORD: Final = 16 << 10
MAX_RECORDS_PER_STEP: Final = 10
MAX_REFUSALS: Final = 500
"""Refusals written down; later ones are answered and forgotten."""
_RECORD_DEPTH: Final = 24

Phase = Literal["experiments", "reactor", "closed"]


class RefusedRequest(ValueError):
    """Raised for a request that is not allowed; ``code`` names the reason, the text explains it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Laboratory:
    """One session with an episode. Pure: no input or output, no clock.

    ``submission`` is the name the host knows the agent by. With ``key`` every line of the
    transcript is signed. ``transcript`` has the lines so far and is complete after every call; the
    last line of a finished session is ``closed``. ``hypotheses`` are (interventions made before it,
    hypothesis), ``readings`` (node, value set, what the crystal then showed). ``parse_failures``
    counts steps, ``refusals`` the refusals written down.
    """

    def __init__(self, episode: Episode, submission: str = "", key: bytes | None = None) -> None:
        self.episode = episode
        self.submission = submission
        self.phase: Phase = "experiments"
        self.prediction: float | None = None
        self.hypotheses: list[tuple[int, Hypothesis]] = []
        self.readings: list[tuple[str, float, Reading]] = []
        self.parse_failures = 0
        self.refusals = 0
        self._crystal = episode.manipulator()
        self._key = key
        self.transcript: list[Line] = []
        self._failed_attempts = 0
        self._records_in_step = 0
        self._append(
            "opened",
            engine=ENGINE_VERSION,
            task_id=episode.task_id,
            episode=episode.digest,
            submission=submission,
            mode=episode.mode,
            budget=episode.budget,
            opening=episode.public["opening"],
        )

    @property
    def final_hypothesis(self) -> Hypothesis:
        """The hypothesis that is scored: the last that parsed, or an empty one."""
        return self.hypotheses[-1][1] if self.hypotheses else EMPTY

    @property
    def remaining(self) -> int:
        """The number of interventions left."""
        return self.episode.budget - len(self.readings)

    def transcript_text(self, start: int = 0) -> str:
        """Return the lines from index ``start`` as they stand in a file."""
        return "".join(write_line(line) for line in self.transcript[start:])

    def intervene(self, name: object, value: object) -> Reading:
        """Set a property of the manipulator crystal, rounded to 0.01; return what it then shows.

        Raises :class:`RefusedRequest`, which costs no budget.
        """
        node, number = self._checked_setting(name, value)
        done = len(self.readings)
        hidden = self.episode.disturbance
        self._crystal.set(node, number, hidden.sequence[done] if hidden else 0.0)
        reading = self._crystal.read()
        self.readings.append((node, number, reading))
        self._failed_attempts = self._records_in_step = 0
        self._append(
            "reading",
            set={"name": node, "value": number},
            reading=reading,
            remaining=self.remaining,
        )
        return dict(reading)

    def hypothesise(self, record: object) -> Hypothesis:
        """Record a step record or a bare hypothesis, and return the parsed hypothesis.

        Raises :class:`RefusedRequest` with the parser's error. The third failure in a row in one
        step is recorded as that step's parse failure.
        """
        self._refuse_when_closed()
        over = ""
        if self._failed_attempts >= MAX_ATTEMPTS:
            over = "this step's hypothesis failed to parse three times and is recorded so"
        elif self._records_in_step >= MAX_RECORDS_PER_STEP:
            over = f"at most {MAX_RECORDS_PER_STEP} hypotheses a step"
        if over:
            advice = f"{over}; go on with an intervention or the prediction"
            self._refuse("hypothesis", advice, {"op": "hypothesis"})
        try:
            document = _storable(record)
            hypothesis = parse_hypothesis(document, self.episode.public)
        except BadHypothesis as error:
            self.note_hypothesis_failure(str(error), self._failed_attempts + 1)
            raise RefusedRequest("hypothesis", str(error)) from None
        self._records_in_step += 1
        self._failed_attempts = 0
        self.hypotheses.append((len(self.readings), hypothesis))
        self._append("hypothesis", step=len(self.readings), record=document)
        return hypothesis

    def open_reactor(self) -> Reading:
        """End the experiments; return the reactor's properties, the same at each call."""
        self._refuse_when_closed()
        shown = dict(self.episode.public["reactor"])
        if self.phase == "experiments":
            self.phase = "reactor"
            self._append("reactor", properties=shown)
        return shown

    def predict(self, value: object, hypothesis: object = None) -> None:
        """Predict the reactor crystal's target, once; this ends the session.

        The reactor is opened if it is not. A final ``hypothesis`` may come with the prediction;
        where it is refused no prediction is made. Raises :class:`RefusedRequest`. Whether the
        prediction is right is not said.
        """
        self._refuse_when_closed()
        number = self._checked_prediction(value)
        if hypothesis is not None:
            self.hypothesise(hypothesis)
        self.open_reactor()
        self.record_prediction(number)
        self.stop()

    def record_prediction(self, value: object) -> None:
        """Write the prediction's line alone, as a replay does; an agent calls :meth:`predict`."""
        self._refuse_when_closed()
        if self.phase != "reactor" or self.prediction is not None:
            raise RefusedRequest("prediction", "one prediction, after the reactor was opened")
        self.prediction = self._checked_prediction(value)
        self._append("prediction", value=self.prediction)

    def stop(self) -> None:
        """End the session, with a prediction or without; nothing can be done in it afterwards."""
        self._refuse_when_closed()
        self.phase = "closed"
        self._append("closed", lines=len(self.transcript) + 1)

    def note_resumption(self) -> None:
        """Write down that the agent was connected again, unless the last line says so already."""
        self._refuse_when_closed()
        if self.transcript[-1]["event"] != "resumed":
            self._append("resumed")

    def note_refusal(self, request: str, error: str) -> None:
        """Write down a refused request, ``MAX_REFUSALS`` at most and none in a closed session."""
        if self.phase != "closed" and self.refusals < MAX_REFUSALS:
            self.refusals += 1
            self._append("refused", request=request, error=error)

    def note_hypothesis_failure(self, error: str, attempt: int) -> None:
        """Write down parse failure ``attempt`` of a step, from 1; the third is the step's."""
        if attempt != self._failed_attempts + 1:
            raise RefusedRequest("hypothesis", "attempts at a hypothesis are counted one by one")
        self._failed_attempts = attempt
        if attempt == MAX_ATTEMPTS:
            self.parse_failures += 1
            self._append("parse_failure", step=len(self.readings), error=error)
        else:
            self._append("reprompt", step=len(self.readings), attempt=attempt, error=error)

    def _checked_setting(self, name: object, value: object) -> tuple[str, float]:
        """Return (node, rounded value), or raise ``RefusedRequest``, noted unless closed."""
        self._refuse_when_closed()
        episode, number = self.episode, _number(value)
        node, allowed = episode.node(name), ", ".join(episode.controllable)
        low, high = episode.ranges.get(node or "", (0.0, 0.0))
        if self.phase != "experiments":
            done = "the reactor was opened, which ended the experiments"
            code, why = "reactor", f"{done}; what is left is the prediction"
        elif node is None:
            code, why = "name", f"there is no {clip(name)}; set one of {allowed}"
        elif node not in episode.controllable:
            code, why = "name", f"{node} cannot be set; set one of {allowed}"
        elif number is None or not low <= round_reading(number) <= high:
            span = f"from {low:g} to {high:g}"
            code, why = "value", f"{clip(value)} is not allowed; give a number {span}"
        elif self.remaining <= 0:
            done = f"all {episode.budget} interventions are used"
            code, why = "budget", f"{done}; open the reactor or predict"
        else:
            return node, round_reading(number)
        self._refuse(code, why, {"op": "intervene", "name": name, "value": value})

    def _checked_prediction(self, value: object) -> float:
        """Return the prediction; raises :class:`RefusedRequest` outside the ``reactor_range``."""
        number = _number(value)
        low, high = self.episode.reactor_range
        if number is None or not low <= number <= high:
            self._refuse(
                "value",
                f"{clip(value)} is not allowed; give one number from {low:g} to {high:g}",
                {"op": "predict", "value": value},
            )
        return number

    def _refuse_when_closed(self) -> None:
        if self.phase == "closed":
            raise RefusedRequest("closed", "the session is over; nothing more can be asked")

    def _refuse(self, code: str, message: str, request: object) -> NoReturn:
        """Write ``request`` down as refused, and raise :class:`RefusedRequest`."""
        self.note_refusal(clip(request, 200), message)
        raise RefusedRequest(code, message)

    def _append(self, event: str, **members: Any) -> None:
        previous = self.transcript[-1]["digest"] if self.transcript else ""
        content = {"index": len(self.transcript), "event": event, **members}
        self.transcript.append(seal(content, previous, self._key))


def _number(value: object) -> float | None:
    """Return a finite number as a float, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def _storable(record: object) -> object:
    """Return ``record`` as a transcript holds it; ``BadHypothesis`` if too large or no JSON."""
    try:
        data = canonical_json(record).encode("utf-8")
    except (TypeError, RecursionError, UnicodeEncodeError) as error:
        raise BadHypothesis(f"the record is not JSON ({type(error).__name__})") from None
    except ValueError:
        raise BadHypothesis("a number in the record is not finite") from None
    if len(data) > MAX_RECORD:
        raise BadHypothesis(f"the record is over {MAX_RECORD >> 10} KiB; shorten it")
    try:
        return parse_strict(data, max_depth=_RECORD_DEPTH)
    except BadJson as error:
        raise BadHypothesis(error.message) from None


_MAX_NOTE: Final = 400


def replay(episode: Episode, lines: Sequence[Line], key: bytes | None = None) -> Laboratory:
    """Return the session after ``lines``, whose chain was checked, or raise TranscriptError."""
    if lines[0].get("event") != "opened" or not isinstance(lines[0].get("submission"), str):
        raise TranscriptError(1, "the first line does not open a session")
    laboratory = Laboratory(episode, lines[0]["submission"], key)
    _compare(laboratory, lines[0], 1)
    for number, line in enumerate(lines[1:], start=2):
        if laboratory.phase == "closed":
            raise TranscriptError(number, "a line after the closing line")
        try:
            _replay_line(laboratory, line, number)
        except RefusedRequest as refusal:
            raise TranscriptError(number, f"impossible: {refusal}") from None
        except (KeyError, TypeError, AttributeError):
            raise TranscriptError(number, "a member is absent or of another type") from None
        _compare(laboratory, line, number)
    return laboratory


def _replay_line(laboratory: Laboratory, line: Line, number: int) -> None:
    """Apply a transcript's line; wrong ones raise what :func:`replay` translates."""
    match line.get("event"):
        case "reading":
            laboratory.intervene(line["set"]["name"], line["set"]["value"])
        case "hypothesis":
            laboratory.hypothesise(line["record"])
        case "reactor":
            laboratory.open_reactor()
        case "prediction":
            laboratory.record_prediction(line["value"])
        case "closed":
            laboratory.stop()
        case "resumed":
            laboratory.note_resumption()
        case "refused":
            laboratory.note_refusal(_note(line["request"]), _note(line["error"]))
        case "reprompt" | "parse_failure":
            attempt = line["attempt"] if line["event"] == "reprompt" else MAX_ATTEMPTS
            if type(attempt) is not int or not 1 <= attempt <= MAX_ATTEMPTS:
                raise TypeError
            laboratory.note_hypothesis_failure(_note(line["error"]), attempt)
        case _:
            raise TranscriptError(number, f"no event {clip(line.get('event'))} is known")


def _note(text: object) -> str:
    """Return ``text``; raises ``TypeError`` if it is no text or longer than ``_MAX_NOTE``."""
    if not isinstance(text, str) or len(text) > _MAX_NOTE:
        raise TypeError
    return text


def _compare(laboratory: Laboratory, line: Mapping[str, Any], number: int) -> None:
    """Raise ``TranscriptError`` unless the session's last line is ``line``, its line ``number``."""
    written = laboratory.transcript
    if len(written) != number:
        raise TranscriptError(number, "a line the laboratory would not have written")
    if written[-1]["digest"] == line["digest"]:
        return  # the digest covers the content and everything before it
    expected, given = content_of(written[-1]), content_of(line)
    for member in sorted(expected.keys() | given.keys()):
        if expected.get(member) != given.get(member):
            what = "the readings differ" if member == "reading" else f"its {member} differs"
            raise TranscriptError(number, f"{what} from what the laboratory would have written")
    raise TranscriptError(number, "a number is not written as the laboratory would have written it")
