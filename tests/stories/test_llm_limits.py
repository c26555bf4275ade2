"""The language-model path at its limits: useless replies, spent budgets, servers that fail."""

from dataclasses import replace
from typing import Any

import pytest
from llm_scene import CHAIN, direct, last_told, lost, tell, twins, with_budgets
from llm_server import Http, Model

from builder.stories.llm.settings import Settings
from builder.stories.verbalise import NarrationFailed
from grader.errors import UsageError

pytest.importorskip("openai")


@pytest.mark.parametrize(
    "reply",
    [
        "I would rather not.",
        '{"domain": "Trade", "variables": ',
        '{"variables": "none"}',
        "[" * 30_000 + "{",
        '{"a":' * 30_000,
        "",
    ],
)
def test_replies_without_usable_json_are_asked_for_again(
    model: Model, settings: Settings, reply: str
) -> None:
    """Models talk; what matters is that the second reply is heard."""
    model.script["mapper"] = [reply]
    tell(settings)
    assert model.roles["mapper"] == 2
    assert "cannot be used" in last_told(model.asked("mapper")[1])


def test_an_auditor_who_skips_pairs_is_asked_again(model: Model, settings: Settings) -> None:
    """Silence on a pair is no attestation."""
    model.script["auditor"] = [lambda good: {**good, "pairs": []}]
    tell(settings, CHAIN)
    assert "no verdict on" in last_told(model.asked("auditor")[1])


@pytest.mark.parametrize(
    ("role", "step", "reason"),
    [
        ("mapper", "no JSON, ever", "no usable JSON from the mapper"),
        ("mapper", twins, "mapping budget exhausted"),
        ("auditor", direct, "mapping budget exhausted"),
        ("writer", lost, "story budget exhausted"),
        (
            "verifier",
            lambda good: {
                **good,
                "variables": [{**v, "mentioned": False} for v in good["variables"]],
            },
            "story budget exhausted",
        ),
    ],
)
def test_exhausted_budgets_fail_clearly(
    model: Model, settings: Settings, role: str, step: Any, reason: str
) -> None:
    """The reason is short: it is counted in the manifest."""
    model.always[role] = step
    with pytest.raises(NarrationFailed, match=f"^llm: {reason}$"):
        tell(settings, CHAIN)
    most = 2 if "JSON" in reason else 3
    assert model.roles[role] == most


def test_the_calls_of_a_scene_are_capped(model: Model, settings: Settings) -> None:
    model.script["mapper"] = ["this is no JSON"]
    with pytest.raises(NarrationFailed, match="call budget"):
        tell(with_budgets(settings, calls=4))
    assert len(model.requests) == 4


def test_busy_servers_are_asked_again_when_they_say(model: Model, settings: Settings) -> None:
    """429 with Retry-After, then a broken gateway, then the answer; the wait is the server's."""
    model.script["mapper"] = [
        Http(429, {"Retry-After": "0.9"}),
        Http(503, {"Retry-After": "0.05"}),
    ]
    tell(settings)
    assert model.roles["mapper"] == 3
    # Left to itself the client waits half a second at most before its first repetition.
    assert model.times[1] - model.times[0] >= 0.9


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Http(429, {"Retry-After": "0.01"}), "status 429"),
        (Http(401), "status 401"),
        (Http(body=b"<html>hello</html>"), "no chat completion"),
        (Http(body=b'{"choices": []}'), "no chat completion"),
        (Http(body=b"[" * 100_000), "no chat completion"),
        (Http(body=b" " * 4_100_000), "no chat completion .OverflowError"),
        (Http(headers={"Content-Length": "999"}, body=b"{"), "no chat completion"),
    ],
)
def test_an_endpoint_that_fails_stops_the_build(
    model: Model, settings: Settings, answer: Http, says: str
) -> None:
    """That is nobody's story: the scene must not be replaced because a server was down."""
    model.always["mapper"] = answer
    with pytest.raises(UsageError, match=says) as caught:
        tell(settings)
    assert "sk-secret" not in str(caught.value)


def test_an_endpoint_that_is_late_times_out(model: Model, settings: Settings) -> None:
    model.always["mapper"] = Http(delay=0.3)
    with pytest.raises(UsageError, match="APITimeoutError"):
        tell(replace(settings, seconds=0.05, retries=0))
