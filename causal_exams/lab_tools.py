"""The laboratory as tools of Inspect, over the same session as JSON lines and MCP."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from inspect_ai.tool import ToolDef, ToolParams
from inspect_ai.util import JSONSchema

from causal_exams.lab_session import Reply, Session
from causal_exams.words import told
from grader.io.jsonio import canonical

Type = Literal["string", "number", "object"]

_TEXT: Final = "string"
_NUMBER: Final = "number"
_OBJECT: Final = "object"


def laboratory_tools(session: Session, *, recorded: bool = False) -> list[ToolDef]:
    """The tools of one session.

    What is wrong with an argument is answered and logged by the laboratory. With ``recorded``
    every intervention comes with the step's record, which is checked first: a record that is
    refused makes no intervention.
    """

    def intervene(members: dict[str, Any]) -> Reply:
        if recorded and (refusal := _record(session, members)):
            return refusal
        wanted = {name: members.get(name) for name in ("name", "value")}
        return session.request({"op": "intervene", **wanted})

    def hypothesise(members: dict[str, Any]) -> Reply:
        return session.request({"op": "hypothesis", "record": members.get("record")})

    def open_reactor(members: dict[str, Any]) -> Reply:
        return session.request({"op": "reactor"})

    def predict(members: dict[str, Any]) -> Reply:
        final = members.get("hypothesis")
        stated = {} if final is None else {"hypothesis": final}
        return session.request({"op": "predict", "value": members.get("value"), **stated})

    step: dict[str, Type] = {"record": _OBJECT} if recorded else {}
    last: dict[str, Type] = {"value": _NUMBER, "hypothesis": _OBJECT}
    return [
        tool("observe", lambda members: session.greeting(), {}),
        tool("intervene", intervene, {**step, "name": _TEXT, "value": _NUMBER}),
        tool("hypothesise", hypothesise, {"record": _OBJECT}),
        tool("open_reactor", open_reactor, {}),
        tool("predict", predict, last, required=list(last) if recorded else ["value"]),
    ]


def _record(session: Session, members: dict[str, Any]) -> Reply | None:
    """Put a step's record down; the refusal where the model is to try again, else None.

    The third record that does not parse is the step's recorded parse failure (CausaLab A.5), and
    the experiment is made all the same.
    """
    reply = session.request({"op": "hypothesis", "record": members.get("record")})
    again = not reply["ok"] and session.laboratory.transcript[-1]["event"] == "reprompt"
    return reply if again else None


def tool(
    name: str,
    work: Callable[[dict[str, Any]], Reply],
    members: Mapping[str, Type],
    required: list[str] | None = None,
) -> ToolDef:
    """A tool whose arguments reach ``work`` as they are, and whose result is its reply."""

    async def execute(**kwargs: Any) -> str:
        return canonical(work(kwargs))

    described: dict[str, JSONSchema] = {
        key: JSONSchema(type=kind, description=told(f"parameters.{key}"))
        for key, kind in members.items()
    }
    wanted = list(members) if required is None else required
    parameters = ToolParams(properties=described, required=wanted)
    return ToolDef(execute, name, told(f"tools.{name}"), parameters, max_output=0)
