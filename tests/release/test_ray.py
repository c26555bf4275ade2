"""Parts as jobs of a Ray cluster: two nodes on this machine."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fake_builder import tree

from builder.release.cluster import Cluster
from builder.release.engine import WorkerDied
from builder.release.parts import Part, PartJob, build_part, part_jobs
from builder.release.planning import plan_specs
from builder.splits.config import load_config
from builder.splits.roots import read_roots
from builder.tracks import TRACKS
from grader.errors import UsageError

pytest.importorskip("ray", reason="the extra ray is not installed")
pytestmark = pytest.mark.slow

SCENES = """
name = "scenes"
version = "0.0.0"
[splits.dev]
truth = "public"
seed = "scenes"
[splits.dev.causalds]
scenes = 64
rows = { train = 200, test = 100 }
composition = "full"
treatment_binary = 0.5
outcome_binary = 0.4
views = ["clean"]
[splits.dev.exams.some]
causalds = { tasks = 60 }
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of a bucket behind a local server that speaks S3."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    fsspec.filesystem("s3").mkdir("exams")
    yield "s3://exams/parts"
    running.stop()
    fsspec.filesystem("s3").clear_instance_cache()


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The split file; do not change."""
    file = tmp_path_factory.mktemp("ray") / "scenes.toml"
    file.write_text(SCENES, encoding="utf-8")
    return file


def build(scenes: Path, out: Path, *options: str) -> list[str]:
    """The words of a build into a folder."""
    words = [sys.executable, "build_dataset.py", "build", str(scenes), "--workers", "1"]
    return [*words, "--out", str(out), *options]


@pytest.fixture(scope="module")
def alone(scenes: Path, root: Path) -> Path:
    """The release as one process builds it."""
    out = scenes.with_name("alone")
    assert subprocess.run(build(scenes, out, "--quiet"), cwd=root).returncode == 0
    return out


def _until(found: Callable[[], int], least: int, build: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 600
    while found() < least:
        assert build.poll() is None and time.monotonic() < until
        time.sleep(0.02)


def test_a_node_killed_in_the_middle_of_a_build_changes_no_byte(scenes, alone, tmp_path, root):
    """Two nodes, of which one is lost with its part, build what one process does."""
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    doomed = made.add_node(num_cpus=1)
    out = tmp_path / "cluster"
    building = subprocess.Popen(build(scenes, out, "--ray", made.address), cwd=root)
    try:
        parts = tmp_path / "cluster.partial" / "parts" / "causalds" / "dev"
        _until(lambda: len(list(parts.glob("*/part.json"))), 3, building)
        made.remove_node(doomed, allow_graceful=False)
        assert building.wait(600) == 0
    finally:
        building.kill()
        made.shutdown()
    assert tree(out) == tree(alone)


def test_a_build_goes_on_from_its_store(cluster, scenes, alone, tmp_path, root):
    """The machine that asked for it may be lost, and a worker while it writes a part."""
    store, out = f"file://{tmp_path}/store", tmp_path / "out"
    words = build(scenes, out, "--ray", cluster.address, "--staging", store)

    def records() -> list[Path]:
        return sorted(tmp_path.glob("store/**/part.json"))

    building = subprocess.Popen(words, cwd=root)
    try:
        _until(lambda: len(records()), 3, building)
    finally:
        building.kill()
        building.wait()
    shutil.rmtree(tmp_path / "out.partial")
    records()[0].unlink()
    again = subprocess.run(words, cwd=root, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "parts are kept" in again.stderr
    assert tree(out) == tree(alone) and records() == []


def test_parts_travel_over_s3(bucket, scenes, alone, tmp_path, root):
    """Behind HTTP things differ from a folder."""
    words = build(scenes, tmp_path / "out", "--ray", "--staging", bucket)
    assert subprocess.run(words, cwd=root).returncode == 0
    assert tree(tmp_path / "out") == tree(alone)
    system = fsspec.filesystem("s3")
    system.invalidate_cache()
    assert system.find(bucket) == []


def kill(job: PartJob) -> tuple[Part, bool]:
    """As if memory ran out over every part."""
    os.kill(os.getpid(), signal.SIGKILL)
    return build_part(job, TRACKS[job.origin.track]), False


def fail(job: PartJob) -> tuple[Part, bool]:
    raise ZeroDivisionError(f"{job.origin.track}/{job.origin.split}/{job.folder.name}")


def test_errors_keep_their_type_and_what_is_lost_again_and_again_is_named(
    cluster: Any, scenes: Path, tmp_path: Path
) -> None:
    """Ray's own words name neither the part nor a cure."""
    config = load_config(scenes, TRACKS)
    specs = plan_specs(config, read_roots(config))
    few = {key: members[:4] for key, members in specs.items()}
    nodes = Cluster(cluster.address, f"file://{tmp_path}/store")
    with pytest.raises(ZeroDivisionError, match="causalds/dev/00000"):
        list(nodes.map(fail, part_jobs(few, tmp_path / "parts", False)))
    with pytest.raises(WorkerDied, match="lost the worker of causalds/dev/0 to 3"):
        list(nodes.map(kill, part_jobs(few, tmp_path / "parts", False)))
    nowhere = Cluster(cluster.address, "nosuch://bucket")
    with pytest.raises(UsageError, match="--staging nosuch://bucket: cannot be used"):
        list(nowhere.map(fail, part_jobs(few, tmp_path / "parts", True)))
