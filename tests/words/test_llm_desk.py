"""A desk: requests in files, replies from files, and every reply that is none."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from llm_desk import Answering, answer, messages, reply_file, requests, specs
from llm_server import Model

from builder.causalds.track import TRACK
from builder.release.show.progress import Reporter
from builder.settings import TomlTable
from builder.track import InstanceSpec
from builder.words.llm import desk, waiting
from builder.words.llm.settings import parse_settings, published
from grader.errors import UsageError

QUIET = Reporter(quiet=True)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "SETTLED", 0.0)
    monkeypatch.setattr(waiting, "_TICK", 0.0)


def _laid_out(folder: Path, **llm: object) -> list[Path]:
    """The requests that a build leaves when nobody answers."""
    with pytest.raises(UsageError, match="no reply in"):
        TRACK.prepare(specs(folder, seconds=0.01, **llm), QUIET)
    return requests(folder)


def _told(spec: InstanceSpec) -> list[object]:
    """The rows of a built scene that words are in."""
    rows = TRACK.build(spec).rows
    return [rows["causalds"], rows["causalds_worlds"]]


def test_the_requests_of_all_scenes_lie_there_at_once(tmp_path: Path) -> None:
    """Somebody who carries them to a model wants to carry a batch; every stage is one."""
    model = Model()
    somebody = Answering(tmp_path, model)
    TRACK.prepare(specs(tmp_path), somebody)
    assert somebody.open[:5] == [3] * 5, "pre-audit, mapper, auditor, writer, verifier"
    assert "3 requests wait for a reply in" in somebody.said[0]
    assert "0 of 3 scenes are told" in somebody.said[0] and ".reply.txt" in somebody.said[0]
    assert not requests(tmp_path) and not list((tmp_path / "desk").glob("*.reply.txt"))
    assert len(list((tmp_path / "kept").glob("*.jsonl"))) == 3


def test_workers_build_from_the_transcripts_alone(tmp_path: Path) -> None:
    """What was told ahead is what the attempts ask for; and again, without a desk."""
    planned = specs(tmp_path)
    TRACK.prepare(planned, Answering(tmp_path, Model()))
    first = [_told(spec) for spec in planned]
    (tmp_path / "desk" / ".gitignore").unlink()
    (tmp_path / "desk").rmdir()
    assert [_told(spec) for spec in planned] == first
    assert not (tmp_path / "desk").exists()


def test_a_scene_that_fails_is_told_anew_ahead_of_the_build(tmp_path: Path) -> None:
    """The next attempt asks other requests, which must wait at the desk like the first."""
    model = Model()
    model.script["writer"] = [lambda good: {**good, "told": []}] * 6
    planned = specs(tmp_path)
    TRACK.prepare(planned, Answering(tmp_path, model))
    built = [TRACK.build(spec) for spec in planned]
    assert sum(one.rejections["llm: story budget exhausted"] for one in built) == 3


def test_a_request_says_all_that_is_needed(tmp_path: Path) -> None:
    """Whoever opens the file has seen neither the docs nor the command."""
    for request in _laid_out(tmp_path):
        text = request.read_text(encoding="utf-8")
        name = request.name.removesuffix(".request.txt")
        assert f"Its first line must be: Reply to {name}" in text
        assert reply_file(request).name in text
        system, user = messages(request)
        assert "Reply with one JSON object" in system["content"] and json.loads(user["content"])


def _another(request: Path) -> bytes:
    other = request.name.removesuffix(".request.txt").replace("-01-", "-02-")
    return f"Reply to {other}\n{{}}".encode()


def _no_more_than_its_head(request: Path) -> bytes:
    return f"Reply to {request.name.removesuffix('.request.txt')}\n \n".encode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lambda _: b"", r"is empty; write the reply, beginning with the line"),
        (lambda _: b" \n\n", r"is empty"),
        (_no_more_than_its_head, r"is empty"),
        (lambda _: b"\xff\xfe{", r"byte 0 is not UTF-8; save it as UTF-8"),
        (lambda _: b"{" * 240_001, r"is larger than 240000 bytes"),
        (lambda _: b'{"feasible": true}', r"does not say what it replies to"),
        (_another, r"is the reply to [0-9a-f]{8}-02-pre-audit-[0-9a-f]{12}; put it into that"),
    ],
)
def test_a_reply_that_is_none_is_one_line_and_can_be_mended(
    tmp_path: Path, content: Callable[[Path], bytes], says: str
) -> None:
    """The line names the file; what was there stays, and the next start goes on."""
    first, *_ = _laid_out(tmp_path)
    reply_file(first).write_bytes(content(first))
    with pytest.raises(UsageError, match=says) as caught:
        TRACK.prepare(specs(tmp_path), QUIET)
    text = str(caught.value)
    assert text.startswith(str(reply_file(first))) and "\n" not in text
    assert "start the same build again" in text
    assert not list((tmp_path / "kept").glob("*.jsonl")), "nothing of it was recorded"
    reply_file(first).unlink()
    TRACK.prepare(specs(tmp_path), Answering(tmp_path, Model()))


def test_a_folder_in_the_place_of_a_reply_is_named(tmp_path: Path) -> None:
    """Neither it nor a pipe can be read as a text."""
    first, *_ = _laid_out(tmp_path)
    reply_file(first).mkdir()
    with pytest.raises(UsageError, match="is no plain file"):
        TRACK.prepare(specs(tmp_path), QUIET)


def test_a_reply_without_json_is_asked_for_again(tmp_path: Path) -> None:
    """That is the model's mistake, and repaired as any model's is; so is a torn object."""
    for request in _laid_out(tmp_path):
        answer(request, Model(), '{"feasible": tru')
    again = _laid_out(tmp_path)
    assert len(again) == 3
    for request in again:
        assert "-02-pre-audit-" in request.name
        *_, repeated, complaint = messages(request)
        assert repeated["content"] == '{"feasible": tru'
        assert "cannot be used: it holds no complete JSON object" in complaint["content"]


def test_a_late_reply_serves_the_next_start(tmp_path: Path) -> None:
    """The limit ends the waiting, not the request."""
    with pytest.raises(UsageError) as caught:
        TRACK.prepare(specs(tmp_path, seconds=0.01), QUIET)
    assert "no reply in 0.01 seconds; 3 are waited for, such as" in str(caught.value)
    before = requests(tmp_path)
    for request in before:
        answer(request, Model())
    after = _laid_out(tmp_path)
    assert len(after) == 3 and not set(after) & set(before)
    assert len(list((tmp_path / "kept").glob("*.jsonl"))) == 3


def test_a_file_that_is_being_written_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a reply would be taken for a bad one, and recorded."""
    monkeypatch.setattr(desk, "SETTLED", 60.0)
    for request in _laid_out(tmp_path):
        reply_file(request).write_text("Reply to", encoding="utf-8")
    assert len(_laid_out(tmp_path)) == 3


