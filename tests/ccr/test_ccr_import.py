"""Importing the reference's raw tables: miniatures of them, built from what is known of them."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest

from builder.cli.main import main
from builder.importing.ccr.tasks import import_tables
from grader.errors import UsageError

HEADER = [
    "Task ID", "Context ID", "Sample ID", "Replicate ID", "Nodes per BCC", "DAG adjacency matrix",
    "DAG nodes", "CCT adjacency matrix", "CCT nodes", "Exogenous variables",
    "Bernoulli parameters", "Global quantity", "Local quantities", "Compositions",
    "Causal context", "Sample context", "Factual queries", "Interventional queries (cause = True)",
    "Interventional queries (cause = False)",
]  # fmt: skip

FLU = (
    "A group of friends is considering whether or not to get vaccinated against the flu this year. "
    "Ann will get vaccinated if she had a high fever or bronchitis for at least 4 days in the "
    "previous flu season. Bea will get vaccinated if she had a high fever or bronchitis for at "
    "least 5 days in the previous flu season or if Ann gets vaccinated. Cam will get vaccinated if "
    "she had a high fever or bronchitis for at least 6 days in the previous flu season and Ann "
    "gets vaccinated and Bea gets vaccinated. Dot will get vaccinated if she had a high fever or "
    "bronchitis for at least 7 days in the previous flu season or if Cam gets vaccinated. "
)
NOTES = (
    "Chronic disease QQ11QQ sometimes requires surgical intervention, depending on genetics, "
    "patient history, vital signs, and lab results. The patient will experience significant pain "
    "(rated greater than or equal to 8/10) if they carry allele UUU1, a genetic marker for severe "
    "QQ11QQ. If the patient self-reports significant pain or the patient carries allele UUU2, then "
    "lab AB12 will be elevated (greater than 1.25 mg/dL). If the patient self-reports significant "
    "pain or AB12 is elevated or the patient has a family history of UUU3, then vital CD34 will be "
    "low (less than 0.5 mg/dL). If CD34 is low and the patient has previously received surgery for "
    "UUU4, then the surgeon will recommend surgery. Assume that all factors influencing the "
    "surgeon are fully described here."
)
PARTY = (
    "Ann, Bea, Cam, and Dot are going to a party, where the host is going to distribute candies. "
    "Ann will be happy if she gets at least 4 candies. Bea will be happy if Ann is happy or if he "
    "gets at least 5 candies. Cam will be happy if Ann is happy or if Bea is happy or if she gets "
    "at least 6 candies. Dot will be happy if she gets at least 7 candies and Cam is happy."
)
MATRIX = "[[0. 1. 1. 0.]\n [0. 0. 1. 0.]\n [0. 0. 0. 1.]\n [0. 0. 0. 0.]]"


def flu_sample(fever: tuple[int, int, int, int]) -> str:
    told = [
        f"{name} had a cough for 9 days, bronchitis for {n} days, a low-grade fever for 9 days, "
        f"a runny nose for 8 days, a high fever for {n} days, and stomach pain for 9 days. "
        for name, n in zip(("Ann", "Bea", "Cam", "Dot"), fever, strict=True)
    ]
    return " During the previous flu season, " + "".join(told)


def note_sample(codes: str) -> str:
    return (
        "Now, we will review the history and physical notes for patient Ed Lo. Pain was rated "
        "9/10. "
        f"Genetic Screening: Patient carries alleles {codes}, ZZZ9. Family History: UUU3, ZZ11. "
        "Medications: ABC 50 mg/day. Past Surgical History: Prior surgeries for YYY1."
    )


def row(**cells: str) -> dict[str, str]:
    names = "['Ann', 'Bea', 'Cam', 'Dot']"
    known = {
        "Context ID": "0", "Sample ID": "0", "DAG adjacency matrix": MATRIX, "DAG nodes": names,
        "Exogenous variables": "['U1', 'U2', 'U3', 'U4']",
        "Bernoulli parameters": "[np.float64(0.4), 0.5, 0.6, 0.7]",
        "Causal context": FLU, "Sample context": flu_sample((9, 2, 7, 3)),
    }  # fmt: skip
    return dict.fromkeys(HEADER, "") | known | cells


NOTE_ROW = {
    "DAG nodes": "['pain', 'AB12', 'CD34', 'surgery']",
    "Exogenous variables": "['UUU1', 'UUU2', 'UUU3', 'UUU4']",
    "Causal context": NOTES,
    "Sample context": note_sample("UUU1"),
}


def write(folder: Path, *rows: dict[str, str]) -> Path:
    path = folder / "raw.csv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    return path


def contexts(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "contexts.jsonl").read_text().splitlines()]


def samples(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]


def test_a_flu_vaccine_table_gets_exact_truth(tmp_path: Path) -> None:
    """Functions come from the sentences, truth from the functions; replicates count once."""
    second = row(**{"Sample ID": "1", "Sample context": flu_sample((2, 2, 7, 9))})
    table = write(tmp_path, row(), row(**{"Replicate ID": "1"}), second)
    said = import_tables([table], tmp_path / "out")
    assert said.endswith("1 contexts and 2 samples from 3 rows")
    (context,) = contexts(tmp_path / "out")
    assert context["theme"] == "FluVaccine" and context["tree"] == ["Ann", "Cam", "Dot"]
    found = {(q["cause"], q["effect"]): Fraction(q["pns"]) for q in context["quantities"]}  # type: ignore[attr-defined]
    # Cam = u and Ann and Bea, Bea = u or Ann: Ann raises Cam exactly when Cam's bit is one.
    assert found["Ann", "Cam"] == Fraction(6, 10)
    assert found["Cam", "Dot"] == Fraction(3, 10)
    assert found["Ann", "Dot"] == Fraction(18, 100)
    first, other = samples(tmp_path / "out")
    assert first["bits"] == "1010" and other["bits"] == "0011"
    answers = {(a["cause"], a["effect"]): a for a in first["answers"]}  # type: ignore[attr-defined]
    assert answers["Ann", "Dot"] == {"cause": "Ann", "effect": "Dot", "factual": True,
                                     "do_true": True, "do_false": False}  # fmt: skip


def test_a_clinical_notes_table(tmp_path: Path) -> None:
    """All *or*, the leaf *and*; codes that are listed are present."""
    import_tables([write(tmp_path, row(**NOTE_ROW))], tmp_path / "out")
    (context,) = contexts(tmp_path / "out")
    assert context["tree"] == ["pain", "CD34", "surgery"]
    assert context["model"]["own"] == ["or", "or", "or", "and"]  # type: ignore[index]
    (sample,) = samples(tmp_path / "out")
    assert sample["bits"] == "1010"


def test_a_candy_party_table(tmp_path: Path) -> None:
    """The paper's sentences, parents first or last."""
    cells = {"Causal context": PARTY,
             "Sample context": "After distributing the candies, Ann gets 4, Bea gets 4, "
                               "Cam gets 9, and Dot gets 7."}  # fmt: skip
    import_tables([write(tmp_path, row(**cells))], tmp_path / "out")
    (context,) = contexts(tmp_path / "out")
    assert context["model"]["own"] == ["or", "or", "or", "and"]  # type: ignore[index]
    assert samples(tmp_path / "out")[0]["bits"] == "1011"


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"Causal context": FLU + "Eve will get vaccinated on Sundays. "}, "unknown sentence 'Eve"),
        ({"Causal context": "Once upon a time."}, "unknown theme"),
        ({"Causal context": FLU.replace("and Bea gets", "or Bea gets")}, "unknown conditions"),
        ({"Causal context": FLU.replace("or if Cam", "or if Bea")}, "adjacency matrix differ"),
        ({"Bernoulli parameters": "[0.4, 0.5, 0.6, 0.75]"}, "no tenth"),
        ({"DAG nodes": "['Ann', 'Bea', 'Cam', 'Eve']"}, "differ on"),
        ({"Sample context": "During the previous flu season, it rained."}, "unknown sentence"),
        (
            {"Sample context": flu_sample((9, 2, 7, 3)).replace("Dot had", "Eve had")},
            "unknown sample",
        ),
        ({"DAG adjacency matrix": "__import__('os')"}, "malformed"),
    ],
)
def test_what_is_not_known_is_an_error_that_names_the_row(
    tmp_path: Path, cells: dict[str, str], problem: str
) -> None:
    """A guess would publish a wrong truth under the reference's name."""
    table = write(tmp_path, row(), row(**cells))
    with pytest.raises(UsageError) as refused:
        import_tables([table], tmp_path / "out")
    assert "raw.csv: row 2: " in str(refused.value) and problem in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_an_import_leaves_the_limit_of_other_readers_alone(tmp_path: Path) -> None:
    """Raised for good, it would let an oversized answer through in the same process."""
    before = csv.field_size_limit()
    import_tables([write(tmp_path, row())], tmp_path / "out")
    with pytest.raises(UsageError):
        import_tables([write(tmp_path, row(**{"DAG nodes": "[]"}))], tmp_path / "again")
    assert csv.field_size_limit() == before


def test_colliding_context_ids_are_seen(tmp_path: Path) -> None:
    """Equal sizes collide under one id in the reference: two models, one name."""
    other = row(**{"Bernoulli parameters": "[0.5, 0.5, 0.6, 0.7]"})
    with pytest.raises(UsageError, match="two different models"):
        import_tables([write(tmp_path, row(), other)], tmp_path / "out")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a user types."""
    table = write(tmp_path, row())
    assert main(["import-ccr", str(table), "--out", str(tmp_path / "out")]) == 0
    assert "1 contexts and 1 samples" in capsys.readouterr().out
    assert main(["import-ccr", str(tmp_path / "absent.csv"), "--out", str(tmp_path / "o")]) == 2
