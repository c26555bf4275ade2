"""Implied stories say exactly their statements, to the verifier and to a plain reader."""

from dataclasses import replace

import numpy as np
import pytest

from builder.causal.motifs import MOTIFS, PLANTED
from builder.causalds.ask import prompt
from builder.implied import patterns
from builder.implied.second_names import second_names
from builder.implied.statements import Statement
from builder.implied.verify import verify_implied
from builder.reader import claims_of, read_story, reason
from builder.texts import Texts
from builder.words.draft import fill
from builder.words.fictional import invent_scene
from builder.words.naming import Namer
from builder.words.narration import Narration, Subject
from builder.words.types import Facts, Kind, Variable
from builder.words.verbalise import VERBALISERS

NAMES = {"a": "Ash heap", "b": "Bog oaks", "c": "Cup size", "m": "Mud", "u": "Fog"}


def _sentences() -> list[tuple[str, tuple[Statement, ...]]]:
    """Every pattern, filled, with what it says."""
    found = []
    for row in patterns.ROWS:
        for text in row.texts:
            for number in (0, 1, 3):
                slots, names, said = {}, {}, []
                for kind, used in row.says:
                    told, count = [], None
                    for slot in used:
                        if slot in "nk":
                            count = number
                            slots[slot] = Variable(slot, "continuous", plural=number > 1)
                            names[slot] = patterns.number_words(number)
                        elif slot == "list":
                            told += ["Bog oaks", "Mud"]
                            slots[slot] = Variable(slot, "continuous", plural=True)
                            names[slot] = "Bog oaks and Mud"
                        else:
                            told.append(NAMES[slot])
                            slots[slot] = Variable(NAMES[slot], "continuous", plural=slot == "b")
                            names[slot] = NAMES[slot]
                    said.append(patterns.statement(kind, told, count))
                plural = {slot: one.plural for slot, one in slots.items()}
                filled = fill(patterns.agreeing(text, plural), slots, names)
                for slot, value in (("people", "the bakers"), ("count", "five")):
                    filled = filled.replace(f"{{{slot}}}", value)
                found.append((filled[0].upper() + filled[1:] + ".", tuple(said)))
    return found


SENTENCES = _sentences()


def test_every_pattern_is_read_back_in_exactly_one_way() -> None:
    """A pattern that another could be taken for would make a story ambiguous."""
    variables = [Variable(name, "continuous") for name in NAMES.values()]
    for sentence, said in SENTENCES:
        masked = sentence.removesuffix(".")
        for i, name in enumerate(NAMES.values()):
            masked = masked.replace(name, f"«{i}»")
        assert set(patterns.readings(masked, variables)) == {said}, sentence


def test_a_reader_of_plain_english_takes_every_pattern_as_it_is_meant() -> None:
    """The logician's cues are written apart from the patterns."""
    for sentence, said in SENTENCES:
        assert set(claims_of(sentence, list(NAMES.values()))) == {s.what for s in said}, sentence


def test_every_kind_of_statement_can_be_told_alone() -> None:
    """What the generator chooses, the teller must be able to say."""
    alone = {row.says[0][0] for row in patterns.ROWS if len(row.says) == 1}
    assert len(alone) == 13


def test_the_legend_explains_every_wording() -> None:
    """The prompt explains what a pattern says, and that nothing goes in circles."""
    legend = " ".join(Texts(prompt.__file__).lines("implied.lines")).replace("*", "").lower()
    texts = " ".join(patterns.agreeing(text, {}) if "." not in text else text
                     for row in patterns.ROWS for text in row.texts)  # fmt: skip
    texts = texts.replace("[", "").replace("]", "")
    for words in (
        "directly on", "direct effect", "by way of", "difference to", "held still", "by hand",
        "no difference", "settled before", "fixed earlier than", "already settled", "by the time",
        "takes shape later", "leaves out", "at least one further measured thing",
        "no further measured thing", "measured things", "first", "then",
    ):  # fmt: skip
        assert words in texts and words in legend, words
    assert "nothing acts on itself: neither directly nor through a chain" in legend


def test_second_names_are_plain_nouns_of_one_thing() -> None:
    """ "The past" and "the spent" name nothing, nor does "the off" of a write-off."""
    names = ("Tunnel pressure", "Blast fishing past", "Retries spent", "Rooms booked", "Bed feed",
             "Loan write-off", "Stop waiting", "Witness no-shows", "Hall draughts", "Visit length",
             "Lock gate", "Oven gate", "Rate of decay", "Honey stores", "Wet spring")  # fmt: skip
    variables = [Variable(name, "continuous") for name in names]
    assert second_names(variables, ["The honey stores are full."]) == {
        "Tunnel pressure": "pressure",
        "Bed feed": "feed",
        "Hall draughts": "draughts",
        "Wet spring": "spring",
    }


def _told(name: str, words: str, share: float, seed: int) -> tuple[Narration, Subject]:
    motif = {**MOTIFS, **PLANTED}[name]
    rng = np.random.default_rng(seed)
    kinds: dict[str, Kind] = dict.fromkeys(motif.graph.nodes, "continuous")
    kinds[motif.treatment] = "binary"
    graph = motif.graph
    clear = frozenset((a, b) for a in graph.observed for b in graph.observed if a != b)
    subject = Subject(graph, kinds, implied=share, clear=clear)
    if words == "knowledge":
        subject = replace(subject, naming=Namer(rng, 40, "public").name(graph, kinds, seed))
    return VERBALISERS[words](subject, f"key {name} {seed}".encode()), subject


