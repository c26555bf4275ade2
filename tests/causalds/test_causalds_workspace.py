"""The calibration rows reach the test taker."""

import duckdb
import pyarrow.parquet as pq
from causalds_scenes import by_view, scene_in_views, values, world

from grader import workspace


def test_a_workspace_holds_the_calibration_rows_of_a_measuring_view(tmp_path) -> None:
    """Without them nobody could learn what a measurement means."""
    one = scene_in_views(0)
    for view, row in by_view(one).items():
        if not row["calibration"]:
            continue
        out = tmp_path / f"{view}.parquet"
        with duckdb.connect() as connection:
            table = [(column["name"], column["values"]) for column in row["calibration"]]
            workspace._write_table(connection, table, out)
        written = pq.read_table(out)
        assert written.num_rows == len(world(one)["views"][view]["calibration"])
        for name, column in values(row, "calibration").items():
            assert written.column(name).to_pylist() == column.tolist()
