"""What every sandbox must keep from a model's commands, asked of each sandbox that is here."""

import asyncio
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

SECRET = "sesame-of-the-run"
SLEEP = "98765"
LONG = f"# {'x' * 140_000}\necho done"


def why_not(name: str) -> str:
    """Why a sandbox cannot be asked here, empty if it can."""
    if name == "bubblewrap":
        return "" if shutil.which("bwrap") else "bwrap is not installed"
    try:
        done = subprocess.run(["docker", "info"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "no container engine answers here: the image is unproved"
    return "no container engine answers here: the image is unproved" if done.returncode else ""


def commands(marker: Path, port: int) -> dict[str, str]:
    """What each of two tasks tries, in this order."""
    connect = (
        "python3 -c \"import socket; s = socket.create_connection(('{}', {}), 3); print('OPEN')\""
    )
    return {
        "files": "ls -A . answers",
        "network": f"{connect.format('1.1.1.1', 53)}; {connect.format('127.0.0.1', port)}",
        "names": "python3 -c \"import socket; print(socket.gethostbyname('example.com'))\"",
        "outside": f"cat '{marker}' || find / -name '{marker.name}' 2>/dev/null",
        "truth": "find / -name '*_truth*' -o -name manifest.json 2>&1 | grep -v -e site-p -e find:",
        "environment": "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
        "others": "find / -name 'left-behind*' 2>/dev/null",
        "leave": "touch left-behind /tmp/left-behind",
        "identity": "id -u; grep -E '^Cap(Eff|Prm)' /proc/self/status",
        "python": "touch $(python3 -c 'import sys; print(sys.prefix)')/x",
        "mount": "mount -t tmpfs n /mnt || unshare -Ur mount -t tmpfs n /mnt && echo MOUNTED",
        # Looks only: what could be written there would change this machine.
        "kernel": "find /proc /sys -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null"
        ' | while read -r f; do test -w "$f" && echo "WRITABLE $f"; done; echo done',
        "devices": "touch /dev/x && echo WRITTEN; echo y > /dev/shm/y && echo kept",
        "scratch": "df --output=size -B1 /tmp /dev/shm",
        "memory": "python3 -c 'bytearray(12 << 30)[::4096].count(1)'; echo $?",
        "escape": f"setsid nohup sleep {SLEEP} >/dev/null 2>&1 & (setsid sleep {SLEEP} &); echo ok",
        "processes": "ps -e 2>/dev/null || ls -d /proc/[0-9]*",
        "link": "ln -s /etc/shadow answers/link; ln -s ../../.. answers/up",
        "140 kB": LONG,
        "NUL": "echo a\x00b\necho done",
        "lone surrogate": "echo '\ud800'; echo done",
        "garbage": "\x01\x02(`\"'",
        "late": "sleep 60",
        "much": "seq 1 20000",
    }


@pytest.fixture(scope="module", params=["bubblewrap", "docker"])
def seen(
    request: pytest.FixtureRequest, small: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[dict[str, Any]]]:
    """What two tasks saw, one after the other: output and status by command."""
    if reason := why_not(request.param):
        pytest.skip(f"{request.param}: {reason}")
    marker = tmp_path_factory.mktemp("outside") / "marker-of-the-host"
    marker.write_text(SECRET)
    os.environ["OPENAI_API_KEY"] = SECRET
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=lambda: listening.accept(), daemon=True).start()
        port = listening.getsockname()[1]
        yield look(request.param, small, tmp_path_factory.mktemp("log"), marker, port)
    del os.environ["OPENAI_API_KEY"]


def look(name: str, release: Path, logs: Path, marker: Path, port: int) -> list[dict[str, Any]]:
    import inspect_ai
    from inspect_ai import Task
    from inspect_ai.solver import Generate, TaskState, solver
    from inspect_ai.util import sandbox

    from causal_exams.conversation import execute, shorten_output
    from causal_exams.tasks import Sitting, samples, sandbox_of, workspace

    exam = Sitting(str(release), "mini", "dev").open_exam("causalds")
    found: list[dict[str, Any]] = []

    @solver
    def probe() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            told: dict[str, Any] = {}
            for key, command in commands(marker, port).items():
                output, status = await execute("bash", command, 3 if key == "late" else 60)
                told[key] = output, status
            told["shown"] = shorten_output(told["much"][0])
            try:
                told["followed"] = await sandbox().read_file("answers/link", text=False)
            except (FileNotFoundError, PermissionError) as error:
                told["followed"] = type(error).__name__
            found.append(told)
            return state

        return solve

    asked = [one for one in samples(exam) if exam_task(exam, one.id).input_mode == "data"][:2]
    task = Task(dataset=asked, setup=workspace(exam), solver=probe(), sandbox=sandbox_of(name))
    (log,) = inspect_ai.eval(
        task, model="mockllm/model", display="none", log_dir=str(logs), max_samples=1
    )
    assert log.status == "success", log.error
    assert len(found) == 2
    return found


def exam_task(exam: Any, task_id: Any) -> Any:
    return next(task for task in exam.tasks if task.task_id == task_id)


def test_a_task_has_its_public_files_and_nothing_else(seen: list[dict[str, Any]]) -> None:
    for told in seen:
        names = set(told["files"][0].split())
        assert {"prompt.md", "data.parquet", "answer.schema.json"} <= names
        expected = {
            "prompt.md", "reading.md", "data.parquet", "answer.schema.json", "columns.json",
            "calibration.parquet", "test_features.parquet", "answers", "answers:", ".:",
        }  # fmt: skip
        assert names <= expected


def test_there_is_no_network(seen: list[dict[str, Any]]) -> None:
    for told in seen:
        assert "OPEN" not in told["network"][0] and "Error" in told["network"][0]
        assert "gaierror" in told["names"][0]


def test_no_file_outside_and_no_truth(seen: list[dict[str, Any]]) -> None:
    for told in seen:
        assert (
            SECRET not in told["outside"][0]
            and "marker-of"
            not in told["outside"][0].replace("No such file", "").partition("cat:")[0]
        )
        assert told["truth"][0].strip() == ""


def test_no_file_of_another_task(seen: list[dict[str, Any]]) -> None:
    """The first task leaves files; the second looks for them."""
    assert seen[0]["leave"][1] == 0
    assert seen[1]["others"][0].strip() == ""


def test_the_environment_is_nobody_s(seen: list[dict[str, Any]]) -> None:
    for told in seen:
        assert SECRET not in told["environment"][0] and "PATH=" in told["environment"][0]


def test_there_are_no_privileges(seen: list[dict[str, Any]]) -> None:
    for told in seen:
        user, *capabilities = told["identity"][0].split("\n")
        assert user != "0"
        assert all(int(line.split()[-1], 16) == 0 for line in capabilities if line.strip())
        assert "MOUNTED" not in told["mount"][0]
        assert told["python"][1] != 0


def test_no_setting_of_the_kernel_can_be_written(seen: list[dict[str, Any]]) -> None:
    """As root 166 files, ``core_pattern`` among them, could be."""
    for told in seen:
        assert told["kernel"][0].strip() == "done"
        assert "WRITTEN" not in told["devices"][0] and "kept" in told["devices"][0]
        sizes = [int(line) for line in told["scratch"][0].split() if line.isdigit()]
        assert len(sizes) == 2 and max(sizes) <= 4 << 30


def test_memory_and_time_are_limited(seen: list[dict[str, Any]]) -> None:
    for told in seen:
        assert told["memory"][0].strip().splitlines()[-1] != "0"
        assert told["late"] == ("[killed after 3 s]", None)


def test_no_process_outlives_the_sample(seen: list[dict[str, Any]]) -> None:
    """Not even one in a session of its own; and none is seen of this machine."""
    left = subprocess.run(["pgrep", "-f", f"sleep {SLEEP}"], capture_output=True, text=True)
    assert left.stdout == ""
    for told in seen:
        assert "ok" in told["escape"][0]
        assert len(told["processes"][0].splitlines()) < 12


def test_a_link_leads_nowhere_outside(seen: list[dict[str, Any]]) -> None:
    shadow = Path("/etc/shadow")
    own = shadow.read_bytes() if os.access(shadow, os.R_OK) else b"\0"
    for told in seen:
        assert told["followed"] != own


def test_root_runs_commands_as_a_user_without_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    """They ran as root of the machine, whatever ``id`` said: a file they left was root's."""
    from causal_exams import bubblewrap

    if reason := why_not("bubblewrap"):
        pytest.skip(reason)
    box = bubblewrap.BubblewrapSandboxEnvironment()
    asyncio.run(box.write_file("left", "by whom"))
    owner = (Path(box._folder.name) / "left").stat().st_uid
    assert owner == (os.geteuid() or bubblewrap.NOBODY) and owner != 0
    assert asyncio.run(box.read_file("left")) == "by whom"
    box._folder.cleanup()


def test_where_the_sandbox_does_not_work_one_line_says_how_to_go_on(monkeypatch):
    from causal_exams import bubblewrap
    from grader.errors import UsageError

    refused = ("/bin/sh", "-c", "echo 'bwrap: no\nnamespace' >&2; exit 1", "bwrap")
    monkeypatch.setattr(bubblewrap, "bwrap_arguments", lambda: refused)
    monkeypatch.setattr(bubblewrap, "_root_arguments", lambda folder: ())
    with pytest.raises(UsageError, match=r"user namespaces.*--sandbox docker") as error:
        asyncio.run(bubblewrap.BubblewrapSandboxEnvironment.task_init("task", None))
    assert "\n" not in str(error.value)


def test_root_without_the_program_that_drops_rights_is_refused(monkeypatch):
    from causal_exams import bubblewrap
    from grader.errors import UsageError

    if reason := why_not("bubblewrap"):
        pytest.skip(reason)
    which = shutil.which
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "setpriv" else which(name))
    with pytest.raises(UsageError, match=r"as root it needs setpriv.*or run it as another user"):
        bubblewrap._root_arguments("/tmp")


