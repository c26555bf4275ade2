"""A private split: built only with its secret, which is then nowhere to be found."""

import base64
import hashlib
import hmac
import json

import duckdb
import pyarrow.parquet as pq
import pytest
from tiny_release import OTHER_SECRET, SECRET

BAD = {
    "absent": (None, "the secret is absent"),
    "blank": ("  ", "the secret is absent"),
    "short": (SECRET[:30], "holds 120 bits; at least 128"),
    "not hex": ("correct horse battery staple correct", "hexadecimal digits"),
    "prefixed": ("0x" + SECRET, "hexadecimal digits"),
    "odd": (SECRET + "a", "even number"),
    "endless": ("ab" * 5000, "more than 4096"),
    "repeated": ("ab" * 32, "repeats itself"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_unfit_secret_is_refused_without_being_shown(
    name, split_file, command, monkeypatch, tmp_path, capsys
):
    """A weak or mistyped secret builds an exam that anyone can open."""
    value, reason = BAD[name]
    monkeypatch.delenv("TINY_SECRET", raising=False)
    if value is not None:
        monkeypatch.setenv("TINY_SECRET", value)
    assert command("build", split_file, "--out", tmp_path / "r") == 2
    message = capsys.readouterr().err
    assert reason in message and "new-secret" in message
    assert message.count("\n") == 1
    if value and value.strip():
        assert value not in message
    assert not (tmp_path / "r").exists() and not (tmp_path / "r.partial").exists()


def test_a_plan_needs_no_secret(split_file, command, monkeypatch, capsys):
    """Reviewing a split file must not require the keys to it."""
    monkeypatch.delenv("TINY_SECRET", raising=False)
    assert command("plan", split_file) == 0
    assert "demo (all)" in capsys.readouterr().out


def test_the_secret_is_nowhere_in_the_release(tiny, split_file, command, secret, tmp_path, capsys):
    """Neither as text nor as bytes nor in base64, not even on the private side or in messages."""
    assert command("build", split_file, "--out", tmp_path / "r", "--workers", 1) == 0
    raw = bytes.fromhex(SECRET)
    needles = [SECRET.encode(), SECRET.upper().encode(), raw, raw[::-1], base64.b64encode(raw)[:40]]
    places = {str(file): file.read_bytes() for file in tiny.rglob("*") if file.is_file()}
    places["messages"] = "".join(capsys.readouterr()).encode()
    for place, data in places.items():
        for needle in needles:
            assert needle not in data, place


def test_the_public_side_holds_no_salt_and_no_private_row(tiny):
    """With its salt, a commitment to a short row can be opened by trying all rows."""
    salts = json.loads((tiny / "private/manifest.json").read_text())["salts"]["test"]
    public = b"".join(file.read_bytes() for file in (tiny / "public").rglob("*") if file.is_file())
    for salt in salts.values():
        assert salt.encode() not in public and bytes.fromhex(salt) not in public
    worlds = pq.read_table(tiny / "private/causalds_worlds").to_pylist()
    assert not any(row["world_key"].encode() in public for row in worlds)
    hidden = {file.parent.name for file in tiny.glob("public/*/test-*.parquet")}
    assert hidden == {"causalds", "causalds_exams", "causalds_scenes", "commitments", "tasks"}
    assert pq.read_table(tiny / "public/tasks", filters=None).num_rows == 135 + 45


def test_another_secret_shares_no_id_and_no_data_row(tiny, split_file, command, monkeypatch,
                                                     tmp_path):  # fmt: skip
    """Two exams of one split file must not help with each other."""
    monkeypatch.setenv("TINY_SECRET", OTHER_SECRET)
    out = tmp_path / "r"
    assert command("build", split_file, "--out", out, "--workers", 1, "--quiet") == 0
    seen: list[set[object]] = []
    for folder in (tiny, out):
        tasks = pq.read_table(folder / "public/causalds/test-00000-of-00001.parquet").to_pylist()
        scenes = pq.read_table(
            folder / "public/causalds_scenes/test-00000-of-00001.parquet"
        ).to_pylist()
        values: set[object] = {row["task_id"] for row in tasks}
        values |= {row["instance_id"] for row in scenes}
        for scene in scenes:
            columns = [column["values"] for column in scene["data"]]
            values |= set(zip(*columns, strict=True))
        seen.append(values)
        assert len(values) == 45 + 45 + 45 * 50
    assert not seen[0] & seen[1]
    dev = "public/causalds_scenes/dev-00000-of-00001.parquet"
    assert (tiny / dev).read_bytes() == (out / dev).read_bytes()


def test_the_seed_and_every_private_row_are_committed_to(tiny):
    """Recomputed with DuckDB and the standard library alone, as the standalone grader does it. The
    seed is what a maintainer shows when an exam is retired."""
    public = json.loads((tiny / "public/manifest.json").read_text())
    private = json.loads((tiny / "private/manifest.json").read_text())
    salt = bytes.fromhex(private["salts"]["test"]["seed"])
    opened = hashlib.sha256(salt + bytes.fromhex(SECRET)).hexdigest()
    assert public["splits"]["test"]["seed_commitment"] == opened
    committed: dict[str, dict[str, str]] = {}
    for row in pq.read_table(tiny / "public/commitments").to_pylist():
        committed.setdefault(row["config"], {})[row["row_id"]] = row["sha256"]
    key = bytes.fromhex(private["salts"]["test"]["rows"])
    assert set(committed) == {"causalds_truth", "causalds_labels", "causalds_worlds"}
    for config, told in committed.items():
        cursor = duckdb.connect()
        cursor.execute(f"SELECT * FROM '{tiny}/private/{config}/test-*.parquet'")
        names = [column[0] for column in cursor.description]
        expected = {}
        for values in cursor.fetchall():
            row = dict(zip(names, values, strict=True))
            salt = hmac.digest(key, f"{config}/test/{values[0]}".encode(), "sha256")
            text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            expected[values[0]] = hashlib.sha256(salt + text.encode("utf-8")).hexdigest()
        assert told == expected
        assert expected
