"""Keys and ids from the published definition; a private split is built only with its secret, which
is then nowhere to be found; a fingerprint of the code behind a release."""

import base64
import hashlib
import hmac
import json
from pathlib import Path

import duckdb
import fake_track
import numpy as np
import pyarrow.parquet as pq
import pytest
from fake_builder import OTHER_SECRET, SECRET

from builder.release.manifest import code_files
from builder.splits.roots import Root
from builder.splits.seeds import stream
from builder.splits.settings import TomlTable
from builder.tracks import TRACKS


def _hmac(key: bytes, message: str) -> bytes:
    return hmac.digest(key, message.encode(), "sha256")


def test_instance_keys_and_ids_follow_the_published_definition(tiny):
    """Whoever audits a release derives keys from the text, not from our code."""
    for side, split, root in (
        ("public", "dev", b"tiny 1"),
        ("private", "test", bytes.fromhex(SECRET)),
    ):
        worlds = pq.read_table(tiny / f"{side}/causalds_worlds", filters=None).to_pylist()
        worlds = [row for row in worlds if row["world_key"]]
        assert len(worlds) == 45
        tasks = pq.read_table(tiny / f"public/causalds/{split}-00000-of-00001.parquet").to_pylist()
        ids = {(row["instance_id"], f"{row['family']}.{row['variant']}"): row["task_id"]
               for row in tasks}  # fmt: skip
        for row in worlds:
            index = row["index"]
            assert row["world_key"] == _hmac(root, f"causalds/{split}/{index}/instance").hex()
            id_key = _hmac(root, f"causalds/{split}/{index}/id")
            assert row["instance_id"] == "scene-" + _hmac(id_key, "scene").hex()[:16]
            for variant in fake_track.VARIANTS:
                expected = "cds-" + _hmac(id_key, variant).hex()[:16]
                assert ids.get((row["instance_id"], variant), expected) == expected


def test_streams_are_philox_keyed_with_the_first_half_of_the_stage_key():
    """A stream that depended on numpy's own seeding would change with numpy."""
    key = b"k" * 32
    seed = int.from_bytes(_hmac(key, "data")[:16], "big")
    expected = np.random.Generator(np.random.Philox(key=seed)).normal(size=5)
    assert np.array_equal(stream(key, "data").normal(size=5), expected)
    assert not np.array_equal(stream(key, "world").normal(size=5), expected)


def test_no_message_can_carry_a_root_or_a_key():
    """Tracebacks and logs print values by their repr."""
    root = Root("test", True, bytes.fromhex(SECRET))
    spec = fake_track.TRACK.plan(1, "test", root.key, True)[0]
    shown = repr((root, spec))
    assert SECRET not in shown and repr(root.key) not in shown and repr(spec.key) not in shown


@pytest.mark.parametrize(
    ("track", "table"),
    [
        ("ccr", {"simulation": 2, "direct": 1}),
        ("replayscm", {"per_pool": 1}),
        ("causalab", {"graphs": 2, "suites": ["main-5", "quad-hard"]}),
    ],
)
def test_an_instance_is_a_function_of_its_spec(track, table):
    """The same bytes whatever was built before, and other bytes under another root."""
    known = TRACKS[track]
    settings = known.parse(TomlTable(table, "x."))
    specs, others = (known.plan(settings, "dev", root, False)[:3] for root in (b"one", b"other"))
    made = [known.build(spec).rows for spec in specs]
    assert [known.build(spec).rows for spec in reversed(specs)] == made[::-1]
    assert known.build(others[0]).rows[track] != made[0][track]


def test_code_and_what_it_reads_are_covered(root: Path) -> None:
    """A rule that is edited must not leave parts of an earlier build in a release."""
    assert {root / name for name in (
        "builder/tracks/causalds/make/scene.py", "builder/gate/sql/ids.sql",
        "builder/stories/story.toml", "dataset_card/public.md", "grader/scoring/shape.py",
        "schemas/manifest.json",
    )} <= {*code_files()}  # fmt: skip
    names = {part for file in code_files() for part in file.relative_to(root).parts}
    assert not any(name.startswith(".") or name == "__pycache__" for name in names)


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
    assert command("plan", split_file) == 0
    assert "demo (all)" in capsys.readouterr().out
    assert command("build", split_file, "--out", tmp_path / "r") == 2
    message = capsys.readouterr().err
    assert reason in message and "new-secret" in message
    assert message.count("\n") == 1
    if value and value.strip():
        assert value not in message
    assert not (tmp_path / "r").exists() and not (tmp_path / "r.partial").exists()


def test_the_secret_is_nowhere_in_the_release(tiny, build, tmp_path, capsys):
    """Neither as text nor as bytes nor in base64, not even on the private side or in messages."""
    assert build(tmp_path / "r") == 0
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


def test_another_secret_shares_no_id_and_no_data_row(tiny, build, monkeypatch, tmp_path):
    """Two exams of one split file must not help with each other."""
    monkeypatch.setenv("TINY_SECRET", OTHER_SECRET)
    out = tmp_path / "r"
    assert build(out, "--quiet") == 0
    seen: list[set[object]] = []
    for folder in (tiny, out):
        tasks, scenes = (
            pq.read_table(folder / f"public/{config}/test-00000-of-00001.parquet").to_pylist()
            for config in ("causalds", "causalds_scenes")
        )
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
    """Recomputed with DuckDB and the standard library alone, as the standalone grader does it."""
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
