"""The formula language: what it accepts, what it means, and that size and depth cannot hurt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.tracks.replayscm.check import read, value
from grader.tracks.replayscm.boolean import (
    MAX_DEPTH,
    MAX_NODES,
    Formula,
    FormulaError,
    canonical,
    depth,
    equivalent,
    essential,
    operation,
    parse,
    size,
    to_text,
    truth_table,
    variable,
    variables,
)
from grader.tracks.replayscm.problem import make_program

NAMES = ("A", "B", "C", "D")


def formulas(leaves: st.SearchStrategy[Formula] | None = None) -> st.SearchStrategy[Formula]:
    def grow(children: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        several = st.lists(children, min_size=2, max_size=4)
        return st.one_of(
            children.map(lambda child: operation("not", child)),
            st.tuples(st.sampled_from(("and", "or", "xor", "iff")), several).map(
                lambda pair: operation(pair[0], *pair[1])
            ),
        )

    start = leaves or st.sampled_from(NAMES).map(variable)
    return st.recursive(start, grow, max_leaves=12)


@given(formulas())
def test_what_is_printed_is_read_back(formula: Formula) -> None:
    """Gold answers are printed formulas: a printer that lies breaks the truth."""
    assert parse(to_text(formula)) == formula


@given(formulas())
def test_a_truth_table_agrees_with_a_plain_interpreter(formula: Formula) -> None:
    """Bit sets are fast and easy to get wrong; dictionaries are slow and hard to get wrong."""
    tree = read(to_text(formula))
    table = truth_table(formula, NAMES)
    for pattern in range(16):
        row = {name: pattern >> place & 1 for place, name in enumerate(NAMES)}
        assert table >> pattern & 1 == value(tree, row)


@given(formulas())
def test_a_canonical_formula_is_the_same_function_and_stays_as_it_is(formula: Formula) -> None:
    """Hidden programs are published in this form; it must not change what they compute."""
    tidy = canonical(formula)
    assert equivalent(tidy, formula)
    assert canonical(tidy) == tidy
    assert size(tidy) <= size(formula)


@given(formulas())
def test_essential_variables_are_those_whose_flip_can_matter(formula: Formula) -> None:
    """Parent metrics rest on this, and a formula may mention more than it depends on."""
    tree = read(to_text(formula))
    for place, name in enumerate(NAMES):
        matters = any(
            value(tree, _row(pattern)) != value(tree, _row(pattern ^ 1 << place))
            for pattern in range(16)
        )
        assert (name in essential(formula)) == matters
    assert set(essential(formula)) <= variables(formula)


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
    assert truth_table(parse(text), ("A", "B", "C")) == table


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
    with pytest.raises(FormulaError) as refused:
        parse(text)
    assert refused.value.kind == "syntax"
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["(and " + "A " * 1_000_000 + ")", "(not " * 10_000 + "A" + ")" * 10_000, "(and A " * 3000],
)
def test_huge_and_deep_formulas_stop_at_the_limit_at_once(text: str) -> None:
    """A hostile answer must not reach the recursion limit; how the work grows is looked at in
    ``tests/grader/test_linear_work.py``."""
    with pytest.raises(FormulaError) as refused:
        parse(text)
    assert refused.value.kind == "limit"


def test_the_limits_themselves_are_allowed() -> None:
    """A prompt that promises 2,000 nodes and 200 levels has to keep it."""
    wide = parse(f"(and {' '.join(['A'] * (MAX_NODES - 1))})")
    assert size(wide) == MAX_NODES
    deep = parse("(not " * (MAX_DEPTH - 1) + "A" + ")" * (MAX_DEPTH - 1))
    assert depth(deep) == MAX_DEPTH
    assert truth_table(deep, ("A",)) == 0b01


def test_equal_programs_have_one_order_in_every_process() -> None:
    """Sets of texts are in another order in each process; answers are known by this one."""
    names = [f"V{k}" for k in range(1, 8)]
    formulas = {"A": parse(f"(and {' '.join(names)})"), **{name: parse("R") for name in names}}
    assert make_program(["R"], formulas).order == (*names, "A")