@pytest.mark.parametrize("what", ["140 kB", "NUL", "lone surrogate", "garbage"])
def test_any_command_ends_in_text(seen: list[dict[str, Any]], what: str) -> None:
    """The system takes no argument of 131 kB, and none with a NUL: each stopped a run once."""
    for told in seen:
        output, status = told[what]
        assert isinstance(output, str) and status is not None
        assert "done" in output or what == "garbage"


def test_of_long_output_head_and_tail_are_shown_with_advice(seen: list[dict[str, Any]]) -> None:
    """CausalDS A.15: 10,000 characters, and how to look at less."""
    for told in seen:
        text = told["shown"]
        assert text.startswith("1\n2\n3\n") and text.endswith("19999\n20000\n")
        assert 10_000 < len(text) < 10_300
        assert "head, tail or grep" in text


def test_the_walls_of_the_image_are_fields_that_inspect_knows() -> None:
    """Read by its own class, which keeps nothing that it does not know: no engine is needed."""
    from inspect_ai.util import parse_compose_yaml

    from causal_exams.words import DOCKER

    (service,) = parse_compose_yaml(str(DOCKER / "compose.yaml")).services.values()
    assert service.network_mode == "none" and service.user == "1000:1000"
    assert service.cap_drop == ["ALL"] and service.security_opt == ["no-new-privileges:true"]
    assert service.mem_limit == service.memswap_limit == "4g"
    assert service.cpus == 2.0 and service.pids_limit == 512
    assert service.tmpfs == ["/tmp:size=2g,mode=1777,exec"]
    assert service.ulimits == {"core": 0, "fsize": 2 << 30}
    for more in ("volumes", "privileged", "cap_add", "devices", "env_file", "environment", "pid"):
        assert not getattr(service, more, None), more
