"""``plan`` refuses exams that a build could not compose, in one line: file, key, remedy."""

import pytest

from builder.commands.main import main

SPLITS = """
name = "small"
version = "0.1.0"

[splits.dev]
truth = "{truth}"
{root}
[splits.dev.{track}]
{table}
{exams}
"""

LABORATORIES = "per_suite = 5"
SCENES = 'scenes = 40\ncomposition = "full"\nwords = "fictional"'
CHAINS = 'scenes = 66\nmotifs = { chain = 1 }\nwords = "fictional"'


@pytest.mark.parametrize(
    ("track", "truth", "table", "exams", "says"),
    [
        (  # the other suites' laboratories would be built, and asked in no exam
            "causalab", "private", LABORATORIES,
            'a = {{ tasks = "all", variants = ["laboratory.linear"] }}',
            "splits.dev.exams: 5 of 250 instances of causalab are in no exam",
        ),
        (
            "causalab", "private", LABORATORIES, "a = {{ tasks = 7 }}",
            'let one exam take tasks = "all" of these variants',
        ),
        (
            "causalds", "private", SCENES, 'a = {{ exam = "exams/realistic.toml" }}',
            "splits.dev.causalds.scenes: 40, but its exams take 100 tasks",
        ),
        (
            "causalds", "private", CHAINS,
            'a = {{ exam = "exams/private-example.toml" }}',
            "splits.dev.exams.a.causalds: every task of",
        ),
        (
            "causalds", "public", SCENES, 'a = {{ exam = "exams/realistic.toml" }}',
            "a.causalds.tasks: 100 tasks are asked, one a scene, but there are 40",
        ),
        (
            "causalds", "public", SCENES, "a = {{ tasks = 9999 }}",
            "splits.dev.exams.a.causalds.tasks: 9999 tasks are asked but there are",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_composed_is_refused_by_the_plan(
    tmp_path, capsys, track, truth, table, exams, says
):
    """An hour of building, and then a refusal, is too late."""
    name, _, draw = exams.format().partition(" = ")
    root = 'seed = "s"' if truth == "public" else 'secret_env = "NO_SUCH_SECRET"'
    text = SPLITS.format(
        truth=truth, root=root, track=track, table=table,
        exams=f"[splits.dev.exams.{name}]\n{track} = {draw}",
    )  # fmt: skip
    file = tmp_path / "small.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["plan", str(file)]) == 2
    told = capsys.readouterr().err
    assert str(file) in told and says in told and len(told.splitlines()) == 1
