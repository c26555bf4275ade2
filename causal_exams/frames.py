"""A nested table of a release as a pandas ``DataFrame``."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def to_frame(table: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return a scene's table as a ``DataFrame``; raises ``ValueError`` for unequal columns.

    ``table`` is the cell as ``datasets``, DuckDB or pyarrow give it: ``{name, values}`` a column.
    """
    import pandas as pd

    return pd.DataFrame({column["name"]: column["values"] for column in table})
