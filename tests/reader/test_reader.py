"""The reader on sentences written for this test, in as many ways as English offers."""

import pytest

from builder.reader import read_story
from builder.reader.story import discover, mask, sentences

FULL = ("Moss Cover", "Lamp Hours", "Fern Height", "Soil Warmth", "Snail Count")
NAMES = dict(zip("MLFSC", FULL, strict=True))

# A sentence and its edges: "LM" is Lamp Hours -> Moss Cover.
SENTENCES = [
    ("Moss Cover responds to Lamp Hours, Fern Height, and Soil Warmth.", "LM SM FM"),
    ("Fern Height is a function of Lamp Hours and Soil Warmth.", "LF SF"),
    ("Lamp Hours acts on Fern Height and on Snail Count.", "LF LC"),
    ("Changes in Lamp Hours carry over to Fern Height.", "LF"),
    ("Lamp Hours has no effect on Fern Height.", ""),
    ("Lamp Hours does not affect Fern Height, but it raises Moss Cover.", "LM"),
    ("Lamp Hours raises Moss Cover and lowers Snail Count.", "LM LC"),
    ("Lamp Hours raises Moss Cover, which in turn raises Snail Count.", "LM MC"),
    ("Lamp Hours raises Moss Cover, and Soil Warmth lowers Snail Count.", "LM SC"),
    ("Lamp Hours, which is set by Soil Warmth, raises Moss Cover.", "SL LM"),
    ("Neither Lamp Hours nor Soil Warmth affects Moss Cover.", ""),
    ("Lamp Hours, together with Soil Warmth, drives Moss Cover.", "LM SM"),
    ("Moss Cover is partly a result of Lamp Hours.", "LM"),
    ("Researchers want to know whether Lamp Hours affects Moss Cover.", ""),
    ("The notebook holds Lamp Hours, Moss Cover and Soil Warmth.", ""),
    ("Lamp Hours is measured in hours and Moss Cover in percent.", ""),
    ("Lamp Hours and Moss Cover were recorded for each greenhouse.", ""),
    ("Lamp Hours and Moss Cover are correlated.", ""),
    ("Moss Cover is raised by Lamp Hours and lowered by Soil Warmth.", "LM SM"),
    ("Soil Warmth was never recorded, yet it shapes both Lamp Hours and Moss Cover.", "SL SM"),
    ("Soil Warmth, not measured here, pushes Lamp Hours up and Moss Cover down.", "SL SM"),
    ("Moss Cover takes its level from Lamp Hours and, separately, from Soil Warmth.", "LM SM"),
    ("Lamp Hours's influence on Moss Cover is immediate.", "LM"),
    (
        "Snail Count follows directly from Moss Cover, while Fern Height follows from Soil Warmth.",
        "MC SF",
    ),
    ("Moss Cover and Fern Height each depend on Lamp Hours.", "LM LF"),
    ("A rise in Lamp Hours leads to a drop in Moss Cover.", "LM"),
    ("Moss Cover owes part of its level to Lamp Hours.", "LM"),
    ("Lamp Hours directly affects Moss Cover, Fern Height, and Snail Count.", "LM LF LC"),
    ("Soil Warmth itself depends on Lamp Hours, and it shapes Moss Cover.", "LS SM"),
    ("Soil Warmth tilts the odds of Moss Cover.", "SM"),
    ("Lamp Hours is what sets Moss Cover.", "LM"),
    ("There is also a direct path from Lamp Hours to Moss Cover.", "LM"),
    ("The step from Lamp Hours to Moss Cover is direct.", "LM"),
    ("Lamp Hours exerts a direct influence over Moss Cover and Snail Count alike.", "LM LC"),
    (
        "Lamp Hours has its own direct effect on Moss Cover, separate from anything that "
        "Snail Count does.",
        "LM",
    ),
    ("Snail Count is set by Moss Cover as well as by Soil Warmth.", "MC SC"),
    ("Among the things that set Moss Cover is Lamp Hours.", "LM"),
    ("Lamp Hours is among the things that set Moss Cover.", "LM"),
    (
        "Soil Warmth was not written down, though it bears directly on Moss Cover as "
        "well as on Snail Count.",
        "SM SC",
    ),
    (
        "Two of the recorded quantities, Lamp Hours and Moss Cover, answer directly to "
        "Soil Warmth.",
        "SL SM",
    ),
    ("Part of what decides Moss Cover is Lamp Hours.", "LM"),
    ("Lamp Hours never touches Moss Cover directly.", ""),
    ("Fern Height is not affected by Lamp Hours.", ""),
    ("There is no doubt that Lamp Hours raises Moss Cover.", "LM"),
    ("Moss Cover is shaped directly by whether Lamp Hours is long.", "LM"),
    ("Do Lamp Hours affect Moss Cover?", ""),
    ("A grower doubts whether Lamp Hours affects Moss Cover.", ""),
]


