"""Which exam is meant where nobody says it."""

import pytest

from grader.errors import UsageError
from grader.release.release import select_exam
from grader.scoring.shape import Task
from grader.tracks import VARIANTS


def test_of_several_exams_the_release_s_own_is_the_default() -> None:
    """A further exam must not make every command ask which one is meant."""
    exams: dict[str, list[str]] = {"other": [], "mini": []}
    assert select_exam(exams, [], None, own="mini")[0] == "mini"
    assert select_exam(exams, [], "other", own="mini")[0] == "other"
    with pytest.raises(UsageError, match="several exams fit"):
        select_exam(exams, [], None, own="third")
    apart = {"other": ["a"], "mini": ["b"]}
    spec = VARIANTS[0]
    tasks = [Task(name, name, spec, "", "data", "", "", "", {}) for name in ("a", "b")]
    both = frozenset({"a", "b"})
    assert select_exam(apart, tasks, None, both, own="mini")[0] == "mini"
    assert select_exam(apart, tasks, None, frozenset({"a"}), own="mini")[0] == "other"
