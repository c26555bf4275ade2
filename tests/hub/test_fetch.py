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


def test_an_address_is_taken_wherever_a_folder_is(shown, release, says, tmp_path):
    """A user types one address for all commands; each must see the same release as a folder."""
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


def test_the_environment_may_name_an_address(shown, says, monkeypatch):
    monkeypatch.setenv("CAUSAL_EXAMS_RELEASE", ADDRESS)
    assert says("verify")[0] == 0


def test_what_was_fetched_needs_no_network(shown: LocalHub, says: Says) -> None:
    """An evaluation machine has none; nor may a tag be asked for again with every command."""
    code, out, _ = says("fetch", "org/exams@v1")
    assert code == 0 and "small" in out
    shown.requests.clear()
    assert says("verify", ADDRESS)[0] == 0
    assert shown.requests == []
    assert says("fetch", "org/exams@v1", "--again")[0] == 0
    assert shown.requests


@pytest.mark.slow
def test_without_a_revision_the_newest_is_taken_and_offline_the_last(shown, says, monkeypatch):
    assert says("verify", "hf://org/exams")[0] == 0
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    code, _, err = says("verify", "hf://org/exams")
    assert code == 0 and "taken as last fetched" in err
    code, _, err = says("verify", "hf://org/other@v1")
    assert code == 2 and "cannot be reached" in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_download_that_ends_half_way_goes_on_where_it_ended(shown: LocalHub, says: Says) -> None:
    """Large shards over a bad line: the client asks for the rest alone."""
    shown.fail("GET", "^/cdn/", "cut")
    assert says("fetch", "org/exams@v1")[0] == 0


@pytest.mark.slow
def test_what_is_here_already_is_not_fetched_again(shown: LocalHub, says: Says) -> None:
    """After a failure in the middle the same command fetches the rest alone."""
    shown.fail("GET", "^/cdn/", 403, times=1, after=2)
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and err.count("\n") == 1, err
    first = sum(r.path.startswith("/cdn/") and r.method == "GET" for r in shown.requests)
    shown.requests.clear()
    assert says("fetch", "org/exams@v1")[0] == 0
    rest = sum(r.path.startswith("/cdn/") and r.method == "GET" for r in shown.requests)
    assert 0 < rest < len(shown.store.large) and first + rest >= len(shown.store.large)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (("GET", "/tree/", 500, 9), "the Hub answered 500"),
        (("GET", "/tree/", 429, 9), "asked too often"),
        (("GET", "^/cdn/", "garble", 1), "came damaged and was removed"),
    ],
)
def test_each_failure_is_one_line_and_the_next_try_succeeds(fault, line, shown, says):
    shown.fail(*fault)
    code, out, err = says("fetch", "org/exams@v1")
    assert (code, out) == (2, "") and line in err and err.count("\n") == 1, err
    shown.faults.clear()
    assert says("fetch", "org/exams@v1")[0] == 0
    assert says("verify", ADDRESS)[0] == 0


def test_a_gated_repository_says_what_the_token_needs(shown, says, monkeypatch):
    shown.repo("org/exams").gated = "manual"
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "gated" in err and "HF_TOKEN" in err and err.count("\n") == 1
    shown.repo("org/exams").allowed.add("bob")
    assert says("fetch", "org/exams@v1")[0] == 0


@pytest.mark.slow
def test_a_revoked_token_and_a_private_repository_are_told_apart(shown, says, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_gone")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "token was refused" in err and err.count("\n") == 1
    shown.repo("org/exams").private = True
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "a private one" in err and err.count("\n") == 1
    code, _, err = says("fetch", "org/exams@v9")
    monkeypatch.setenv("HF_TOKEN", "hf_ann")
    code, _, err = says("fetch", "org/exams@v9")
    assert code == 2 and "no such revision" in err and err.count("\n") == 1


def test_shards_that_are_not_the_manifests_are_not_even_fetched(hub, release, says, tmp_path):
    """Whoever can write to the repository can write its manifest; not what the manifest says."""
    public = shutil.copytree(release / "public", tmp_path / "public")
    shard = next(public.glob("*/dev-*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"!")
    put(hub, "org/exams", public, "v1")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "is not what its manifest.json says" in err
    assert not any(r.path.startswith("/cdn/") for r in hub.requests)


def test_a_manifest_cannot_name_a_file_elsewhere(hub, release, says, tmp_path):
    public = shutil.copytree(release / "public", tmp_path / "public")
    manifest = json.loads((public / "manifest.json").read_bytes())
    manifest["shards"]["../../evil-00000-of-00001.parquet"] = {"sha256": "0" * 64, "bytes": 1}
    (public / "manifest.json").write_text(json.dumps(manifest))
    put(hub, "org/exams", public, "v1")
    code, _, err = says("fetch", "org/exams@v1")
    assert code == 2 and "is not <config>/<file>" in err


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
