"""The standalone grader: reads a release and a folder of answers, writes scores.

It runs with ``duckdb``, ``jinja2``, ``jsonschema``, ``markdown-it-py``, ``numpy`` and ``rich``, and
never imports the builder. From Python::

    from grader import Release, grade

    report = grade("answers/mine", Release("release"), exam="mini")
    print(report.skill, report.points)
"""

from typing import TYPE_CHECKING, Any

from grader.version import __version__

if TYPE_CHECKING:
    from grader.api import Release, Report, grade

__all__ = ["Release", "Report", "__version__", "grade"]


def __getattr__(name: str) -> Any:
    """Import what programs use when it is asked for: commands need little of it."""
    if name not in __all__:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    from grader import api

    return getattr(api, name)
