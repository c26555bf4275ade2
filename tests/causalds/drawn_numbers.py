"""What a few seeds draw, to the last bit: run as a program, it prints the digests as JSON."""

import hashlib
import json

from causalds_scenes import specs

from builder.equations.association import associations
from builder.equations.mechanisms import BINARY_PROFILES, CONTINUOUS_PROFILES, profile
from builder.equations.noise import NOISE_FAMILIES, Noise
from builder.equations.quantities import contrast, effect
from builder.equations.sampling import sample_world
from builder.graphs.motifs import MOTIFS
from builder.release.arrow import table_from_rows
from builder.splits.seeds import stream
from builder.tracks.causalds.design.scene_plan import VIEWS
from builder.tracks.causalds.rows import SCHEMAS
from builder.tracks.causalds.track import TRACK


def digests() -> dict[str, str]:
    """Of every profile a world, its unrounded rows and truths; of noise laws; of three scenes."""
    motif = MOTIFS["mediation"]
    x, y = motif.treatment, motif.outcome
    pairs = [(name, "shifted_logistic") for name in CONTINUOUS_PROFILES]
    pairs += [("smooth_handcrafted", name) for name in BINARY_PROFILES]
    found: dict[str, str] = {}
    for place, pair in enumerate(pairs):
        key, name = "/".join(pair).encode(), "/".join(pair)
        kinds = {y if place % 2 else x: "binary"}
        world = sample_world(
            stream(key, "world"), motif.graph, kinds, outcome=y, profile=profile(*pair)
        )
        rows = world.simulate(stream(key, "data"), 1000)
        levels = contrast(world, x, stream(key, "contrast"))
        found[f"{name}: world"] = json.dumps(world.to_json())
        found[f"{name}: rows"] = _digest(*(rows[node].tobytes() for node in sorted(rows)))
        found[f"{name}: truths"] = repr(
            (
                levels,
                effect("ate", world, x, y, *levels, stream(key, "ate")),
                associations(world, x, y, (), stream(key, "association")),
            )
        )
    uniforms = stream(b"noise", "uniforms").random(1000)
    for family, row in NOISE_FAMILIES.items():
        law = Noise(family, 1.0, row.draw_shape(stream(b"noise", family), 1.0))
        e = law.from_uniform(uniforms)
        found[f"{family} noise"] = _digest(*(a.tobytes() for a in (e, law.density(e))))
    rows_each = {"train": 200, "test": 50}
    for place, spec in enumerate(specs(scenes=28, rows=rows_each, views=list(VIEWS))[:3]):
        for config, table in TRACK.build(spec).rows.items():
            written = table_from_rows(table, SCHEMAS[config])
            found[f"scene {place}: {config}"] = _digest(repr(written.to_pylist()).encode())
    return found


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


if __name__ == "__main__":
    print(json.dumps(digests()))
