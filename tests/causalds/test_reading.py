"""The reading page: stories beside graphs, safe to open."""

import json
from pathlib import Path

import pytest

from builder.causalds.show.stories import stories_page
from builder.cli.main import main
from builder.settings import TomlTable
from grader.errors import UsageError


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scene and world rows of a small split, written as a release lays them out."""
    import pyarrow.parquet as pq

    from builder.causalds.track import TRACK
    from builder.release.arrow import table_from_rows

    folder = tmp_path_factory.mktemp("reading")
    table = {
        "scenes": 6,
        "rows": {"train": 60, "test": 20},
        "motifs": {"chain": 1, "confounding": 1, "iv": 1},
    }
    specs = TRACK.plan(TRACK.parse(TomlTable(table, "here.")), "dev", b"reading", False)
    built = [TRACK.build(spec).rows for spec in specs]
    for config in ("causalds_worlds", "causalds_scenes"):
        file = folder / "public" / config / "dev-00000-of-00001.parquet"
        file.parent.mkdir(parents=True)
        rows = [row for one in built for row in one[config]]
        pq.write_table(table_from_rows(rows, TRACK.tables[config]), file)
    (folder / "public" / "manifest.json").write_text(json.dumps({}), encoding="utf-8")
    return folder


def test_the_page_shows_stories_beside_graphs(release: Path) -> None:
    """A person must be able to judge story against graph at a glance."""
    page = stories_page(release, 4)
    assert page.count("<section>") == page.count("<svg") == 4
    assert "4 of 6 stories" in page
    for motif in ("chain", "confounding", "iv"):
        assert f". {motif} · " in page
    assert page.count("<b>") > 20 and "\0" not in page


def test_the_command_writes_the_page(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documented way to the page."""
    out = tmp_path / "page.html"
    assert main(["read", str(release), "--n", "2", "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8").count("<section>") == 2
    assert str(out) in capsys.readouterr().out


def test_unusable_input_is_named(release: Path, tmp_path: Path) -> None:
    """No release, no worlds, no sensible number: each says what to do."""
    assert main(["read", str(tmp_path)]) == 2
    assert main(["read", str(release), "--n", "0"]) == 2
    with pytest.raises(UsageError, match="no causalds_worlds"):
        stories_page(tmp_path, 3)
