"""A miniature of the public reference's files, made from the format's description alone."""

import json
from pathlib import Path
from typing import Any

DISPLAYS = {
    "density": "Density",
    "moisture": "Moisture",
    "ph": "pH",
    "temperatureC": "Temperature (°C)",
    "quantumSize": "Quantum Size",
    "radiation": "Radiation",
    "resonanceFreq": "Resonance Frequency (Hz)",
}
SHORT = {"resonanceFreq": "freq", "temperatureC": "temp"}
TARGET = "resonanceFreq"


def record(
    graph_id: str, names: list[str], weights: dict[tuple[str, str], Any], base: float = 20.0
) -> dict[str, Any]:
    """A record with ``weights`` by (cause, effect); a pair of numbers is (square, linear)."""
    nodes: dict[str, Any] = {}
    params: dict[str, Any] = {"base_freq": base}
    for name in [TARGET, *names]:
        causes = [cause for cause, effect in weights if effect == name]
        nodes[name] = {
            "is_controllable": name != TARGET,
            "observable": True,
            "property_name": name,
            "display_name": DISPLAYS[name],
            "base_value": {"type": "uniform", "min": 15.0, "max": 45.0},
        }
        if name != TARGET:
            params[f"base_{name}"] = 20.0
        if causes:
            parts = ["base_freq" if name == TARGET else f"base_{name}"]
            for cause in causes:
                ends = f"{SHORT.get(cause, cause)}_{SHORT.get(name, name)}"
                value = weights[cause, name]
                if isinstance(value, tuple):
                    params[f"coeff2_{ends}"], params[f"coeff1_{ends}"] = value
                    parts.append(f"coeff2_{ends} * {cause}^2 + coeff1_{ends} * {cause}")
                else:
                    params[f"coeff_{ends}"] = value
                    parts.append(f"coeff_{ends} * {cause}")
            nodes[name]["computation"] = " + ".join(parts)
    return {
        "graph_id": graph_id,
        "description": f"Causal graph with {len(nodes)} nodes and {len(weights)} edges",
        "nodes": nodes,
        "edges": [{"from": cause, "to": effect} for cause, effect in weights],
        "params": params,
        "budget": 4 * len(names),
    }


CHAIN = {("density", "quantumSize"): 1, ("density", TARGET): 2, ("quantumSize", TARGET): 3}
"""Density causes quantum size, and both cause frequency."""

FOUR = {
    ("ph", "temperatureC"): 2,
    ("temperatureC", "moisture"): 3,
    ("ph", TARGET): 1,
    ("temperatureC", TARGET): 2,
}


def three() -> dict[str, Any]:
    return record("3nodes_0", ["quantumSize", "density"], CHAIN)


def golden() -> dict[str, Any]:
    """Its trace was worked by hand: see the test that replays it."""
    found = record("3nodes_0", ["quantumSize", "density"], CHAIN)
    rows = [
        ("i/bootstrap", 47.5, 30.0, 222.5, None),
        ("i/bootstrap", 41.25, 20.25, 184.25, None),
        ("1/bootstrap", 94.5, 77.0, 457.5, ("density", 77)),
        ("2/bootstrap", 1.0, 77.0, 177.0, ("quantumSize", 1)),
        ("3/bootstrap", -64.0, 12.0, -148.0, ("density", 12)),
    ]
    found["bootstrap_past_data"] = [
        {
            "id": name,
            "props": {"quantumSize": size, "density": density},
            "freq": freq,
            **({"intervention": {"target_prop": made[0], "target_value": made[1]}} if made else {}),
        }
        for name, size, density, freq, made in rows
    ]
    return found


def four() -> dict[str, Any]:
    return record("4nodes_0", ["temperatureC", "ph", "moisture"], FOUR)


def hidden() -> dict[str, Any]:
    found = four()
    found["hidden_variable"] = {
        "enabled": True, "name": "h", "observable": False, "is_controllable": False,
        "initial_value": 0, "value_space": [-5, 0, 5], "edge_weight": 1,
        "affected_nodes": ["temperatureC"],
        "edges": [{"from": "h", "to": "temperatureC", "weight": 1}],
    }  # fmt: skip
    return found


def freqparent() -> dict[str, Any]:
    found = record("4nodes_0", ["ph", "radiation", "density"], {("ph", TARGET): 3,
                   (TARGET, "radiation"): 2, ("radiation", "density"): 1})  # fmt: skip
    return {**found, "equation_family": "linear", "frequency_can_be_parent": True}


def quadratic() -> dict[str, Any]:
    weights = {
        ("ph", "temperatureC"): (0.008, -0.8),
        ("temperatureC", TARGET): (0.012, -1.2),
        ("moisture", TARGET): (0.016, -1.28),
    }
    found = record("4nodes_quad_hard_0", ["temperatureC", "ph", "moisture"], weights, 75.6)
    bases = [{"temperatureC": a, "ph": b, "moisture": c}
             for a, b, c in ((10.0, 20.0, 30.0), (0.0, 50.0, 100.0), (5.0, 6.0, 7.0),
                             (40.0, 30.0, 20.0))]  # fmt: skip
    found["equation_family"], found["quadratic_mode"] = "quadratic", "hard"
    found["quadratic_metadata"] = {
        "controllable_node_order": ["temperatureC", "ph", "moisture"],
        "edge_axis_by_name": {"ph->temperatureC": 50.0},
        "observation_presets": bases[:2],
        "property_manipulator": bases[2],
        "reactor": bases[3],
    }
    return found


def write_files(folder: Path) -> Path:
    """The miniature: six of the kinds of files, one record each."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "3nodes": three(),
        "3nodes_golden": golden(),
        "4nodes": four(),
        "4nodes_hidden_n1": hidden(),
        "4nodes_freqparent": freqparent(),
        "4nodes_quad_hard": quadratic(),
    }
    for name, document in files.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    return folder
