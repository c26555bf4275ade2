"""Pages and what stands in them: tables, pictures, what must not, and plots at their edges."""

import importlib
import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from browser import parsed
from grading import Runner, put
from small_release import TASKS, task_id

from grader.io.names import did_you_mean
from grader.pages.charts import WIDTH, Axis, bars, clouds, dots, heat_cell, lines
from grader.pages.leaderboard import columns
from grader.pages.page import Block, Fold, Paragraph, Section, SideBySide, Strong
from grader.pages.page import page as draw
from grader.pages.specification import FORMATS, Specification
from grader.pages.svg import arrow, element, fit, width_of, words
from grader.pages.table import Cell, Table
from grader.pages.terminal import PrintableConsole, TerminalTable
from grader.pages.words import count_text, interval_text, percent, signed_number
from grader.tracks import TRACKS
from grader.tracks.ccr.tables import SPECIFICATION as CCR

NASTY = "<img src=x onerror=alert(1)>\"'&</svg></style><b>[bold]\u202e\x07"
COLUMNS = (
    "system",
    "tasks",
    ("rate ↓", "readings.{reading}.rate", "percent"),
    ("points", "points", "figure"),
)
SPECIFIED = Specification(
    "t", {"t": {"title": "a title", "columns": COLUMNS, "note": "a note"}}, {},
    {**FORMATS, "figure": lambda _: Cell("50.0", "points", "[40.0, 60.0]")},
)  # fmt: skip
ROWS = ({"system": NASTY, "tasks": 7, "readings": {"fixed": {"rate": 0.5}}},
        {"system": "x", "tasks": 8})  # fmt: skip
TABLE = SPECIFIED.of_rows("t", ROWS)


def printed(table: Table) -> str:
    console = PrintableConsole(width=200)
    with console.capture() as shown:
        console.print(TerminalTable(table))
    return shown.get()


def page(runner: Runner, *words: str | Path) -> str:
    file = runner.place / "page.html"
    run = runner.run(*words, "--release", runner.release, "--html", file)
    assert run.code == 0, run.err
    return file.read_text("utf-8")


@pytest.fixture
def submissions(gold: Path, tmp_path: Path) -> Path:
    """Gold, and a hostile one: a nasty name, a nasty answer, costs, two attempts."""
    folder = tmp_path / "submissions"
    shutil.copytree(gold, folder / "gold")
    for number in (1, 2):
        shutil.copytree(gold, folder / "nasty" / f"attempt-{number}")
    nasty = folder / "nasty" / "attempt-1"
    put(nasty, "method", json.dumps({"method": NASTY}))
    put(nasty, "ate_interval", json.dumps({"ate": 5.0, "ci_lower": 4.0, "ci_upper": 6.0}))
    usage = [{"task_id": task_id(name), "input_tokens": 1000, "cost_usd": 0.25} for name in TASKS]
    (nasty / "usage.jsonl").write_text("".join(json.dumps(line) + "\n" for line in usage))
    run_card = {"system": NASTY, "partial": "3 of 9"}
    (folder / "nasty" / "run.json").write_text(json.dumps(run_card))
    return folder


def test_the_page_of_one_submission_is_complete_and_safe(runner: Runner, submissions: Path) -> None:
    text = page(runner, "grade", submissions / "nasty", "--split", "dev", "--exam", "all")
    assert "<img" not in text and "<script" not in text and "onerror=alert(1)&gt;" in text
    assert "PARTIAL (3 of 9) · " in text
    assert not {"\x07", "\u202e"} & set(text)
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    body = parsed(text)
    headings = [node.text or "" for kind in ("h2", "h3") for node in body.iter(kind)]
    for part in (
        "knowing, and knowing when not", "intervals, promised and kept", "error by observation",
        "cost and quality", "every slice", "repeated attempts", "two readings", "Every task",
    ):  # fmt: skip
        assert any(part in heading for heading in headings), part
    assert "Leaderboard" not in text, "a report of one system is no board"


def test_of_a_run_s_settings_those_are_shown_that_were_chosen(runner: Runner, gold: Path) -> None:
    """A run's card has dozens that were left alone; temperature 0 is a choice."""
    settings = {"epochs": 3, "limit": None, "limits": {}, "sandbox": False, "temperature": 0}
    card = {"system": "m", "date": "2026-01-01", "settings": settings}
    (gold / "run.json").write_text(json.dumps(card), encoding="utf-8")
    words = ("grade", gold, "--split", "dev", "--exam", "all")
    assert "2026-01-01, epochs 3, temperature 0<" in page(runner, *words)


