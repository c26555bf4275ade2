"""What ``causal-exams`` has besides the commands of the grader: one module each."""

from typing import Final

COMMANDS: Final[dict[str, str]] = {
    "run": "sit an exam with a model: sandbox, answers, report",
    "lab": "experiment in an episode of a laboratory",
    "export": "an exam as task folders of Harbor",
    "answers-from": "answers out of a record of Inspect, Harbor or mini-swe-agent",
}
