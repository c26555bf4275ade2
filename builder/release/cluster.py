"""The parts of a build as jobs of a Ray cluster, for builds beyond one machine.

Every machine needs this checkout and its environment at the same path, but no folder in common: a
worker stages a part in a temporary folder and leaves it at an address that fsspec knows, its record
last, so that the part is whole then; the machine that asked for the build fetches it.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.release.engine import WorkerDied
from builder.release.parts import RECORD, Part, PartJob, find_part
from grader.errors import UsageError

_RETRIES: Final = 2
"""A part whose worker or machine is lost more often ends the build."""

Make = Callable[[PartJob], tuple[Part, bool]]
"""Makes a part, or finds it if the job resumes; returns it and whether it was there."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A Ray cluster and the place where its workers leave the parts of one build.

    ``address`` is empty for a cluster that is started here. ``store`` is an fsspec address.
    """

    address: str
    store: str

    def map(self, make: Make, jobs: Iterable[PartJob]) -> Iterator[tuple[Part, bool]]:
        """Make the parts of all jobs on the cluster, fetch each to its folder here, and yield what
        ``make`` returns, in the order in which they are ready.

        Raises what ``make`` raises, ``WorkerDied`` for a lost worker, and ``UsageError`` for a part
        that is absent from the store or damaged.
        """
        ray = _connect(self.address)
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(_stage_part)
        in_work = {remote.remote(self, make, job): job for job in jobs}
        while in_work:
            (done, *_), _ = ray.wait(list(in_work), num_returns=1)
            job = in_work.pop(done)
            try:
                found, error = ray.get(done)
            except ray.exceptions.RayError as lost:
                raise WorkerDied(f"Ray lost the worker of {job} ({type(lost).__name__})") from None
            if error is not None:
                raise error
            if not self.fetch_part(job, job.folder) or (part := find_part(job.folder)) is None:
                raise UsageError(f"--staging {self.store}: {job} is absent or damaged; build again")
            yield part, found

    def fetch_part(self, job: PartJob, folder: Path) -> bool:
        """Copy a part from the store to ``folder`` and replace it; false if the store has none."""
        shutil.rmtree(folder, ignore_errors=True)
        with self._file_system() as system:
            if not system.exists(f"{self._address(job)}/{RECORD}"):
                return False
            folder.mkdir(parents=True, mode=0o700)
            for file in system.ls(self._address(job), detail=False):
                name = file.rstrip("/").rpartition("/")[2]
                (folder / name).write_bytes(system.cat_file(file))
        return True

    def store_part(self, job: PartJob, folder: Path) -> None:
        """Copy the staged part in ``folder`` to the store, its record last."""
        with self._file_system() as system:
            system.makedirs(self._address(job), exist_ok=True)
            for file in sorted(folder.iterdir(), key=lambda file: file.name == RECORD):
                system.pipe_file(f"{self._address(job)}/{file.name}", file.read_bytes())

    def remove_store(self) -> None:
        """Remove everything of this build from the store."""
        with self._file_system() as system:
            if system.exists(self.store):
                system.rm(self.store, recursive=True)

    def _address(self, job: PartJob) -> str:
        return f"{self.store}/{job.origin.track}/{job.origin.split}/{job.folder.name}"

    @contextmanager
    def _file_system(self) -> Iterator[Any]:
        """Yield the file system behind the store; raises ``UsageError`` if it cannot be used."""
        try:
            import fsspec

            yield fsspec.core.url_to_fs(self.store)[0]
        except ImportError as error:
            raise UsageError(
                f"--staging {self.store}: {error.name or error} is not installed here; pip install "
                "'causal-exams[ray]', and what fsspec needs for this address"
            ) from None
        except (OSError, ValueError) as error:
            raise UsageError(
                f"--staging {self.store}: cannot be used ({error}); check address and access"
            ) from None


def _stage_part(cluster: Cluster, make: Make, job: PartJob) -> tuple[bool, Exception | None]:
    """Make a part, or find it in the store, and leave it in the store. Return whether it was there,
    and the error if any, as Ray would wrap one that is raised. Runs on the cluster."""
    try:
        with threadpool_limits(limits=1), TemporaryDirectory() as scratch:
            folder = Path(scratch) / job.folder.name
            there = job.resuming and cluster.fetch_part(job, folder)
            part, found = make(replace(job, folder=folder, resuming=there))
            cluster.store_part(job, part.folder)
            return found, None
    except Exception as error:
        return False, error


def _connect(address: str) -> Any:
    """Return the module ``ray``, connected to the cluster at ``address``, or if empty to a new."""
    try:
        import ray
    except ImportError:
        what = "--ray: ray is not installed here; pip install 'causal-exams[ray]'"
        raise UsageError(what) from None
    if not ray.is_initialized():
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                include_dashboard=False if not address else None,
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise UsageError(
                f"--ray {address}: no cluster there ({reason}); start one with `ray start`"
            ) from None
    return ray