def test_the_truth_of_a_task_stands_on_the_page_only_when_asked_for(runner, gold):
    """A page is mailed around; the table of tasks alone is harmless on a public split."""
    at = ("grade", gold, "--split", "dev", "--exam", "all")
    shown, revealed = page(runner, *at), page(runner, *at, "--reveal")
    assert task_id("ate") in shown and "should_abstain" not in shown
    assert "should_abstain" in revealed and "value_se" in revealed
    assert parsed(revealed) is not None


def test_a_private_page_has_no_row_per_task(runner: Runner, secret: Path) -> None:
    text = page(runner, "grade", secret, "--split", "test")
    assert task_id("ate", "test") not in text and "Every task" not in text
    assert parsed(text) is not None
    assert task_id("ate", "test") in page(runner, "grade", secret, "--split", "test", "--reveal")


def test_the_leaderboard_ranks_by_composite_rank_as_well(runner: Runner, submissions: Path) -> None:
    file = runner.place / "board.json"
    at = ("--split", "dev", "--exam", "all", "--json", file)
    text = page(runner, "leaderboard", submissions, *at)
    assert "Comp. Rank" in text and "Composite Rank by slice" in text
    board = json.loads(file.read_text("utf-8"))
    assert [row["rank"] for row in board] == [1, 1], "one wrong label does not tell them apart"
    # All three components tie but for one wrong label: PassRate 0 against 1, S_NR 0 against 1.
    assert [row["composite_rank"]["fixed"] for row in board] == [
        pytest.approx(1 / 6), pytest.approx(5 / 6)
    ]  # fmt: skip
    assert parsed(text) is not None


def test_a_redacted_ccr_report_is_shown_with_what_it_keeps() -> None:
    """It used to lose all of its figures, table and section."""
    track = {"points": 12.3, "attempted": 1, "metrics": {"contexts": 6, "compositions_vc": 0.46}}
    redacted = report({"ccr": track})
    html = draw("title", "", CCR.of_reports([redacted]), "")
    assert "<h2>ccr: figures, and shares" in html and "0.460" in html
    shown = "".join(map(printed, CCR.in_terminal(redacted)))
    assert "0.460" in shown and "–" in shown


def report(tracks: dict[str, Any]) -> dict[str, Any]:
    empty = {"input_tokens": None, "output_tokens": None}
    return {"submission": {"system": "x"}, "usage": empty, "tracks": tracks, "skill": None}


def test_a_track_without_causalds_has_no_causalds_columns() -> None:
    ccr = {"points": 3.0, "attempted": 1, "slices": {"family": {"direct": {"points": 40.0}}}}
    reports = [report({"ccr": ccr})]
    found = columns(reports, TRACKS)
    assert [heading for heading, _ in found] == ["direct", "tok/task"]
    assert found[0][1] == ["40.0"]
    causalds = {"points": 1.0, "attempted": 1, "slices": {}, "readings": {"fixed": {"s_nr": 0.5}}}
    both = [report({"causalds": causalds, "ccr": ccr})]
    headings = [heading for heading, _ in columns(both, TRACKS)]
    assert headings[:2] == ["causalds", "ccr"] and "S_NR ↓" not in headings
    alone = [report({"causalds": causalds})]
    assert "S_NR ↓" in [heading for heading, _ in columns(alone, TRACKS)]


def test_a_track_that_is_left_alone_has_a_dash_and_one_that_fails_a_zero() -> None:
    """Nobody who reads 0.0 can tell a solver of one track from one that fails all others."""
    causalds = {"points": 0.0, "slices": {}, "readings": {"fixed": {"causalds_score": 3.0}}}
    ccr = {"points": 50.0, "attempted": 4, "slices": {}}
    reports = [
        report({"causalds": causalds | {"attempted": tried}, "ccr": ccr | {"attempted": answered}})
        for tried, answered in ((0, 4), (2, 4), (0, 0))
    ]
    cells = dict(columns(reports, TRACKS))
    assert cells["causalds"] == ["–", "0.0", "0.0"]
    assert cells["CausalDSScore ↓"] == ["–", "3.0000", "3.0000"]


