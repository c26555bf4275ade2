"""Structural equations in plain text, for a person who looks at a scene."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Numbers = Mapping[str, Any]

_HILL: Final = "{strengths} u^{powers} / ({halves}^{powers} + u^{powers}) with u = softplus({z})"

_TERMS: Final[Mapping[str, Sequence[str]]] = {
    "linear_additive": ["{weights} {name}"],
    "handcrafted": ["{weights} {z}", "{bends} tanh({z} - {shifts})", "{squares} {z}^2"],
    "saturating": [_HILL],
    "cooperative": [_HILL],
    "rational": ["{weights} {z}"],
    "power": ["{strengths} sign(z) |{z}|^{exponents}"],
    "logistic": ["{weights} {name}"],
    "shifted_logistic": ["{weights} {z}", "{bends} softsign({z} - {shifts})"],
    "sharp_threshold": ["{weights} {z}"],
}
"""What each parent adds, written with its own entries of the parameters; z is the parent centred
and scaled."""

_EITHER: Final[Mapping[str, tuple[str, str, str]]] = {
    "exp_log": ("exponential", "{strengths} exp({z})", "{strengths} log1p softplus({z})"),
    "piecewise": ("steps", "{strengths} [{z} > {knots}]", "{strengths} max({z} - {knots}, 0)"),
}
"""Where a parent adds one of two things: the parameter that is 1 for the first, and the two."""


def equation(node: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """``Name = formula + noise``, or ``P(Name = 1) = formula``; ``names`` are story names by node.

    Curved formulas are in z, a parent centred and scaled by the numbers listed after it.
    """
    parents = [names[parent] for parent in node["parents"]]
    formula = _formula(node["mechanism"], node["parameters"], parents)
    name = names[node["name"]]
    if node["noise"] is None:
        return f"P({name} = 1) = {formula}"
    return f"{name} = {formula} + {noise(node['noise'])}"


def noise(law: Mapping[str, Any]) -> str:
    """A noise law in words, as ``0.71 * student_t(6.2)``."""
    shape = f"({', '.join(_n(v) for v in law['shape'])})" if law["shape"] else ""
    scale = _n(law["scale"])
    if spread := law.get("spread"):
        weights = ", ".join(_n(w) for w in spread["weights"])
        scale += f" * softplus([{weights}] . parents + {_n(spread['bias'])})"
    return f"{scale} * {law['family']}{shape}"


def _formula(mechanism: str, p: Numbers, parents: list[str]) -> str:
    if "cuts" in p:
        return _gate(p, parents)
    z = [f"z({name}: {_n(c)}, {_n(s)})" for name, c, s in _zip(parents, p, "centres", "scales")]
    if mechanism == "product":
        factors = " ".join(f"softplus({one})" for one in z)
        return _sum([_n(p["bias"]), f"{_n(p['strength'])} {factors}"])
    if mechanism == "neural":
        layers = "-".join(str(int(w)) for w in p["widths"])
        return f"{_n(p['bias'])} + {_n(p['gain'])} net[{layers}]({', '.join(z)})"
    if mechanism not in _TERMS and mechanism not in _EITHER:
        return mechanism
    terms = _terms(mechanism, p, parents, z)
    if mechanism == "sharp_threshold":
        return f"expit({_n(p['sharpness'])} ({_sum(terms)} - {_n(p['threshold'])}))"
    total = _sum([_n(p["bias"]), *terms, *_pairs(p, z)])
    if mechanism == "rational":
        lower = [f"{_n(w)} {one}" for one, w in _zip(z, p, "lower_weights")]
        return f"({total}) / (1 + |{_sum([_n(p['lower_bias']), *lower])}|)"
    return f"expit({total})" if mechanism in ("logistic", "shifted_logistic") else total


def _terms(mechanism: str, p: Numbers, parents: list[str], z: list[str]) -> list[str]:
    """What the parents add in turn; a term whose coefficient is 0 is left out."""
    found = []
    for i, name in enumerate(parents):
        own = {key: _n(v[i]) for key, v in p.items() if isinstance(v, Sequence) and i < len(v)}
        own |= {"name": name, "z": z[i] if z else name}
        if mechanism in _EITHER:
            key, first, second = _EITHER[mechanism]
            found.append((first if p[key][i] else second).format(**own))
        else:
            found += [template.format(**own) for template in _TERMS[mechanism]]
    return [term for term in found if not term.startswith("0 ")]


def _pairs(p: Numbers, z: list[str]) -> list[str]:
    """The products of pairs of parents, for mechanisms that have them."""
    chosen = [int(i) for i in p.get("pairs", ())]
    pairs = zip(chosen[::2], chosen[1::2], p.get("products", ()), strict=True)
    return [f"{_n(weight)} {z[i]} {z[j]}" for i, j, weight in pairs]


def _gate(p: Numbers, parents: list[str]) -> str:
    held = [
        f"{name} {'<=' if no else '>'} {_n(cut)}"
        for name, cut, no in _zip(parents, p, "cuts", "negated")
    ]
    word = " and " if p["conjunction"] else " or "
    return f"({word.join(held)}), flipped with probability {_n(p['flip'])}"


def _zip(parents: list[str], p: Numbers, *keys: str) -> list[tuple[Any, ...]]:
    """Each parent with its entries of some parameters; nothing where there are no such."""
    return list(zip(parents, *(p[key] for key in keys), strict=True)) if keys[0] in p else []


def _n(value: float) -> str:
    return f"{value:.3g}"


def _sum(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ")
