"""A nested table of a release as a pandas ``DataFrame``.

A scene's tables (``data``, ``test_features``, ``calibration`` of a config ``<track>_scenes``) are
lists of ``{name, values}``, one entry a column, so that one row holds a whole table of any width.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def to_frame(table: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return the table as a ``DataFrame``: one row per unit, one column per entry, in its order.

    ``table`` is the cell as ``datasets``, DuckDB or pyarrow give it. Needs pandas. Raises
    ``ValueError`` where the columns are not of one length.
    """
    import pandas as pd

    return pd.DataFrame({column["name"]: column["values"] for column in table})