def circles(text: str) -> list[tuple[float, float]]:
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)
    return [(float(x), float(y)) for x, y in found]


def test_shares_are_drawn_where_they_belong() -> None:
    """0 and 100% at the ends of the axis, a half in its middle, all inside the picture."""
    tick = (0.95, "promised 95%")
    rows = [{"name": f"{v}{NASTY}", "value": v, "tick": tick} for v in (0.0, 0.5, 1.0)]
    text = dots("t", rows).markup()
    (a, _), (b, _), (c, _) = circles(text)
    assert b - a == pytest.approx(c - b) and c - a == pytest.approx(WIDTH - 38)
    assert ET.fromstring(text) is not None and "promised 95%" in text


def test_cost_is_drawn_on_a_logarithmic_axis() -> None:
    """Tenfold cost is one step to the right, whatever it starts from; a perfect score lies at 0."""
    points = ((1e3, 0.4), (1e4, 0.2), (1e5, 0.0))
    rows = [{"series": NASTY, "value": spot, "hover": NASTY} for spot in points]
    across, upwards = Axis.logarithmic("tokens", [1e3, 1e5]), Axis.linear("score", [0.4, 0.0])
    text = clouds("t", rows, across, upwards, joined=[(1e3, 0.4)]).markup()
    (a, high), (b, _), (c, low), _ = circles(text)
    assert c - b == pytest.approx(b - a, abs=0.2) and low > high
    assert ET.fromstring(text) is not None
    assert Axis.logarithmic("tokens", [7.0]).high == 10 and Axis.linear("score", [0.0]).high == 1


def test_levels_without_a_value_are_gaps() -> None:
    values = {("a", "clean"): 0.5, ("a", "proxy"): None, ("none", "clean"): None}
    rows = [{"series": name, "level": level, "value": v} for (name, level), v in values.items()]
    text = lines("t", rows).markup()
    assert len(circles(text)) == 2 and ">none<" not in text, "one point, and its mark in the legend"
    assert ET.fromstring(text) is not None


def test_numbers_as_words() -> None:
    assert [count_text(v) for v in (None, 12, 12_900, 1_770_000, 26_640_000, 3e9)] == [
        "–", "12", "12.9k", "1.77M", "26.6M", "3.00G"
    ]  # fmt: skip
    assert percent(28 / 34) == "82.4%" and percent(None) == "–"
    assert signed_number(-1e-9) == "+0.0", "a difference of nothing is no negative number"
    assert interval_text((-1e-9, 2.0), 1, signed_number) == "[+0.0, +2.0]"


def test_a_near_miss_is_named_among_any_number_of_choices() -> None:
    """With more than 40 tasks the hint used to vanish, just where one needs it."""
    ids = [f"cds-{k:016x}" for k in range(0, 10**6, 9973)]
    assert did_you_mean(ids[50][:-1] + "x", ids) == f"; did you mean '{ids[50]}'?"
    far = did_you_mean("zzz", ids)
    assert far.startswith("; choose from cds-") and far.endswith(f"({len(ids)} in all)")
    assert did_you_mean("x" * 10**6, ids).startswith("; choose from")


def test_what_only_rounding_keeps_from_zero_needs_no_scale_of_its_own() -> None:
    """Ticks of four digits at most stand in the room that they have."""
    for value, ticks in {
        1e-16: {"0.25", "1"},
        3e-4: {"0.0025", "0.01"},
        0.3: {"0.1", "0.4"},
    }.items():
        rows = [{"series": "s", "level": k, "value": v} for k, v in enumerate((value, 0.0))]
        text = lines("t", rows).markup()
        assert ticks <= set(re.findall(r">([\d.e-]+)</text>", text)), value


def test_both_renderers_show_every_heading_cell_and_note() -> None:
    """A figure that stands on the page only, or in the terminal only, is easily forgotten."""
    for shown in (
        printed(TABLE),
        draw("t", "", [Section("s", [TABLE])], "").replace("&nbsp;", " "),
    ):
        for part in ("system", "tasks", "rate ↓", "7", "50.0%", "50.0", "[40.0, 60.0]", "a note"):
            assert part in shown, part
        assert not {"\x07", "\u202e"} & set(shown)
    assert "a title" in printed(TABLE) and "[bold]" in printed(TABLE), "text, and no markup of rich"


