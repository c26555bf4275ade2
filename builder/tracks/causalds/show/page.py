"""Show one scene of a release to a person: a self-contained HTML page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from builder.release.reader import every_shard, rows, rows_where
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.pages import page as draw
from grader.pages.graph import layered_graph
from grader.pages.page import Block, Paragraph, Section, Strong
from grader.pages.svg import Scale, Svg, element, words
from grader.pages.table import Cell, Table
from grader.tracks.causalds.tables import world_graph

_TARGET_WINDOW: Final = (0.3, 0.8)
"""The recoverability that is aimed at, shown as a band behind the bars."""


def recovery_picture(bars: Sequence[tuple[str, Mapping[str, float]]]) -> Svg:
    """Draw naive and joint recoverability, gap and target window, as in paper Fig. 6. ``bars`` pair
    variable names with the result of ``make.observe.recoverability``."""
    left, row = 190, 46
    height = 40 + row * len(bars)
    x = Scale(0, 1, left, left + 420)
    low, high = map(x, _TARGET_WINDOW)
    window = "fill:var(--fair);fill-opacity:.2"
    parts = [element("rect", x=low, y=8, width=high - low, height=height - 34, style=window)]
    for i, (name, found) in enumerate(bars):
        y = 14 + row * i
        parts.append(words(left - 8, y + 20, name, anchor="end", room=left - 16))
        for key, opacity, offset in (("naive", 0.4, 0), ("joint", 1, 16)):
            size = x(min(max(found[key], 0.0), 1.0)) - left
            style = f"fill:var(--mark);fill-opacity:{opacity}"
            hover = f"{key} {found[key]:.3f}"
            parts.append(
                element("rect", "", hover, x=left, y=y + offset, width=size, height=14, style=style)
            )
        parts.append(words(x.end + 8, y + 20, f"Δ {found['gap']:.2f}"))
    for tick in range(6):
        parts.append(words(x(tick / 5), height - 8, f"{tick / 5:.1f}", "axis", "middle"))
    return Svg("recoverability", x.end + 110, height, parts)


Row = Mapping[str, Any]


def inspect_scene(release: Path, scene: str) -> tuple[str, str]:
    """Return an HTML page about a scene, and its id and headline as text. ``scene`` is its id or
    ``split/index``. Raises ``UsageError`` when the release holds no worlds, or not this one."""
    world, split = _find_world(release, scene)
    paths = every_shard(release, "causalds_scenes").get(split, [])
    story = next(iter(rows_where(paths, "instance_id", world["instance_id"])))["story"]
    record = json.loads(world["world_json"])
    names = {node: variable["name"] for node, variable in record["variables"].items()}
    colours = Paragraph("Blue: treatment. Orange: outcome. Dashed: never measured.", note=True)
    equations = [equation(node, names) for node in record["world"]["nodes"]]
    columns = ("quantity", "value", "standard error", "draws", "source")
    sections = [
        Section("Graph", [layered_graph(world_graph(record)), colours]),
        Section("Background", [Paragraph(part) for part in story.split("\n\n")]),
        Section("Equations", [_formulas("", equations)]),
        Section("Truths", [Table("", columns, list(_quantity_lines(record)))]),
        *(Section(f"View {name}", _view(one, names)) for name, one in record["views"].items()),
    ]
    name, summary = str(world["instance_id"]), headline(world, record)
    return draw.page(name, summary, sections, "Hidden from test takers."), f"{name}\n{summary}"


def equation(node: Row, names: Mapping[str, str]) -> str:
    """Return ``name = mechanism(causes; parameters) + noise``, or of a binary node ``P(name = 1) =
    mechanism(causes; parameters)``, as plain text with story names."""
    causes = ", ".join(names[parent] for parent in node["parents"])
    inside = filter(None, [causes, *_parameter_texts(node["parameters"])])
    formula = f"{node['mechanism']}({'; '.join(inside)})"
    if node["noise"] is None:
        return f"P({names[node['name']]} = 1) = {formula}"
    law = {key: value for key, value in node["noise"].items() if key != "family"}
    noise = f"{node['noise']['family']}({'; '.join(_parameter_texts(law))})"
    grid = f", to the nearest multiple of {node['grid']:g}" if node.get("grid") else ""
    return f"{names[node['name']]} = {formula} + {noise}{grid}"


def _parameter_texts(parameters: Row) -> Iterator[str]:
    """Yield each parameter's name and numbers, to three digits, without None and empty ones."""
    for key, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _parameter_texts(value)
        elif value is not None and value != []:
            numbers = value if isinstance(value, Sequence) else [value]
            yield f"{key} {' '.join(f'{number:.3g}' for number in numbers)}"


