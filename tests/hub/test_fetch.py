"""Releases from the Hub: fetched once, checked, then read without it; every failure in one line."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from local_hub import LocalHub, Says, put

from grader.errors import UsageError
from grader.hub.client import Address

ADDRESS = "hf://org/exams@v1"
SPLIT = ("--split", "dev", "--exam", "all")


@pytest.fixture
def shown(hub: LocalHub, release: Path) -> LocalHub:
    """The small release's public side as ``org/exams``, tag ``v1``."""
    put(hub, "org/exams", release / "public", "v1")
    return hub


def test_an_address_is_taken_wherever_a_folder_is(shown, release, says, tmp_path, monkeypatch):
    """A user types one address for all commands, or sets it for all; each must see the same release
    as a folder."""
    gold = tmp_path / "gold"
    assert says("gold", "--release", ADDRESS, *SPLIT, "--out", gold)[0] == 0
    at_hub = says("grade", gold, "--release", ADDRESS, *SPLIT, "--quiet")
    at_home = says("grade", gold, "--release", release / "public", *SPLIT, "--quiet")
    assert at_hub == at_home and "points 100" in at_hub[1]
    assert says("validate", gold, "--release", ADDRESS, *SPLIT)[0] == 0
    assert says("workspace", "--release", ADDRESS, *SPLIT, "--out", tmp_path / "work")[0] == 0
    task_id = next(gold.glob("cds-*.json")).stem
    assert says("explain", task_id, "--release", ADDRESS, "--split", "dev")[0] == 0
    shutil.copytree(gold, tmp_path / "board" / "gold")
    board = ("leaderboard", tmp_path / "board", "--release", ADDRESS, *SPLIT, "--workers", 1)
    assert says(*board)[0] == 0
    put(shown, "org/exams-private", release / "private", "v1")
    code, out, err = says("verify", ADDRESS, "--private", "hf://org/exams-private@v1")
    assert code == 0, out + err
    assert "private rows are what was committed to" in out
    monkeypatch.setenv("CAUSAL_EXAMS_RELEASE", ADDRESS)
    assert says("verify")[0] == 0


def test_what_was_fetched_needs_no_network(shown, says, monkeypatch):
    """An evaluation machine has none; nor may a tag be asked for again with every command."""
    code, out, _ = says("fetch", "org/exams@v1")
    assert code == 0 and "small" in out
    shown.requests.clear()
    assert says("verify", ADDRESS)[0] == 0
    assert shown.requests == []
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert says("verify", ADDRESS)[0] == 0
    code, _, err = says("verify", "hf://org/exams")
    assert code == 2 and "cannot be reached" in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_damaged_shard_is_fetched_again_by_the_same_command(shown: LocalHub, says: Says) -> None:
    shown.fail("GET", "^/cdn/", "garble")
    code, out, err = says("fetch", "org/exams@v1")
    assert (code, out) == (2, "") and "came damaged and was removed" in err
    assert err.count("\n") == 1, err
    assert says("fetch", "org/exams@v1")[0] == 0
    assert says("verify", ADDRESS)[0] == 0


@pytest.mark.slow
def test_each_closed_door_says_what_the_token_needs(shown, says, monkeypatch):
    def refuses(token: str, revision: str = "v1") -> str:
        monkeypatch.setenv("HF_TOKEN", token)
        code, _, err = says("fetch", f"org/exams@{revision}")
        assert code == 2 and err.count("\n") == 1
        return str(err)

    assert "no such revision" in refuses("hf_ann", "v9")
    assert "token was refused" in refuses("hf_gone")
    repo = shown.repo("org/exams")
    repo.private = True
    assert "a private one" in refuses("hf_bob")
    repo.private, repo.gated = False, "manual"
    told = refuses("hf_bob")
    assert "gated" in told and "HF_TOKEN" in told
    repo.allowed.add("bob")
    assert says("fetch", "org/exams@v1")[0] == 0


def _evil_shard(public: Path) -> None:
    shard = next(public.glob("*/dev-*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"!")


def _evil_name(public: Path) -> None:
    manifest = json.loads((public / "manifest.json").read_bytes())
    manifest["shards"]["../../evil-00000-of-00001.parquet"] = {"sha256": "0" * 64, "bytes": 1}
    (public / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (_evil_shard, "is not what its manifest.json says"),
        (_evil_name, "is not <config>/<file>"),
    ],
)
def test_shards_that_are_not_the_manifests_are_not_even_fetched(
    spoil, line, hub, release, says, tmp_path
):
    """Whoever can write to the repository can write its manifest; not what the manifest says."""
    public = shutil.copytree(release / "public", tmp_path / "public")
    spoil(public)
    put(hub, "org/exams", public, "v1")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and line in err
    assert not any(r.path.startswith("/cdn/") for r in hub.requests)


def test_without_the_client_there_is_one_line(says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "pip install 'causal-exams[hub]'" in err and err.count("\n") == 1


@pytest.mark.parametrize("text", ["exams", "hf://exams", "hf://org/../x", "org/a--b", "a/b/c", ""])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not an address on the Hub"):
        Address.parse(text)


@pytest.mark.slow
def test_an_exam_is_sat_by_its_address(shown, tmp_path, monkeypatch):
    """A sitting works in other folders and processes, so it needs the place, not the address."""
    pytest.importorskip("inspect_ai", reason="the extra run is not installed")
    import causal_exams.running
    from causal_exams.cli import main

    seen = []
    monkeypatch.setattr(causal_exams.running, "sit", lambda run, *_: seen.append(run) or 0)
    words = ["run", ADDRESS, "--model", "mockllm/model", "--out", str(tmp_path / "run")]
    assert main([*words, "--split", "dev", "--exam", "mini"]) == 0
    assert (Path(seen[0].sitting.release) / "manifest.json").is_file()
