"""A release to the Hub: checked, complete, resumable, and nothing private in public."""

import shutil
from collections.abc import Callable
from pathlib import Path

import fake_builder
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gate_release import replace_table
from hostile_text import EVIL, check_printable
from huggingface_hub import DatasetCard
from local_hub import LocalHub
from small_release import restate

from builder.release.manifest import read_manifest

Publish = Callable[..., tuple[int, str, str]]
BOTH = ("--repo", "org/exams", "--private-repo", "org/exams-private")


@pytest.fixture
def publish(capsys: pytest.CaptureFixture[str]) -> Publish:
    """The builder's command: exit code, output, errors."""

    def run(release: Path, *options: str) -> tuple[int, str, str]:
        code = fake_builder.main(["publish", str(release), "--quiet", *options])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_both_sides_arrive_whole_and_a_rerun_uploads_nothing(hub, tiny, publish):
    code, out, err = publish(tiny, *BOTH)
    assert code == 0, err
    assert out.count("tag v0.1.0") == 2
    public, private = hub.repo("org/exams"), hub.repo("org/exams-private")
    assert (public.private, public.gated) == (False, False)
    assert (private.private, private.gated) == (True, "manual")
    for side, repo in (("public", public), ("private", private)):
        for name, entry in read_manifest(tiny / side)["shards"].items():
            assert repo.files("v0.1.0")[name].lfs == entry["sha256"]
    assert {"README.md", "eval.yaml", "croissant.json"} <= public.files("main").keys()
    assert "GATE.md" in private.files("main") and "GATE.md" not in public.files("main")
    card = DatasetCard(public.files("main")["README.md"].data.decode())
    assert 'load_dataset("org/exams", "tasks"' in card.text and "hf://org/exams@v0.1.0" in card.text
    defaults = [config for config in card.data.configs if config.get("default")]
    assert [config["config_name"] for config in defaults] == ["tasks"]
    assert DatasetCard(private.files("main")["README.md"].data.decode()).data.viewer is False
    hub.uploads()
    code, out, _ = publish(tiny, *BOTH)
    assert code == 0 and out.count("nothing to send") == 2
    assert hub.uploads() == []


@pytest.mark.slow
def test_only_changed_shards_travel_under_the_next_version(hub, own, publish):
    assert publish(own, "--repo", "org/exams")[0] == 0
    replace_table(own, "public", "causalds_labels/dev", lambda table: table)
    shards = read_manifest(own / "public")["shards"]
    digest = next(shards[name]["sha256"] for name in shards if "causalds_labels/dev" in name)
    hub.uploads()
    code, _, err = publish(own, "--repo", "org/exams")
    assert code == 2 and "a version is never changed" in err and err.count("\n") == 1
    code, out, err = publish(own, "--repo", "org/exams", "--revision", "v0.1.1")
    assert code == 0, err
    sent = hub.uploads()
    assert [r.path for r in sent if r.method == "PUT"] == [f"/lfs/{digest}"]
    assert "tag v0.1.1" in out
    assert hub.repo("org/exams").files("v0.1.0") != hub.repo("org/exams").files("v0.1.1")


def test_a_dry_run_touches_nothing(hub: LocalHub, tiny: Path, publish: Publish) -> None:
    code, out, _ = publish(tiny, *BOTH, "--dry-run")
    assert code == 0 and "tasks/dev-00000-of-00001.parquet" in out
    assert not hub.store.repos and not hub.requests
    check_printable(publish(tiny, "--repo", "org/exams", "--revision", EVIL)[2], "publish")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (("PUT", "^/lfs/", 500, 99), "the Hub answered 500"),
        (("POST", "/commit/", 429, 9), "asked too often"),
        (("POST", "objects/batch", 401, 9), "token was refused"),
        (("POST", "/commit/", 412, 1), "was changed meanwhile"),
    ],
)
def test_each_failure_is_one_line_and_the_next_run_sends_the_rest(fault, line, hub, tiny, publish):
    """500 in the middle of an upload, 429, a revoked token: what is stored is not sent again."""
    hub.fail(*fault, after=3 if fault[0] == "PUT" else 0)
    code, _, err = publish(tiny, "--repo", "org/exams")
    assert code == 2 and line in err and err.count("\n") == 1, err
    stored = set(hub.store.large)
    hub.faults.clear()
    hub.uploads()
    assert publish(tiny, "--repo", "org/exams")[0] == 0
    sent = {r.path.removeprefix("/lfs/") for r in hub.uploads() if r.method == "PUT"}
    assert not sent & stored
    assert "refs/tags/v0.1.0" in hub.repo("org/exams").refs


