"""Ray as an engine: a cluster of two nodes on this machine."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_release import SECRET, tree

from builder.release.engine import Engine, WorkerDied, map_instances

pytest.importorskip("ray", reason="the extra ray is not installed")
pytestmark = pytest.mark.slow

SCENES = """
name = "scenes"
version = "0.0.0"
[splits.dev]
truth = "public"
seed = "scenes"
[splits.dev.causalds]
scenes = 200
rows = { train = 200, test = 100 }
composition = "full"
treatment_binary = 0.5
outcome_binary = 0.4
views = ["clean"]
[splits.dev.exams.some]
causalds = { tasks = 200 }
"""


def square(number: int) -> int:
    time.sleep(0.2)
    return number * number


def fails(number: int) -> int:
    if number == 2:
        raise ZeroDivisionError("two")
    return number


def dies(job: tuple[Path, int]) -> int:
    folder, number = job
    (folder / f"{number}-{time.time_ns()}").touch()
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def engine(cluster: Any) -> Engine:
    return Engine("ray", 2, cluster.address)


def test_results_come_in_order_or_all_of_them_in_any(engine: Engine) -> None:
    """The engines are one door."""
    assert list(map_instances(square, range(6), engine)) == [0, 1, 4, 9, 16, 25]
    found = list(map_instances(square, range(6), engine, ordered=False))
    assert sorted(found) == [0, 1, 4, 9, 16, 25]


def test_errors_keep_their_type_and_the_poisoned_item_is_named(
    engine: Engine, tmp_path: Path
) -> None:
    """Ray's own words name neither the item nor a cure."""
    with pytest.raises(ZeroDivisionError, match="two"):
        list(map_instances(fails, range(4), engine))
    jobs = [(tmp_path, number) for number in range(5)]
    with pytest.raises(WorkerDied, match=r"died 3 times at item 3 .*same command again"):
        list(map_instances(dies, jobs, engine, label=lambda job: f"item {job[1]}"))
    assert len(list(tmp_path.glob("3-*"))) == 3


@pytest.mark.parametrize("one_folder", [True, False])
def test_a_cluster_builds_the_same_bytes(
    one_folder: bool, cluster: Any, tiny: Path, split_file: Path, command: Any, secret: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    """No byte of a release may depend on who built it, nor on how parts travel."""
    assert secret == SECRET
    options = ["--engine", f"ray:{cluster.address}", "--quiet"]
    options += [] if one_folder else ["--staging", f"file://{tmp_path}/store"]
    assert command("build", split_file, "--out", tmp_path / "out", *options) == 0
    assert tree(tmp_path / "out") == tree(tiny)


def test_a_node_that_goes_away_costs_time_alone(cluster: Any, engine: Engine) -> None:
    """Clusters lose machines; what these had under way is done elsewhere."""
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    found = map_instances(square, range(24), engine)
    results = [next(found) for _ in range(3)]
    threading.Thread(target=cluster.remove_node, args=(doomed, False)).start()
    assert results + list(found) == [number * number for number in range(24)]


def test_a_node_killed_in_the_middle_of_a_build_changes_no_byte(tmp_path: Path, root: Path) -> None:
    """Two nodes, of which one is lost with its part, build 200 scenes as one process does, the gate
    included; the parts that it had done are kept."""
    from ray.cluster_utils import Cluster

    file = tmp_path / "scenes.toml"
    file.write_text(SCENES, encoding="utf-8")
    command = [sys.executable, "build_dataset.py", "build", str(file), "--quiet", "--out"]
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    doomed = made.add_node(num_cpus=1)
    options = ["--engine", f"ray:{made.address}", "--workers", "1"]
    build = subprocess.Popen([*command, str(tmp_path / "cluster"), *options], cwd=root)
    try:
        parts = tmp_path / "cluster.partial" / "parts" / "causalds" / "dev"
        until = time.monotonic() + 600
        # Two marks: both nodes have a scene under way.
        while len(list(parts.glob("*/part.json"))) < 3 or len(list(parts.glob("*.under-way"))) < 2:
            assert build.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        assert len(list(parts.glob("*/part.json"))) < 10
        made.remove_node(doomed, allow_graceful=False)
        assert build.wait(600) == 0
    finally:
        build.kill()
        made.shutdown()
    alone = subprocess.run([*command, str(tmp_path / "alone"), "--workers", "1"], cwd=root)
    assert alone.returncode == 0
    assert tree(tmp_path / "cluster") == tree(tmp_path / "alone")
