"""Tables, pictures and pages as values: both renderers say the same, and no text is markup."""

import importlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from browser import parsed

from grader.pages.charts import Axis, bars, clouds, dots, heat_cell, lines
from grader.pages.page import Block, Fold, Paragraph, Section, SideBySide, Strong, page
from grader.pages.specification import FORMATS, Specification
from grader.pages.svg import Scale, arrow, element, fit, width_of, words
from grader.pages.table import Cell, Table
from grader.pages.terminal import PrintableConsole, in_terminal
from grader.pages.words import signed_interval, signed_number

NASTY = "<img src=x onerror=alert(1)>\"'&</svg></style><b>[bold]\u202e\x07"
COLUMNS = (
    "system",
    "tasks",
    ("rate ↓", "readings.{reading}.rate", "percent"),
    ("points", "points", "figure"),
)
SPECIFIED = Specification(
    "t", {}, (), {"t": {"title": "a title", "columns": COLUMNS, "note": "a note"}}, {}, {}, "", {},
    {**FORMATS, "figure": lambda _: Cell("50.0", "points", "[40.0, 60.0]")},
)  # fmt: skip
ROWS = ({"system": NASTY, "tasks": 7, "readings": {"fixed": {"rate": 0.5}}},
        {"system": "x", "tasks": 8})  # fmt: skip
TABLE = SPECIFIED.of_rows("t", ROWS)


def printed(table: Table) -> str:
    console = PrintableConsole(width=200)
    with console.capture() as shown:
        console.print(in_terminal(table))
    return shown.get()


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
        page("t", "", [Section("s", [TABLE])], "").replace("&nbsp;", " "),
    ):
        for part in ("system", "tasks", "rate ↓", "7", "50.0%", "50.0", "[40.0, 60.0]", "a note"):
            assert part in shown, part
        assert not {"\x07", "\u202e"} & set(shown)
    assert "a title" in printed(TABLE) and "[bold]" in printed(TABLE), "text, and no markup of rich"


def test_columns_are_left_out_by_name() -> None:
    alone = TABLE.without_columns("system", "points")
    assert alone.head == ["tasks", "rate ↓"] and alone.rows == [["7", "50.0%"], ["8", "–"]]
    assert alone.left == 1


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
    text = page(NASTY, NASTY, [Section(NASTY, blocks), Section("empty", [])], NASTY)
    assert "<img" not in text and "<script" not in text and ">empty<" not in text
    assert not {"\x07", "\u202e"} & set(text)
    assert parsed(text) is not None


def test_the_title_of_a_table_shows_where_a_section_has_several() -> None:
    alone = page("t", "", [Section("s", [TABLE])], "")
    several = page("t", "", [Section("s", [TABLE, TABLE])], "")
    assert "<h3>" not in alone and several.count("<h3>a title</h3>") == 2


def test_words_are_cut_to_their_room_and_whole_on_hovering() -> None:
    """A name of a hundred letters must not run over the picture beside it."""
    name = "m" * 100
    assert width_of(fit(name, 80)) <= 80 and fit("ab", 80) == "ab"
    assert f"<title>{name}</title>" in words(0, 0, name, room=80)
    assert "<title>" not in words(0, 0, "ab", room=80)


def test_scales_meet_their_ends() -> None:
    straight, log = Scale(0, 2, 100, 300), Scale(1, 100, 0, 10, log=True)
    assert [straight(v) for v in (0, 1, 2)] == [100, 200, 300]
    assert [log(v) for v in (1, 10, 100)] == pytest.approx([0, 5, 10])


@pytest.mark.parametrize("bend", [None, (5.0, -20.0)])
def test_an_arrow_ends_in_the_tip_of_its_head(bend: tuple[float, float] | None) -> None:
    group = ET.fromstring(arrow((0, 0), (10, 0), "told", 4, bend))
    title, _, head = list(group)
    assert title.text == "told" and head.get("d", "").startswith("M10.0 0.0L")


def test_attributes_are_escaped_and_numbers_short() -> None:
    assert element("g", x=1 / 3, text_anchor='"') == '<g x="0.3" text-anchor="&quot;"></g>'


def test_a_difference_of_nothing_is_no_negative_number() -> None:
    assert signed_number(-1e-9) == "+0.0" and signed_interval((-1e-9, 2.0)) == "[+0.0, +2.0]"


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