def test_a_build_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while waiting, with some replies read; and a death before the desk was cleared."""
    model = Model()
    for request in _laid_out(tmp_path):
        answer(request, model)

    def stopped(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(waiting.time, "sleep", stopped)
        with pytest.raises(KeyboardInterrupt):
            TRACK.prepare(specs(tmp_path), QUIET)
    assert all("-02-mapper-" in request.name for request in requests(tmp_path))
    left = requests(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(desk.Desk, "clear", lambda *_: None)
        for request in left:
            answer(request, model)
        _laid_out(tmp_path)
    assert set(left) <= set(requests(tmp_path))
    TRACK.prepare(specs(tmp_path), Answering(tmp_path, model))
    assert not requests(tmp_path) and not list((tmp_path / "desk").glob("*.reply.txt"))
    assert model.roles == {}, "no server was asked"


# --- the folder ----------------------------------------------------------------------------------


def test_the_folder_is_its_owners_and_unknown_to_git(tmp_path: Path) -> None:
    """Its requests show graphs."""
    _laid_out(tmp_path)
    assert stat.S_IMODE((tmp_path / "desk").stat().st_mode) == 0o700
    assert (tmp_path / "desk" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_private_split_wants_a_folder_that_nobody_else_can_read(
    tmp_path: Path, mode: int
) -> None:
    """Of a public split anybody may see the graphs, so others may help to answer."""
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk").chmod(mode)
    with pytest.raises(UsageError, match=r"others can look into .*; chmod 700") as caught:
        TRACK.prepare(specs(tmp_path, private=True), QUIET)
    assert "\n" not in str(caught.value) and not requests(tmp_path)
    assert len(_laid_out(tmp_path)) == 3


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """Before anything is asked."""
    (tmp_path / "desk").write_text("a file")
    with pytest.raises(UsageError, match=r"llm.desk: .*desk cannot be made \(.*\); name another"):
        TRACK.prepare(specs(tmp_path), QUIET)
    with pytest.raises(UsageError, match="cannot be made"):
        TRACK.prepare(specs(tmp_path, desk=str(tmp_path / "desk" / "below")), QUIET)


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the folder is there and one's own."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.io.files.tempfile.mkstemp", full)
    with pytest.raises(UsageError, match=r"cannot be written \(No space left on device\)"):
        TRACK.prepare(specs(tmp_path), QUIET)


def test_a_public_folder_is_refused_however_it_is_reached(tmp_path: Path) -> None:
    """Through a link, too, and from within it."""
    with pytest.raises(UsageError, match="lies in a public folder; a desk tells the truth"):
        specs(tmp_path, desk="release/public/desk")
    side = tmp_path / "release" / "public"
    side.mkdir(parents=True)
    (side / "manifest.json").write_text("{}")
    (tmp_path / "desk").symlink_to(side, target_is_directory=True)
    with pytest.raises(UsageError, match=r"llm.desk: .* lies in a public folder"):
        specs(tmp_path)


# --- settings ------------------------------------------------------------------------------------

GOOD = {"desk": "desk", "model": "m"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"endpoint": "http://127.0.0.1:8000/v1"}, "one of endpoint, endpoint_env and desk"),
        ({"desk": None}, "desk: must be text"),
        ({"retries": 3}, "retries: serves an endpoint alone"),
        ({"temperature": 0.5}, "temperature: serves an endpoint alone"),
        ({"key_env": "KEY"}, "key_env: serves an endpoint alone"),
        ({"seconds": 0}, "seconds: must be a number from"),
        ({"told_on": "yesterday"}, 'told_on: must be a day such as "2026-11-22"'),
    ],
)
def test_bad_settings_of_a_desk_are_named(change: dict[str, object], says: str) -> None:
    """What means nothing at a desk would only seem to work."""
    with pytest.raises(UsageError, match=says):
        parse_settings(TomlTable({**GOOD, **change}, "x.toml: splits.dev.causalds.llm."))


def test_a_desk_waits_for_a_day_and_a_manifest_names_no_folder() -> None:
    """The provider is said, its place is not."""
    table = {**GOOD, "told_on": "2026-11-22"}
    settings = parse_settings(TomlTable(table, "x."))
    assert settings.seconds == 86_400 and settings.without_places().desk == ""
    shown = published({"words": "llm", "llm": table})
    assert shown["llm"] == {"model": "m", "told_on": "2026-11-22", "provider": "desk"}


def test_transcripts_beside_a_split_file_are_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come with it; others lie where the build is started."""
    (tmp_path / "splits" / "told").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    table = TomlTable({**GOOD, "transcripts": "told"}, "x.", tmp_path / "splits")
    assert parse_settings(table).transcripts == str(tmp_path / "splits" / "told")
    other = TomlTable({**GOOD, "transcripts": "mine"}, "x.", tmp_path / "splits")
    assert parse_settings(other).transcripts == "mine"


def test_published_transcripts_need_no_requests(tmp_path: Path) -> None:
    """A reply is found by the hash of what it answers; the request follows from the split file."""
    TRACK.prepare(specs(tmp_path), Answering(tmp_path, Model()))
    for file in (tmp_path / "kept").glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert all(line.pop("request") for line in lines)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    TRACK.prepare(specs(tmp_path), QUIET)
    assert not requests(tmp_path)
