"""One scene for a person to look at: a self-contained HTML page, and a summary for a terminal."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from builder.causalds.make.equations import equation
from builder.causalds.show.pictures import graph_svg, recovery_svg

Row = Mapping[str, Any]

_HEAD_ROWS: Final = 8
_STYLE: Final = (
    "body{font:15px/1.5 sans-serif;max-width:72em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:.6em 0}td,th{border:1px solid #ccc;padding:.2em .6em;"
    "text-align:right}td:first-child,th:first-child{text-align:left}code{white-space:pre-wrap}"
    ".wide{overflow-x:auto}svg{max-width:100%;height:auto}h2{border-bottom:1px solid #ccc}"
)


@dataclass(frozen=True)
class SceneRows:
    """The rows of one scene as read from a release, the scene rows by view."""

    world: Row
    scenes: Mapping[str, Row]
    tasks: Sequence[Row]
    truths: Mapping[str, Row]


def page(rows: SceneRows) -> str:
    """The HTML page."""
    record = json.loads(rows.world["world_json"])
    names = {node: variable["name"] for node, variable in record["variables"].items()}
    story = next(iter(rows.scenes.values()))["story"]
    body = [
        f"<h1>{escape(str(rows.world['instance_id']))}</h1>",
        f"<p>{escape(_headline(rows.world, record))}</p>",
        "<h2>Graph</h2>",
        graph_svg(record),
        "<p>Blue: treatment. Orange: outcome. Dashed: never measured.</p>",
        "<h2>Background</h2>",
        *(f"<p>{escape(part)}</p>" for part in story.split("\n\n")),
        "<h2>Equations</h2>",
        *(
            f"<p><code>{escape(equation(node, names))}</code></p>"
            for node in record["world"]["nodes"]
        ),
        "<h2>Truths</h2>",
        _table(("quantity", "value", "standard error", "draws", "source"), _truths(record)),
        "<h2>Tasks</h2>",
        _table(("task", "view", "truth"), _tasks(rows)),
    ]
    for view, scene in rows.scenes.items():
        body += [f"<h2>View {escape(view)}</h2>", *_view(record, names, view, scene)]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(str(rows.world['instance_id']))}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(body)}</body></html>\n"
    )


def summary(rows: SceneRows) -> str:
    """The same in short, for a terminal."""
    record = json.loads(rows.world["world_json"])
    names = {node: variable["name"] for node, variable in record["variables"].items()}
    lines = [str(rows.world["instance_id"]), _headline(rows.world, record), ""]
    lines += [f"  {names[a]} -> {names[b]}" for a, b in record["world"]["edges"]]
    lines += ["", *(f"  {equation(node, names)}" for node in record["world"]["nodes"]), ""]
    lines += [f"  {' | '.join(row)}" for row in _truths(record)]
    for view, shown in record["views"].items():
        bundles = [
            f"{names[node]} by {len(bundle['measurements'])} columns "
            f"(least information {bundle['information']['least']:.3g})"
            for node, bundle in shown["bundles"].items()
        ]
        lines.append(f"  view {view}: {'; '.join(bundles) or 'every variable as it is'}")
    return "\n".join(lines)


def _headline(world: Row, record: Mapping[str, Any]) -> str:
    latent = [record["variables"][node]["name"] for node in record["world"]["latent"]]
    plan, (x0, x1) = record["plan"], record["levels"]
    return (
        f"structure {world['structure']} (motif {world['motif']}); effect of {world['treatment']} "
        f"on {world['outcome']}, {x0:g} against {x1:g}; never measured: "
        f"{', '.join(latent) or 'nothing'}; mechanisms {plan['continuous']} and {plan['binary']}"
    )


def _truths(record: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    told = record["quantities"]
    nodes = record["variables"]
    named = [(name, one) for name, one in told.items() if name not in ("partial", "change")]
    for kind in ("partial", "change"):
        named += [(f"{kind} given {nodes[z]['name']}", one) for z, one in told[kind].items()]
    for name, found in named:
        if found is None:
            yield name, "not identifiable", "", "", ""
        else:
            value, error = f"{found['value']:.6g}", f"{found['se']:.2g}"
            yield name, value, error, str(found["draws"]), found["source"]


def _tasks(rows: SceneRows) -> Iterable[tuple[str, ...]]:
    for task in rows.tasks:
        truth = rows.truths[task["task_id"]]
        told = "abstain" if truth["should_abstain"] else truth["target_json"]
        if truth["value"] is not None:
            told = f"{truth['value']:.6g}"
        yield f"{task['family']}.{task['variant']}", task["view"], told


def _view(record: Mapping[str, Any], names: Mapping[str, str], view: str, scene: Row) -> list[str]:
    shown, parts = record["views"][view], []
    for title, table in (
        ("data", scene["data"]),
        ("test features", scene["test_features"]),
        ("calibration", scene["calibration"]),
    ):
        if table:
            count = len(table[0]["values"])
            heads = [
                [f"{c['values'][i]:.4g}" for c in table] for i in range(min(_HEAD_ROWS, count))
            ]
            parts.append(f"<h3>{title}: {count:,} rows</h3>")
            parts.append(_table([c["name"] for c in table], heads))
    bars = []
    for node, bundle in shown["bundles"].items():
        told = bundle["information"]
        parts.append(
            f"<h3>{escape(names[node])}: measured</h3><p>Information on the support "
            f"[{bundle['support'][0]:.3g}, {bundle['support'][1]:.3g}]: least {told['least']:.3g}, "
            f"mean {told['mean']:.3g}, 10% quantile {told['q10']:.3g}, 25% quantile "
            f"{told['q25']:.3g}; accepted at draw {bundle['draws']}.</p>"
        )
        parts += [f"<p><code>{escape(_measurement(m, names[node]))}</code></p>"
                  for m in bundle["measurements"]]  # fmt: skip
        if "recoverability" in bundle:
            bars.append((names[node], bundle["recoverability"]))
    if bars:
        parts += ["<h3>Recoverability (R², AUC): naive and ceiling</h3>", recovery_svg(bars)]
    return parts


def _measurement(one: Mapping[str, Any], concept: str) -> str:
    node = {
        "name": "column",
        "parents": ["concept"],
        "mechanism": one["mechanism"],
        "parameters": one["parameters"],
        "noise": one["noise"],
    }
    return equation(node, {"column": one["column"], "concept": concept})


def _table(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body)
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'
