"""Tables of answers are read a batch at a time, and say what they say all at once."""

import pyarrow as pa
import pyarrow.parquet as pq

from grader.answers import parquet_answers
from grader.io import parquet
from grader.pipeline import grade
from grader.reports import table


def test_a_table_is_read_in_batches_in_its_order(dev, gold, tmp_path, monkeypatch):
    """Strangers, doubles and answers of null stand between those that are read."""
    names = [path.name for path in sorted(gold.iterdir()) if path.name != "run.json"][::-1]
    rows = [(name.split(".")[0], (gold / name).read_text(encoding="utf-8")) for name in names]
    rows[2:2] = [("cds-stranger", "{}"), rows[1], (rows[5][0], None)]
    columns = {"task_id": [row[0] for row in rows], "answer": [row[1] for row in rows]}
    folder = tmp_path / "packed"
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "answers.parquet", row_group_size=4)
    whole = grade(dev, folder)
    assert len(whole.answers_sha256) == 64
    for module, name in (
        (table, "_ROWS_AT_ONCE"),
        (parquet_answers, "_ROWS_AT_ONCE"),
        (parquet, "_ROWS_AT_ONCE"),
    ):
        monkeypatch.setattr(module, name, 2)
    again = grade(dev, folder)
    assert (again.report, again.scores) == (whole.report, whole.scores)
    assert again.answers_sha256 == whole.answers_sha256
    assert whole.report["census"]["invalid_reasons"] == {"duplicate_answer": 2}
    assert whole.report["census"]["scored"] == len(names) - 2
