"""The causalds table of a split file: what is refused, and with which words."""

from pathlib import Path

import pytest
from causalds_scenes import table

from builder.splits.config import load_config
from builder.splits.settings import TomlTable
from builder.tracks import TRACKS
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

WHERE = "x.toml: splits.dev.causalds"


def test_a_table_is_read_and_completed_by_the_defaults_of_the_paper() -> None:
    """Zero weights drop out, motifs come in catalogue order, whatever the file's order. The size of
    a release has no sensible default."""
    config = TRACK.parse(TomlTable(table(motifs={"iv": 2, "chain": 0.5, "fork": 0}), f"{WHERE}."))
    assert list(config.motifs.items()) == [("chain", 0.5), ("iv", 2.0)]
    assert (config.scenes, config.rows.train, config.rows.test) == (28, 400, 100)
    config = TRACK.parse(TomlTable({"scenes": 1, "motifs": {"chain": 1}}, f"{WHERE}."))
    assert (config.rows.train, config.rows.test) == (16000, 4000)
    assert (config.treatment_binary, config.outcome_binary) == (0.75, 0.4)
    with pytest.raises(UsageError, match=r"causalds\.scenes: missing"):
        TRACK.parse(TomlTable({"motifs": {"chain": 1}}, f"{WHERE}."))


def _proxy(**settings: object) -> dict[str, object]:
    return {"views": ["clean", "proxy"], "observation": {"proxy": settings}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scene": 3}, ".scene: unknown key; did you mean 'scenes'?"),
        ({"scenes": 0}, ".scenes: must be a whole number from 1"),
        ({"rows": 100}, ".rows: must be a table"),
        ({"rows": {"train": 10}}, ".rows.train: must be a whole number from 50"),
        ({"motifs": {}}, ".motifs: no weight is positive"),
        ({"motifs": {"chian": 1}}, ".motifs.chian: unknown key; did you mean 'chain'?"),
        ({"composition": "papre"}, ".composition: unknown name \"papre\"; did you mean 'paper'?"),
        ({"grafts": 1}, ".grafts: must be a list of the shares"),
        ({"grafts": [0, 0]}, ".grafts: no weight is positive"),
        ({"grafts": [0.5, 0.5], "motifs": {"frontdoor": 1}}, ".grafts: 14 scenes with grafts"),
        ({"grafts": [0.5, -1]}, ".grafts[1]: must be a number from 0"),
        ({"auxiliary": {"iv": 1}}, ".auxiliary.iv: unknown key"),
        ({"confounded": 0.5, "motifs": {"chain": 1}}, ".confounded: 14 scenes are to become"),
        ({"planted": {"napkn": 0.1}}, ".planted.napkn: unknown key; did you mean 'napkin'?"),
        ({"planted": {"napkin": 0.01}, "motifs": {"chain": 1}}, ".planted: planted structures"),
        ({"planted": {"napkin": 0.5}}, ".planted: 14 scenes are wanted out of the 4"),
        ({"profiles": {"continuous": {"linear": 1}}}, ".profiles.continuous.linear: unknown key"),
        ({"profiles": {"discrete": {}}}, ".profiles.discrete: unknown key"),
        ({"profiles": {"binary": {"noisy_or": 0}}}, ".profiles.binary: no weight is positive"),
        ({"views": []}, ".views: must be a list of names"),
        ({"views": ["clear"]}, ".views: unknown name \"clear\"; did you mean 'clean'?"),
        ({"diagnostics": 1}, ".diagnostics: must be true or false"),
        (_proxy(colums=[1, 2]), ".observation.proxy.colums: unknown key; did you mean 'columns'?"),
        (_proxy(columns=[3, 2]), ".observation.proxy.columns: 3 is more than 2; swap them"),
        (_proxy(columns=[2.5, 3]), ".observation.proxy.columns: must be two whole numbers from 1"),
        (_proxy(noise=[1]), ".observation.proxy.noise: must be two numbers from 0.001 to 1000"),
        (_proxy(calibration=2), ".observation.proxy.calibration: must be a number from 0 to 1"),
        (_proxy(thresholds={"min": 1}), ".observation.proxy.thresholds.min: unknown key"),
        ({"tellings": "llm"}, '.words: words = "knowledge" has no model\'s tellings'),
        ({"tellings": "five"}, '.tellings: must be a whole number of at least 0, or "llm"'),
        (_proxy(window=[0.8, 0.3]), ".observation.proxy.window"),
        (_proxy(window=[0.3, 1.8]), ".observation.proxy.window"),
        ({"views": ["clean", "clean"]}, ".views: a name is listed twice"),
    ],
)
def test_bad_values_are_refused_by_name(changes: dict[str, object], message: str) -> None:
    """A mistake in a split file must be found before any work, and say where it is."""
    with pytest.raises(UsageError) as error:
        TRACK.parse(TomlTable(table(**changes), f"{WHERE}."))
    assert f"{WHERE}{message}" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["mini", "leak-400", "private-example", pytest.param("main", marks=pytest.mark.slow)],
)
def test_the_split_files_of_the_repository_are_good(root: Path, name: str) -> None:
    """What documentation and tests build must at least parse, and plan: quotas are met, and there
    are names enough in the knowledge graph."""
    release = load_config(root / "splits" / f"{name}.toml", TRACKS)
    assert release.name == name
    for split in release.splits:
        configs = dict(split.tracks)
        planned = {
            track: TRACKS[track].plan(config, split.name, bytes(32), split.private)
            for track, config in configs.items()
        }
        config = configs["causalds"]
        retellings = 0 if split.private else 3 * config.tellings
        assert len(planned["causalds"]) == config.scenes + retellings
        assert all(planned.values())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"composition": "full", "harmless": 1.0}, "harmless: must be less than 1"),
        ({"composition": "full", "harmless": 0.99}, "there are"),
        ({"motifs": {"iv": 1}, "harmless": 0.5}, "harmless: 28 scenes without an unmeasured"),
        (
            {"composition": "full", "treatment_binary": 1.0, "planted": {"napkin": 0.2}},
            "treatment_binary: 28 binary treatments are wanted, but the 6 scenes of napkin have a "
            "continuous one; ask for at most 0.78",
        ),
    ],
)
def test_quotas_that_no_scenes_meet_are_named_while_planning(changes, message):
    """Some quotas hang on others; planning finds them out, and nothing has been built by then."""
    config = TRACK.parse(TomlTable({"scenes": 28, **changes}, f"{WHERE}."))
    with pytest.raises(UsageError) as error:
        TRACK.plan(config, "dev", b"x" * 32, False)
    assert str(error.value).startswith("splits.dev.causalds.") and message in str(error.value)
