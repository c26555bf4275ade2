"""The calibration rows reach the test taker."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from causalds_scenes import by_view, scene_in_views, values, world

from builder.tracks.causalds.track import TRACK
from grader import workspace


def test_a_workspace_holds_the_calibration_rows_of_a_measuring_view(tmp_path) -> None:
    """Without them nobody could learn what a measurement means."""
    one = scene_in_views(0)
    file = tmp_path / "scenes.parquet"
    table = pa.Table.from_pylist(
        list(by_view(one).values()), schema=TRACK.tables["causalds_scenes"]
    )
    pq.write_table(table, file)
    for view, row in by_view(one).items():
        with duckdb.connect() as connection:
            place = row["instance_id"], view
            workspace._read_scenes(connection, [file], [place])
            scene = workspace._read_scene(connection, *place)
            assert scene["calibration"] == [c["name"] for c in row["calibration"]]
            if not scene["calibration"]:
                continue
            out = tmp_path / f"{view}.parquet"
            workspace._write_table(connection, "calibration", scene["calibration"], out)
            written = pq.read_table(out)
            assert written.num_rows == len(world(one)["views"][view]["calibration"])
            for name, column in values(row, "calibration").items():
                assert written.column(name).to_pylist() == column.tolist()
