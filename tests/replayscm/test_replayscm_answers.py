"""The formula language, and hostile answers: each stops at its documented stage, quickly."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from puzzles import Item, extra, grade, of_pool

from builder.tracks.replayscm.check import read, value
from grader.answers.check import REASONS
from grader.io import jsonio
from grader.scoring.score import score_answer
from grader.tracks.replayscm import boolean
from grader.tracks.replayscm import submission as extraction
from grader.tracks.replayscm.problem import make_program
from grader.tracks.replayscm.submission import STAGES

NAMES = ("A", "B", "C", "D")


def formulas() -> st.SearchStrategy[boolean.Formula]:
    def grow(children: st.SearchStrategy[boolean.Formula]) -> st.SearchStrategy[boolean.Formula]:
        several = st.lists(children, min_size=2, max_size=4)
        return st.one_of(
            children.map(lambda child: boolean.operation("not", child)),
            st.tuples(st.sampled_from(("and", "or", "xor", "iff")), several).map(
                lambda pair: boolean.operation(pair[0], *pair[1])
            ),
        )

    return st.recursive(st.sampled_from(NAMES).map(boolean.variable), grow, max_leaves=12)


@given(formulas())
def test_a_formula_is_printed_tabulated_and_tidied_as_the_same_function(formula):
    """Gold answers are printed formulas in canonical form."""
    assert boolean.parse(boolean.to_text(formula)) == formula
    tree, table = read(boolean.to_text(formula)), boolean.truth_table(formula, NAMES)
    assert [table >> pattern & 1 for pattern in range(16)] == [
        value(tree, _row(pattern)) for pattern in range(16)
    ]
    tidy = boolean.canonical(formula)
    assert boolean.equivalent(tidy, formula)
    assert boolean.canonical(tidy) == tidy
    assert boolean.size(tidy) <= boolean.size(formula)


@given(formulas())
def test_essential_variables_are_those_whose_flip_can_matter(formula: boolean.Formula) -> None:
    """Parent metrics rest on this, and a formula may mention more than it depends on."""
    tree = read(boolean.to_text(formula))
    for place, name in enumerate(NAMES):
        matters = any(
            value(tree, _row(pattern)) != value(tree, _row(pattern ^ 1 << place))
            for pattern in range(16)
        )
        assert (name in boolean.essential(formula)) == matters
    assert set(boolean.essential(formula)) <= boolean.variables(formula)


def _row(pattern: int) -> dict[str, int]:
    return {name: pattern >> place & 1 for place, name in enumerate(NAMES)}


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("(xor A B C)", 0b10010110),
        ("(iff A B C)", 0b10000001),
        ("(and A B C)", 0b10000000),
        ("(or A B C)", 0b11111110),
        ("(not A)", 0b01010101),
    ],
)
def test_operators_of_three_arguments_mean_what_the_prompt_says(text: str, table: int) -> None:
    """xor is parity, iff says that all are equal: nested readings would differ."""
    assert boolean.truth_table(boolean.parse(text), ("A", "B", "C")) == table


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "(", ")", "()", "(and)", "(and A)", "(not A B)", "(nand A B)", "A B", "(and A B",
        "(and A B))", "and", "1", "(and A 1)", "(and A, B)", "A & B", "(AND A B)", "(and A ())",
        "¬A", "(not)", "((and A B))", "(A and B)", "\x00",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused_with_a_one_line_message(text: str) -> None:
    """A formula that is half read would be scored as something nobody wrote."""
    with pytest.raises(boolean.FormulaError) as refused:
        boolean.parse(text)
    assert refused.value.kind == "syntax"
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["(and " + "A " * 1_000_000 + ")", "(not " * 10_000 + "A" + ")" * 10_000, "(and A " * 3000],
)
def test_huge_and_deep_formulas_stop_at_the_limit_at_once(text: str) -> None:
    """A hostile answer must not reach the recursion limit."""
    with pytest.raises(boolean.FormulaError) as refused:
        boolean.parse(text)
    assert refused.value.kind == "limit"


def test_the_limits_themselves_are_allowed() -> None:
    """A prompt that promises 2,000 nodes and 200 levels has to keep it."""
    wide = boolean.parse(f"(and {' '.join(['A'] * (boolean.MAX_NODES - 1))})")
    assert boolean.size(wide) == boolean.MAX_NODES
    deep = boolean.parse("(not " * (boolean.MAX_DEPTH - 1) + "A" + ")" * (boolean.MAX_DEPTH - 1))
    assert boolean.depth(deep) == boolean.MAX_DEPTH
    assert boolean.truth_table(deep, ("A",)) == 0b01


def test_equal_programs_have_one_order_in_every_process() -> None:
    """Sets of texts are in another order in each process; answers are known by this one."""
    names = [f"V{k}" for k in range(1, 8)]
    formulas = {
        "A": boolean.parse(f"(and {' '.join(names)})"),
        **{name: boolean.parse("R") for name in names},
    }
    assert make_program(["R"], formulas).order == (*names, "A")


def gold(item: Item) -> dict[str, Any]:
    return {"mechanisms": dict(item.truth.target["gold"])}


def stage_of(item: Item, answer: Any) -> tuple[str, str, int]:
    """The first stage that failed (or ``valid``), the reason, and whether JSON was strict."""
    checked, result = grade(item, answer)
    figures = extra(result)
    failed = next((stage for stage in STAGES if not figures[stage]), "valid")
    if failed != "valid":
        assert result.status == "invalid" and result.points == 0
        assert checked.reason in REASONS
        assert item.task.answer_file in checked.message and "\n" not in checked.message
    return failed, result.reason, figures["strict_json"]


def changed(item: Item, text: str, *, child: str | None = None) -> dict[str, Any]:
    """The gold answer with one mechanism replaced."""
    answer = gold(item)
    answer["mechanisms"][child or sorted(answer["mechanisms"])[0]] = text
    return answer


def hostile(item: Item) -> list[tuple[str, Any, str, str]]:
    roots = item.task.inputs["roots"]
    order = item.task.inputs["order"]
    first, last = order[3], order[-1]
    answer = gold(item)
    text = json.dumps(answer)
    missing = {"mechanisms": {k: v for k, v in answer["mechanisms"].items() if k != last}}
    root = roots[0]
    five = " ".join([*roots, order[3], order[4]])
    child = answer["mechanisms"][last]
    return [
        ("empty", "", "extracted_json", "empty"),
        ("no JSON", "I cannot tell.", "extracted_json", "not_json"),
        ("no UTF-8", b"\xff\xfe{}", "extracted_json", "encoding"),
        ("cut off", text[:-2], "extracted_json", "not_json"),
        ("a list", "[1, 2]", "extracted_json", "not_object"),
        ("deep JSON", '{"a":' * 100_000 + "1" + "}" * 100_000, "extracted_json", "too_deep"),
        ("NaN", '{"mechanisms": NaN}', "extracted_json", "non_finite"),
        ("duplicate key", text[:-2] + f', "{last}": "{root}"}}}}', "extracted_json",
         "duplicate_key"),
        ("other members", {"programs": answer["mechanisms"]}, "schema", "schema"),
        ("formulas as lists", {"mechanisms": {last: ["and", root]}}, "schema", "schema"),
        ("many keys", {"mechanisms": {f"X{k}": root for k in range(5000)}}, "schema", "schema"),
        ("missing variable", missing, "keys", "wrong_variables"),
        ("a root's mechanism", changed(item, roots[1], child=root), "keys", "wrong_variables"),
        ("an extra variable", changed(item, root, child="X99"), "keys", "wrong_variables"),
        ("million nodes", changed(item, f"(and {root} {root} " + f"{root} " * 300_000 + ")"),
         "parse", "formula_limit"),
        ("depth 10,000", changed(item, "(not " * 10_000 + root + ")" * 10_000), "parse",
         "formula_limit"),
        ("unknown operator", changed(item, f"(nand {root} {roots[1]})"), "parse", "formula"),
        ("infix", changed(item, f"{root} and {roots[1]}"), "parse", "formula"),
        ("constant", changed(item, "1"), "parse", "formula"),
        ("unknown variable", changed(item, f"(and {root} X99)"), "legal", "illegal_reference"),
        ("self-loop", changed(item, f"(and {root} {last})", child=last), "legal",
         "illegal_reference"),
        ("later variable", changed(item, f"(and {root} {last})", child=first), "legal",
         "illegal_reference"),
        ("five variables", changed(item, f"(xor {five})", child=last), "legal",
         "too_many_variables"),
        ("wrapper prose", f"Here it is:\n```json\n{text}\n```\nGood luck!", "valid", ""),
        ("two objects", '{"mechanisms": {}} ' + text, "valid", ""),
        ("fitting before unfitting", text + ' {"note": {"a": 1}}', "valid", ""),
        ("nested in another object", json.dumps({"answer": answer}), "valid", ""),
        ("nested, and no program", json.dumps({"answer": missing}), "keys", "wrong_variables"),
        ("as a JSON string", json.dumps("Answer: " + text), "valid", ""),
        ("members nobody asked for", {**answer, "explanation": "x"}, "valid", ""),
        ("four variables with padding", changed(
            item, f"(and {child} (or {root} (not {root})))", child=last), "any", ""),
    ]  # fmt: skip


def test_every_hostile_answer_stops_at_its_stage() -> None:
    """The funnel says where systems fail; a wrong stage, or a crash, misleads everyone."""
    item = of_pool("Ord-Full")[0]
    for name, answer, stage, reason in hostile(item):
        found = stage_of(item, answer)
        if stage != "any":
            assert found[:2] == (stage, reason), name
        assert found[2] == int(isinstance(answer, dict)), name


def test_the_first_executable_object_of_a_response_is_its_answer() -> None:
    """Table A.3: neither the last object, nor the first of the right form, nor the best replay."""
    item = of_pool("Ord-Full")[0]
    root, last = item.task.inputs["roots"][0], item.task.inputs["order"][-1]
    right = json.dumps(gold(item))
    wrong = json.dumps({"mechanisms": dict.fromkeys(item.truth.target["gold"], root)})
    broken = json.dumps(changed(item, f"(and {root} {last})", child=last))
    for response, points in (
        (f"{right} or rather {wrong}", 1),
        (f"{wrong} or rather {right}", 0),
        (f"{broken} I mean {right} not {wrong}", 1),
        (f"The set {{{root}, {last}}}: {{}} " * 300 + right, 1),
    ):
        assert stage_of(item, response)[0] == "valid"
        assert item.grade(response).points == points
    padding = json.dumps({"notes": [0] * 999})
    assert stage_of(item, f"{{}} {broken} {padding}")[0] == "legal", "what fits the schema is best"


def test_mentioning_counts_for_legality_even_without_effect() -> None:
    """Legality is about the text, so that a person can check it at a glance."""
    item = of_pool("Hid-Full")[0]
    a, b = sorted(item.truth.target["gold"])[:2]
    root = item.task.inputs["roots"][0]
    answer = gold(item)
    answer["mechanisms"] |= {a: f"(or {root} (and {b} (not {b})))", b: a}
    assert stage_of(item, answer)[:2] == ("acyclic", "cyclic")


@pytest.mark.parametrize("roots", [["X1"], ["X1", "X1", "X2"], ["X1", "X2", "X99"], []])
def test_declared_roots_must_be_three_different_variables(roots: list[str]) -> None:
    """Declaring every variable a root would copy every cell and be vacuously exact."""
    item = of_pool("Hid-Roots")[0]
    assert stage_of(item, {**gold(item), "roots": roots})[:2] == ("keys", "wrong_roots")


def test_wrong_roots_with_their_mechanisms_are_valid_but_not_solved() -> None:
    item = of_pool("Hid-Roots")[0]
    right = item.truth.target["roots"]
    other = next(name for name in item.names if name not in right)
    roots = [other, *right[1:]]
    mechanisms = {name: roots[0] for name in item.names if name not in roots}
    result = item.grade({"roots": roots, "mechanisms": mechanisms})
    assert result.status == "scored" and result.points == 0
    assert extra(result)["root_exact"] == 0


@pytest.mark.parametrize(
    "text",
    [
        '{"' * 300_000, '{"a":"' + '\\"' * 400_000, "{" * 900_000, '{"a":[' * 150_000,
        "so: " + '{"a":' * 40_000 + "1" + "}" * 40_000, "{'a':[]}" * 120_000,
    ],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_a_mebibyte_of_nested_fragments_takes_bounded_work(text, monkeypatch):
    """Looking for an object in wrapper text must not become quadratic."""
    search, strict, looked_at = extraction._end_of_object, jsonio.parse_strict, [0]

    def counted_search(*arguments: Any) -> tuple[int | None, int]:
        end, scanned = search(*arguments)
        looked_at[0] += scanned
        return end, scanned

    def counted_parse(data: bytes) -> Any:
        looked_at[0] += len(data)
        return strict(data)

    monkeypatch.setattr(extraction, "_end_of_object", counted_search)
    monkeypatch.setattr(extraction, "parse_strict", counted_parse)
    assert stage_of(of_pool("Ord-Full")[0], text)[0] == "extracted_json"
    assert len(text) < looked_at[0] <= 2 * (extraction.MAX_SCANNED + len(text))


def test_no_answer_counts_in_every_denominator() -> None:
    """What is not answered is not valid, and does not leave the tables."""
    item = of_pool("Ord-Full")[0]
    result = score_answer(item.task, item.truth, None)
    assert result.status == "missing"
    assert "determined" in extra(result) and "train_exact" not in extra(result)
