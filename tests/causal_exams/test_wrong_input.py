"""What a person may get wrong about a run: one line says what to do, and nothing is touched."""

import json
from pathlib import Path

import pytest
from chat_server import Reply, serve
from hostile_text import EVIL, check_files

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

from sitting import sit  # noqa: E402

from causal_exams.cli import main  # noqa: E402

MOCK = ("--model", "mockllm/model")


def words(release: Path, out: Path, *more: str) -> list[str]:
    return [
        "run", str(release), "--split", "dev", "--exam", "mini", "--out", str(out),
        "--setting", "closed", *more,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            ("--model", "nonsense"),
            "--model nonsense: Model name 'nonsense' should be in the format",
        ),
        (("--model", "openai-api/nobody/m"), "No NOBODY_API_KEY defined"),
        ((*MOCK, "-G", "nonsense=3"), "Unknown GenerateConfig field(s): nonsense"),
        ((*MOCK, "-G", "top_k=many"), "top_k Input should be a valid integer"),
        ((*MOCK, "--sample-id", "cds-0"), "--sample-id cds-0: no task of exam mini"),
        ((*MOCK, "--exam", "maxi"), "--exam maxi: no such exam"),
        ((*MOCK, "--limit", "0"), "no task of the exam can be asked"),
        ((*MOCK, "--setting", "open", "--sandbox", "podman"), "choose from docker, bubblewrap"),
    ],
    ids=["model", "key", "option", "value", "task", "exam", "limit", "sandbox"],
)
def test_one_line_says_what_to_do_and_the_folder_can_be_used(more, says, small, tmp_path, capfd):
    out = tmp_path / "run"
    assert main(words(small, out, *more)) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("error")]
    assert says in line and "[bold]" not in line
    assert not (out / "run.json").exists()
    assert main(words(small, out, *MOCK, "--limit", "1")) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "No such file"),
        ("{", "under each model's name"),
        ("[1]", "valid dictionary"),
        ("mockllm/modle: 3", "mockllm/modle Input should be"),
        ("mockllm/model: {input: 1}", "mockllm/model.output Field required"),
        (
            "a/b: {input: 1, output: 1, input_cache_write: 1, input_cache_read: 1}",
            "has no price of mockllm/model",
        ),
    ],
)
def test_prices_that_are_none_are_one_line(text, says, small, tmp_path, capfd):
    file = tmp_path / "prices.yaml"
    if text is not None:
        file.write_text(text)
    more = (*MOCK, "--cost-limit", "1", "--model-cost-config", str(file))
    assert main(words(small, tmp_path / "run", *more)) == 2
    assert says in capfd.readouterr().err and not (tmp_path / "run").exists()


def test_a_folder_with_other_things_in_it_stays_as_it_is(small, tmp_path, capfd):
    """`--out .` beside a folder `answers` would once have replaced what was in there."""
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "mine.json").write_text("{}")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    assert main(words(small, tmp_path, *MOCK)) == 2
    assert "exists and holds no run" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    (tmp_path / "answers" / "run.json").write_text('{"system": "mine"}')
    assert main(words(small, tmp_path / "answers", *MOCK)) == 2
    assert "is not the card of a run" in capfd.readouterr().err
    assert (tmp_path / "answers" / "mine.json").exists()


@pytest.mark.parametrize("name", ["report.json", "run.json", "host.key", ".lock", "logs"])
def test_a_run_writes_through_no_link(name, small, tmp_path, capfd):
    """The folder of a run may be a stranger's; a link in it led to any file of who goes on."""
    out, mine = tmp_path / "run", tmp_path / "mine"
    out.mkdir()
    (out / "run.json").write_text("{}")
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(mine)
    if name != ".lock":  # was made where the link led to
        mine.write_text("{}")
    assert main(words(small, out, *MOCK)) == 2
    assert f"{name}: is a symbolic link" in capfd.readouterr().err
    assert not mine.exists() if name == ".lock" else mine.read_text() == "{}"


def test_no_word_of_a_model_or_an_endpoint_acts_on_a_terminal(small, tmp_path, capfd):
    """Replies, errors and the system's name, in all that a run prints and writes."""
    sent = iter(
        [Reply(EVIL, status=400), Reply(EVIL), Reply(f"```json\n{json.dumps({EVIL: EVIL})}\n```")]
        * 9
    )
    out, options = tmp_path / "run", ("--setting", "closed", "--max-retries", "0", "--limit", "3")
    with serve(lambda messages: next(sent)) as server:
        assert sit(small, out, server, "--split", "dev", "--system", EVIL, *options) == 1
    told = capfd.readouterr()
    for text in (told.out, told.err):
        assert all(c.isprintable() or c == "\n" for c in text), text
    check_files(out)
