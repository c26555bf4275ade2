"""What a task's declared inputs say, against the scene that it shows."""

from collections.abc import Iterator

from builder.gate.tables import SceneRow, TaskRow

_LISTS = ("observed", "available", "candidates")
_ROLES = ("treatment", "outcome", "conditioning_var", "variable")


def shown_problems(task: TaskRow, scene: SceneRow, private: bool) -> Iterator[str]:
    """The problems of one task: its test table, its lists, the names that it uses."""
    columns = [name for name, _ in scene.columns]
    inputs = task.inputs
    if task.family == "prediction":
        features = [name for name in columns if _concept(name) != inputs["outcome"]]
        if list(inputs["columns"]) != columns or list(scene.test_columns) != features:
            yield "test_features is not every column but the outcome"
        if inputs["rows"] != scene.rows[1]:
            yield f"{inputs['rows']} rows asked, test_features has {scene.rows[1]}"
        # A measured outcome has no column of its own.
        kind = dict(scene.columns).get(inputs["outcome"], inputs["outcome_kind"])
        if kind != inputs["outcome_kind"]:
            yield "the outcome's kind is not that of its column"
    elif private and scene.test_columns:
        yield "a private scene ships test_features that its task does not need"
    lists = [inputs.get(key, ()) for key in _LISTS]
    listed = [name for names in lists for name in names]
    named = {*listed, *(inputs[role] for role in _ROLES if role in inputs)}
    strange = sorted(named - {_concept(name) for name in columns}) if columns else []
    if strange or any(name not in task.prompt for name in named):
        yield f"names that no column or prompt has: {', '.join(strange)}"
    if any(len(set(names)) < len(names) for names in lists):
        yield "a list names a variable twice"


def _concept(column: str) -> str:
    """The variable that a column shows, be it by a measurement."""
    return column.partition("_meas_")[0]
