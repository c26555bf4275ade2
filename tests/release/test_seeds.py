"""Keys and ids, derived here a second time from the published definition."""

import hmac

import fake_track
import numpy as np
import pyarrow.parquet as pq
from tiny_release import SECRET

from builder.splits.roots import Root
from builder.splits.seeds import stream


def _hmac(key: bytes, message: str) -> bytes:
    return hmac.digest(key, message.encode(), "sha256")


def test_instance_keys_and_ids_follow_the_published_definition(tiny):
    """Whoever audits a release derives keys from the text, not from our code."""
    for side, split, root in (
        ("public", "dev", b"tiny 1"),
        ("private", "test", bytes.fromhex(SECRET)),
    ):
        worlds = pq.read_table(tiny / f"{side}/causalds_worlds", filters=None).to_pylist()
        worlds = [row for row in worlds if row["key"]]
        assert len(worlds) == 45
        tasks = pq.read_table(tiny / f"public/causalds/{split}-00000-of-00001.parquet").to_pylist()
        ids = {(row["instance_id"], f"{row['family']}.{row['variant']}"): row["task_id"]
               for row in tasks}  # fmt: skip
        for row in worlds:
            index = row["index"]
            assert row["key"] == _hmac(root, f"causalds/{split}/{index}/instance").hex()
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
