"""``.eval_results`` of a model repository: the skills of a report, where the Hub gathers them.

One entry for the exam and, where it has several tracks, one for each that was attempted; ids are
those of the release's ``eval.yaml``.
"""

from collections.abc import Mapping
from typing import Any, Final

from grader.errors import UsageError
from grader.hub.client import Address
from grader.pages.systems import setting_of
from grader.release.release import ReleaseFolder

FRAMEWORK: Final = "causal-exams"
"""The identifier of this grader among the frameworks that the Hub knows."""
FOLDER: Final = ".eval_results"


def task_id(split: str, exam: str, track: str | None = None) -> str:
    """Return the id of an exam's skill, or of that of one of its tracks, as in ``eval.yaml``."""
    return "/".join(filter(None, (split, exam, track)))


def file_name(report: Mapping[str, Any]) -> str:
    """Return the name of the file, of which a model has one for each exam."""
    release = str(report["release"]["name"]).partition(" ")[0]
    return f"causal-exams-{release}-{report['split']}-{report['exam']}.yaml"


def eval_results(report: Mapping[str, Any], address: Address, release: ReleaseFolder) -> str:
    """Return the YAML of a report about the release at ``address``, which was fetched. Raises
    ``UsageError`` for a report without skill, or about another release."""
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    split = release.choose_split(str(report["split"]))
    if report["release"]["content_sha256"] != release.content_hashes(split):
        raise UsageError(f"{address}: is another release than the report's; name the one graded")
    run, date = report["submission"]["run"], report["submission"]["run"].get("date")
    tracks = report["tracks"] if len(report["tracks"]) > 1 else {}
    entries = [
        EvalResultEntry(
            dataset_id=address.repo,
            task_id=task_id(split, report["exam"], track),
            value=round(part["skill"], 1),
            # The client keeps each commit in a folder called after it.
            dataset_revision=release.public.path.name,
            date=date if isinstance(date, str) else None,
            notes=setting_of(run) or None,
        )
        for track, part in [(None, report), *tracks.items()]
        if part["skill"] is not None and (track is None or part["attempted"])
    ]
    if not entries:
        raise UsageError("the report has no skill to state: floors are absent, or it is redacted")
    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False)
