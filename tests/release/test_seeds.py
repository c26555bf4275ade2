"""Keys and ids from the published definition, and a fingerprint of the code behind a release."""

import hmac
from pathlib import Path

import fake_track
import numpy as np
import pyarrow.parquet as pq
import pytest
from tiny_release import SECRET

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


@pytest.mark.parametrize(
    "name",
    [
        "builder/tracks/causalds/make/scene.py",
        "builder/gate/sql/ids.sql",
        "builder/stories/story.toml",
        "dataset_card/public.md",
        "grader/scoring/shape.py",
        "schemas/manifest.json",
    ],
)
def test_code_and_what_it_reads_are_covered(root: Path, name: str) -> None:
    """A rule that is edited must not leave parts of an earlier build in a release."""
    assert root / name in code_files()


def test_compiled_and_hidden_files_are_not(root: Path) -> None:
    """They differ from run to run."""
    names = {part for file in code_files() for part in file.relative_to(root).parts}
    assert not any(name.startswith(".") or name == "__pycache__" for name in names)