def headline(world: Row, record: Row) -> str:
    """Return a scene in one line: structure, motif, effect, unmeasured variables, profiles."""
    latent = [record["variables"][node]["name"] for node in record["world"]["latent"]]
    equations, (x0, x1) = record["plan"]["equations"], record["levels"]
    return (
        f"structure {world['structure']} (motif {world['motif']}); effect of {world['treatment']} "
        f"on {world['outcome']}, {x0:g} against {x1:g}; never measured: "
        f"{', '.join(latent) or 'nothing'}; mechanisms {equations['continuous']} and "
        f"{equations['binary']}"
    )


def _quantity_lines(record: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield name, value, standard error, draws and source of each quantity, as table cells."""
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


def _view(shown: Mapping[str, Any], names: Mapping[str, str]) -> list[Block]:
    """Return a view's columns, the measurements of replaced nodes, and how recoverable they are."""
    columns = ", ".join(column["name"] for column in shown["columns"])
    blocks: list[Block] = [Paragraph(f"Columns: {columns}.")]
    bars = []
    for node, bundle in shown["bundles"].items():
        told = bundle["information"]
        note = (
            f"Information on the support [{bundle['support'][0]:.3g}, {bundle['support'][1]:.3g}]: "
            f"least {told['least']:.3g}, mean {told['mean']:.3g}, 10% quantile {told['q10']:.3g}, "
            f"25% quantile {told['q25']:.3g}; accepted at draw {bundle['draws']}."
        )
        measured = [
            equation({**one, "name": "", "parents": [node]}, {**names, "": one["column"]})
            for one in bundle["measurements"]
        ]
        blocks.append(_formulas(f"{names[node]}: measured", measured, note))
        if "recoverability" in bundle:
            bars.append((names[node], bundle["recoverability"]))
    if bars:
        heading = Paragraph([Strong("Recoverability (R², AUC): naive and ceiling")])
        blocks += [heading, recovery_picture(bars)]
    return blocks


def _formulas(title: str, formulas: Sequence[str], note: str = "") -> Table:
    return Table(title, [""], [[Cell(formula, "code")] for formula in formulas], note=note)


def _find_world(release: Path, scene: str) -> tuple[dict[str, Any], str]:
    """Return world row and split of ``scene`` (id or ``split/index``). Raises ``UsageError``."""
    worlds = every_shard(release, "causalds_worlds")
    prefix, _, index = scene.rpartition("/")
    for split, paths in worlds.items():
        if prefix == split and index.isdecimal():
            found = rows_where(paths, "index", int(index))
        else:
            found = rows_where(paths, "instance_id", scene)
        for world in found:
            return world, split
    paths = [path for own in worlds.values() for path in own]
    known = [row["instance_id"] for row in rows(paths, ["instance_id"])]
    if not known:
        raise UsageError(
            f"{release}: holds no causalds_worlds; name a release with public truth, or one with "
            "its private side"
        )
    raise UsageError(
        f"{scene}: not among the {len(known)} scenes of {release}{did_you_mean(scene, known)}; "
        f"name a scene such as {known[0]}, or split/index such as {min(worlds)}/0"
    )
