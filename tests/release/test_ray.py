"""Ray as an engine: a cluster of two nodes on this machine."""

import os
import signal
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
