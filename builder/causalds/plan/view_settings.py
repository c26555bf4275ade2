"""The ``observation`` table: settings of the measuring views, checked before any work starts."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from builder.causalds.make.measure import OUTCOME_FACTOR, attainable
from builder.causalds.views import VIEWS, Thresholds, View
from builder.settings import TomlModel, TomlTable
from builder.values import Ordered, Share

_Concepts = Annotated[int, Field(ge=1, le=100)]
_Columns = Annotated[int, Field(ge=1, le=20)]
_Noise = Annotated[float, Field(ge=1e-3, le=1e3)]


class _Changes(TomlModel):
    """The settings of a view that are changed."""

    concepts: Annotated[tuple[_Concepts, _Concepts], Ordered] | None = None
    columns: Annotated[tuple[_Columns, _Columns], Ordered] | None = None
    noise: Annotated[tuple[_Noise, _Noise], Ordered] | None = None
    calibration: Share | None = None
    thresholds: Thresholds | None = None


class Observation(TomlModel):
    """The settings of views by name; ``clean`` has none."""

    proxy: _Changes | None = None
    proxy_hard: _Changes | None = None


def view_of(name: str, observation: Observation, measured: float, table: TomlTable) -> View:
    """A view with its settings.

    Raises ``UsageError`` for thresholds that no bundle of these settings meets, none for a
    ``measured`` outcome where there is to be one.
    """
    view, changed = VIEWS[name], getattr(observation, name, None)
    if changed is None:
        return view
    view = replace(view, **{key: getattr(changed, key) for key in changed.model_fields_set})
    if not attainable(view):
        what = (
            f"no bundle of {view.columns[1]} columns with noise from {view.noise[0]:g} to "
            f"{view.noise[1]:g} meets them; lower them, lower the noise, or allow more columns"
        )
    elif measured and not attainable(view, outcome=True):
        what = (
            "no bundle meets them for a measured outcome, for which they count "
            f"{OUTCOME_FACTOR:g} times; lower them, or the noise, allow more columns, or set "
            "outcome_measured = 0"
        )
    else:
        return view
    raise table.problem(f"observation.{name}.thresholds", what)