@pytest.fixture(scope="module")
def told() -> list[tuple[Narration, Subject]]:
    """Every motif, in names of the knowledge graph, invented names and letters."""
    words = ("knowledge", "knowledge", "fictional", "anonymous")
    return [
        _told(name, words[i % 4], (0.3, 0.6, 0.9)[i % 3], i)
        for i, name in enumerate([*MOTIFS, *PLANTED])
    ]


def _edges(narration: Narration, subject: Subject) -> set[tuple[str, str]]:
    names = {node: variable.name for node, variable in narration.variables.items()}
    return {(names[a], names[b]) for a, b in subject.graph.edges}


def test_the_logician_works_out_every_graph(told: list[tuple[Narration, Subject]]) -> None:
    """From text and measured names; the story implies what it does not say."""
    for narration, subject in told:
        measured = [narration.variables[node].name for node in subject.graph.observed]
        reading = reason(narration.telling.story, sorted(measured))
        assert reading is not None
        assert set(reading.edges) == _edges(narration, subject), narration.telling.story
        hidden = {narration.variables[node].name for node in subject.graph.latent}
        assert reading.unmeasured == hidden


def test_the_verifier_accepts_each_story_and_no_other(
    told: list[tuple[Narration, Subject]],
) -> None:
    """A remark lost, doubled or changed is noticed, whatever was recorded."""
    for narration, subject in told:
        assert narration.implied is not None
        facts = Facts(narration.variables, subject.graph.edges, subject.graph.latent)
        said, telling = narration.implied.statements, narration.telling

        def problems(
            story: str,
            facts: Facts = facts,
            said: tuple[Statement, ...] = said,
            narration: Narration = narration,
        ) -> list[str]:
            return verify_implied(story, narration.telling.attestations, facts, said)

        assert problems(telling.story) == []
        remark = next(a for a in telling.attestations if a.what[0] not in ("node", "unmeasured"))
        assert problems(telling.story.replace(remark.sentence, ""))
        assert problems(telling.story.replace(remark.sentence, f"{remark.sentence} " * 2))
        one, other = list(narration.variables.values())[:2]
        assert problems(f"{telling.story} {one.name} makes a difference to {other.name}.")


def test_trials_are_spoken_of_where_some_were_told(
    told: list[tuple[Narration, Subject]],
) -> None:
    """And no story says anything of directions or of reasons, for it gives none."""
    kinds = set()
    for narration, subject in told:
        assert narration.implied is not None
        telling = narration.telling
        end = telling.story.rsplit("\n\n", 1)[1]
        trials = "by hand" in telling.story.removesuffix(end)
        kinds.add(trials)
        assert trials == any(word in end for word in ("trials", "on other occasions"))
        assert "direction" not in telling.story and "a reason" not in telling.story
        facts = Facts(narration.variables, subject.graph.edges, subject.graph.latent)
        last = end.rsplit(". ", 1)[1]
        said = narration.implied.statements
        cut = telling.story.replace(f" {last}", "")
        assert verify_implied(cut, telling.attestations, facts, said)
    assert kinds == {False, True}


def test_the_logician_knows_whose_column_it_has_and_names_with_small_words() -> None:
    """What was "not seen" has a column; an unmeasured thing is called by all its words."""
    story = (
        "Rust is entered as 0 when it was not seen. People speak of Flu about town, too, which has "
        "never been measured. Rust acts directly on Mud. Flu about town, which was never measured, "
        "acts directly on Rust and Mud, and on nothing else here. Exactly one direct effect runs "
        "from one measured thing to another. Nothing left unnamed acts on more than one of these "
        "three things."
    )
    reading = reason(story, ["Mud", "Rust"])
    assert reading is not None
    assert reading.unmeasured == {"Flu about town"}
    assert set(reading.edges) == {
        ("Rust", "Mud"), ("Flu about town", "Rust"), ("Flu about town", "Mud"),
    }  # fmt: skip


def test_a_missed_name_acts_on_nothing_and_may_begin_with_a_small_word() -> None:
    """What a name that was not found acts on is nothing that another one acts on."""
    told = (
        "Near misses are real enough, but have never been measured. Near misses, never measured by "
        "anyone, act directly on Speed and Parking and on no other of these things. Exactly one of "
        "the measured things depends directly on Speed. No unnamed influence reaches two of these "
        "three things at once."
    )
    right = {("Near misses", "Speed"), ("Near misses", "Parking"), ("Speed", "Parking")}
    found = reason(told, ["Parking", "Speed"])
    assert found is not None and set(found.edges) == right
    lost = reason(told.replace("Near misses", "Nothing much"), ["Parking", "Speed"])
    assert lost is not None and set(lost.edges) == {("Speed", "Parking")}


def test_plain_stories_are_nothing_for_the_logician() -> None:
    """It says so, so that a reader may try it first."""
    rng = np.random.default_rng(0)
    _, variables = invent_scene(rng, {"X": "continuous", "Y": "continuous"})
    names = [variable.name for variable in variables.values()]
    assert reason(f"The {names[0]} directly affects the {names[1]}.", names) is None


def test_an_ordinary_reader_is_misled() -> None:
    """At a share of 0.6 it finds less than the prompt needs."""
    found = []
    for i, name in enumerate(["arrowhead", "diamond", "mediation", "diamondcut"]):
        narration, subject = _told(name, "fictional", 0.9, 40 + i)
        names = sorted(variable.name for variable in narration.variables.values())
        read, true = set(read_story(narration.telling.story, names).edges), _edges(
            narration, subject
        )  # fmt: skip
        found.append(2 * len(read & true) / (len(read) + len(true)))
    assert np.mean(found) < 0.6