@pytest.mark.slow
def test_a_benchmark_that_the_hub_does_not_list_yet_is_published_all_the_same(
    hub: LocalHub, tiny: Path, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hub_store.FRAMEWORKS", ("inspect-ai",))
    code, out, _ = publish(tiny, "--repo", "org/exams")
    assert code == 0 and "eval.yaml was refused by the Hub" in out
    files = hub.repo("org/exams").files("v0.1.0")
    assert "eval.yaml" not in files and "manifest.json" in files
    hub.uploads()
    assert publish(tiny, "--repo", "org/exams")[0] == 0
    assert hub.uploads() == []


def test_a_gate_or_a_hash_that_fails_sends_nothing(hub, own, publish, monkeypatch):
    monkeypatch.setenv("FAKE_GATE_FAILS", "1")
    code, out, _ = publish(own, "--repo", "org/exams")
    assert code == 1 and out.splitlines()[:2] == [
        "FAIL gold answers: 99 points",
        "  a task earns 0",
    ]
    monkeypatch.delenv("FAKE_GATE_FAILS")
    shard = next((own / "public").glob("tasks/*.parquet"))
    shard.write_bytes(shard.read_bytes() + b"!")
    code, out, _ = publish(own, "--repo", "org/exams")
    assert code == 1 and "FAIL public shards" in out
    assert {(request.method, request.path) for request in hub.requests} == {
        ("GET", "/api/whoami-v2")
    }


@pytest.mark.parametrize(
    ("words", "token", "says"),
    [
        (("--repo", "exams"), "hf_ann", "write hf://org/name"),
        (("--repo", "org/exams@v1"), "hf_ann", "give the tag with --revision"),
        (("--repo", "org/exams", "--private-repo", "org/exams"), "hf_ann", "name another one"),
        (("--repo", "org/exams"), "", "set HF_TOKEN"),
        (("--repo", "org/exams"), "hf_gone", "the token was refused"),
    ],
)
def test_what_can_be_known_is_said_before_the_gate(
    words, token, says, hub, tiny, publish, monkeypatch
):
    """The gate takes minutes, and would end in the same word."""
    monkeypatch.setenv("FAKE_GATE_FAILS", "1")
    monkeypatch.setenv("HF_TOKEN", token)
    code, out, err = publish(tiny, *words)
    assert code == 2 and says in err and err.count("\n") == 1 and out == ""


def _rename_truth(release: Path) -> None:
    target = "causalds_notes/test-00000-of-00001.parquet"
    source = release / "private/causalds_truth/test-00000-of-00001.parquet"
    (release / "public" / target).parent.mkdir()
    shutil.copy(source, release / "public" / target)
    restate(release / "public", target, pq.read_table(source).to_pylist())


def _truth_among_dev(release: Path) -> None:
    private = pq.read_table(release / "private/causalds_truth/test-00000-of-00001.parquet")
    name = "causalds_truth/dev"
    replace_table(release, "public", name, lambda old: pa.concat_tables([old, private]))


def _answers_to_test(release: Path) -> None:
    def answered(table: pa.Table) -> pa.Table:
        place, kind = table.column_names.index("answer"), table.schema.field("answer")
        return table.set_column(place, kind, pa.array(["{}"] * table.num_rows))

    replace_table(release, "public", "tasks/test", answered)


def _gate_as_errata(release: Path) -> None:
    text = "# Gate\n\n| test | random answers | 27.25 points, as derived |\n"
    (release / "GATE.md").write_text(text)
    (release / "public/ERRATA.md").write_text("# Errata\n" + text.splitlines()[2])


def _stray(name: str) -> Callable[[Path], None]:
    def write(release: Path) -> None:
        file = release / "public" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("gold answers: 100 points\n")

    return write


@pytest.mark.parametrize(
    ("smuggle", "says"),
    [
        (_rename_truth, "is no public table of the private split test"),
        (_truth_among_dev, "has a row of the private side"),
        (_answers_to_test, "has answers to the private split test"),
        (_gate_as_errata, "ERRATA.md repeats the private side"),
        (_stray("GATE.md"), "is no part of a release"),
        (_stray("sessions/acme.jsonl"), "is no part of a release"),
    ],
)
def test_private_truth_is_refused_by_what_it_is(smuggle, says, hub, own, publish):
    """By another name, in another split, in another file: one line, and nothing is sent."""
    smuggle(own)
    code, _, err = publish(own, *BOTH)
    assert code == 2 and says in err and err.count("\n") == 1, err
    assert not hub.uploads() and not hub.store.repos


@pytest.mark.slow
def test_repositories_of_others_and_open_ones_are_left_alone(hub, tiny, publish, monkeypatch):
    """One that somebody opened in its settings is not filled with private truth."""
    assert publish(tiny, "--repo", "org/exams-private")[0] == 0
    code, _, err = publish(tiny, *BOTH)
    assert code == 2 and "is open to everyone" in err and err.count("\n") == 1
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    code, _, err = publish(tiny, "--repo", "org/exams")
    assert code == 2 and "not allowed" in err and err.count("\n") == 1