def test_columns_are_left_out_by_name_and_made_of_values() -> None:
    alone = TABLE.without_columns("system", "points")
    assert alone.head == ["tasks", "rate ↓"] and alone.rows == [["7", "50.0%"], ["8", "–"]]
    assert alone.left == 1
    wide = Table("", ["a", "", ""], [["p", "x", "1"], ["q", "y", "2"], ["p", "y", "3"]]).pivot()
    assert (wide.head, wide.left) == (["a", "x", "y"], 1)
    assert wide.rows == [["p", "1", "3"], ["q", "–", "2"]]


def test_a_page_escapes_whatever_stands_in_its_blocks() -> None:
    """Names and answers are a stranger's; the page may be opened by anyone."""
    mark = {"name": NASTY, "series": NASTY, "level": NASTY, "value": 0.5, "hover": NASTY,
            "interval": (0.2, 0.7), "tick": (0.5, NASTY), "end": NASTY}  # fmt: skip
    spot = {**mark, "from": (0, 0), "value": (1, 1)}
    region = (NASTY, "good", (0, 1), (0, 1))
    blocks: list[Block] = [
        TABLE,
        clouds(NASTY, [spot], Axis(NASTY), Axis(NASTY), arrows=[spot], regions=[region]),
        Table(NASTY, [NASTY, NASTY], [[NASTY, heat_cell(0.7, NASTY)]]),
        bars(NASTY, [mark]),
        lines(NASTY, [mark]),
        dots(NASTY, [mark]),
        Paragraph([NASTY, Strong(NASTY)], note=True),
        Fold(NASTY, [Paragraph(NASTY)], opened=True),
        SideBySide([[Paragraph(NASTY)], [Paragraph(NASTY)]]),
    ]
    text = draw(NASTY, NASTY, [Section(NASTY, blocks), Section("empty", [])], NASTY)
    assert "<img" not in text and "<script" not in text and ">empty<" not in text
    assert not {"\x07", "\u202e"} & set(text)
    assert parsed(text) is not None


def test_the_title_of_a_table_shows_where_a_section_has_several() -> None:
    alone = draw("t", "", [Section("s", [TABLE])], "")
    several = draw("t", "", [Section("s", [TABLE, TABLE])], "")
    assert "<h3>" not in alone and several.count("<h3>a title</h3>") == 2


def test_words_are_cut_to_their_room_and_whole_on_hovering() -> None:
    """A name of a hundred letters must not run over the picture beside it."""
    name = "m" * 100
    assert width_of(fit(name, 80)) <= 80 and fit("ab", 80) == "ab"
    assert f"<title>{name}</title>" in words(0, 0, name, room=80)
    assert "<title>" not in words(0, 0, "ab", room=80)


@pytest.mark.parametrize("bend", [None, (5.0, -20.0)])
def test_an_arrow_ends_in_the_tip_of_its_head(bend: tuple[float, float] | None) -> None:
    group = ET.fromstring(arrow((0, 0), (10, 0), "told", 4, bend))
    title, _, head = list(group)
    assert title.text == "told" and head.get("d", "").startswith("M10.0 0.0L")


def test_attributes_are_escaped_and_numbers_short() -> None:
    assert element("g", x=1 / 3, text_anchor='"') == '<g x="0.3" text-anchor="&quot;"></g>'


@pytest.mark.parametrize("track", ["causalds", "ccr", "replayscm", "causalab"])
def test_every_name_in_a_specification_is_known(track: str, root: Path) -> None:
    """A misspelt name of rows would be an empty table, which no page shows."""
    found = importlib.import_module(f"grader.tracks.{track}.tables").SPECIFICATION
    sources = [*(root / "grader/tracks" / track).glob("*.py"), root / "schemas/report.json"]
    members = "".join(file.read_text("utf-8") for file in sources)
    for names in (found.terminal, *found.sections.values()):
        assert set(names) <= found.tables.keys() | found.makers.keys()
    for table in found.tables.values():
        rows = table.get("rows", "levels")
        known = all(f'"{step}"' in members for step in rows.split("."))
        assert rows in found.makers or known or rows == "levels", rows
        for column in table["columns"]:
            given = found.columns.get(column, ()) if isinstance(column, str) else column
            assert len(given) < 3 or given[2] in found.formats, column