@pytest.mark.parametrize(("sentence", "edges"), SENTENCES, ids=lambda value: str(value)[:60])
def test_a_sentence_is_read(sentence: str, edges: str) -> None:
    """One misread construction costs every story that uses it."""
    told = {(NAMES[pair[0]], NAMES[pair[1]]) for pair in edges.split()}
    assert set(read_story(sentence, list(NAMES.values())).edges) == told


TARN = """# The tarns

The Brindle Pressure of a tarn is set by its Gloam Salinity. Gloam Salinity also lowers the Veld
Drift, and Brindle Pressure pushes the Veld Drift up. No instrument has ever recorded the Gloam
Salinity. Keepers note the Brindle Pressure each morning, and the Veld Drift each evening."""

LIGHTHOUSE = """Above Karrow Bay stands a lighthouse, and people in Karrow Bay keep its log. The
Oskel brightness is noted in candela and the Vimmer fog density in percent.

Any change in the Vimmer fog density directly affects the Oskel brightness. The Tarn wind speed
is real enough, but has never been measured. The Vimmer fog density depends directly on the Tarn
wind speed. The Oskel brightness also depends directly on the Tarn wind speed. In Karrow Bay nobody
doubts it."""
OSKEL = ["oskel brightness", "vimmer fog density", "tarn wind speed"]


@pytest.mark.parametrize(
    ("story", "names", "edges"),
    [
        (TARN, ["brindle pressure", "gloam salinity", "veld drift"], {(0, 2), (1, 0), (1, 2)}),
        (LIGHTHOUSE, OSKEL, {(1, 0), (2, 1), (2, 0)}),
    ],
    ids=["every word", "the first word"],
)
def test_names_are_found_in_the_story_alone(story, names, edges):
    """A story-only task gives the number of variables and no names; places are not variables."""
    reading = read_story(story, (), len(names))
    assert {name.casefold() for name in reading.variables} == set(names)
    true = {(names[a], names[b]) for a, b in edges}
    assert {(a.casefold(), b.casefold()) for a, b in reading.edges} == true


@pytest.mark.parametrize(
    ("story", "measured", "hidden"),
    [
        (TARN, ["Brindle Pressure", "Veld Drift"], {"Gloam Salinity"}),
        (LIGHTHOUSE, ["Oskel brightness", "Vimmer fog density"], {"Tarn wind speed"}),
        ("Lamp Hours raises Moss Cover. Nobody doubts it.", ["Lamp Hours", "Moss Cover"], set()),
    ],
)
def test_unmeasured_names_are_found_beside_the_columns(story, measured, hidden):
    """A hidden common cause that goes unnoticed makes everything look identifiable."""
    assert read_story(story, measured).unmeasured == hidden


def test_the_longest_name_wins() -> None:
    """'Moss Cover' inside 'Old Moss Cover' would be read as a variable of its own."""
    names = ["Moss Cover", "Old Moss Cover"]
    assert mask("Old Moss Cover lowers moss cover.", names) == "<1> lowers <0>."


@pytest.mark.parametrize(
    ("story", "known"),
    [
        ('Corsin "flow" (net) raises Dusk; level.', ['Corsin "flow" (net)', "Dusk; level"]),
        ("A lifts Bee. Bee lifts A. A raises Bee.", ["A", "Bee"]),
        ("", ["A", "Bee"]),
    ],
    ids=["punctuation", "a circle, of which the statement told more often is kept", "nothing"],
)
def test_odd_stories_do_not_break_the_reading(story, known):
    """A name is whatever the table calls its column; graph algorithms raise on a cycle."""
    expected = ((known[0], known[1]),) if story else ()
    assert read_story(story, known).edges == expected
    assert discover("", (), 3) == () and sentences("# Title\n\n") == []
