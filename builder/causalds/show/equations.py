"""Structural equations in plain text, for a person who looks at a scene."""

from collections.abc import Callable, Mapping
from typing import Any, Final

Node = Mapping[str, Any]
Write = Callable[[Mapping[str, Any], list[str]], str]


def equation(node: Node, names: Mapping[str, str]) -> str:
    """``Name = formula + noise``, or ``P(Name = 1) = formula``; ``names`` are story names by node.

    Curved formulas are in z, a parent centred and scaled by the numbers listed after it.
    """
    parents = [names[parent] for parent in node["parents"]]
    write = _WRITERS.get(node["mechanism"])
    formula = node["mechanism"] if write is None else write(node["parameters"], parents)
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


def _n(value: float) -> str:
    return f"{value:.3g}"


def _sum(terms: list[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ")


def _z(p: Mapping[str, Any], parents: list[str]) -> list[str]:
    parts = zip(parents, p["centres"], p["scales"], strict=True)
    return [f"z({name}: {_n(c)}, {_n(s)})" for name, c, s in parts]


def _line(p: Mapping[str, Any], parents: list[str]) -> str:
    weighted = [f"{_n(w)} {name}" for w, name in zip(p["weights"], parents, strict=True)]
    return _sum([_n(p["bias"]), *weighted])


def _pairs(p: Mapping[str, Any], z: list[str]) -> list[str]:
    chosen = [int(i) for i in p["pairs"]]
    return [
        f"{_n(v)} {z[chosen[2 * i]]} {z[chosen[2 * i + 1]]}" for i, v in enumerate(p["products"])
    ]


def _handcrafted(p: Mapping[str, Any], parents: list[str]) -> str:
    z, terms = _z(p, parents), [_n(p["bias"])]
    for i, one in enumerate(z):
        terms.append(f"{_n(p['weights'][i])} {one}")
        terms.append(f"{_n(p['bends'][i])} tanh({one} - {_n(p['shifts'][i])})")
        if p["squares"][i]:
            terms.append(f"{_n(p['squares'][i])} {one}^2")
    return _sum([*terms, *_pairs(p, z)])


def _product(p: Mapping[str, Any], parents: list[str]) -> str:
    factors = " ".join(f"softplus({one})" for one in _z(p, parents))
    return _sum([_n(p["bias"]), f"{_n(p['strength'])} {factors}"])


def _response(p: Mapping[str, Any], parents: list[str]) -> str:
    terms = [
        f"{_n(a)} u^{_n(h)} / ({_n(k)}^{_n(h)} + u^{_n(h)}) with u = softplus({one})"
        for one, a, k, h in zip(
            _z(p, parents), p["strengths"], p["halves"], p["powers"], strict=True
        )
    ]
    return _sum([_n(p["bias"]), *terms])


def _rational(p: Mapping[str, Any], parents: list[str]) -> str:
    z = _z(p, parents)
    upper = [f"{_n(w)} {one}" for w, one in zip(p["weights"], z, strict=True)]
    lower = [f"{_n(w)} {one}" for w, one in zip(p["lower_weights"], z, strict=True)]
    top, bottom = _sum([_n(p["bias"]), *upper, *_pairs(p, z)]), _sum([_n(p["lower_bias"]), *lower])
    return f"({top}) / (1 + |{bottom}|)"


def _power(p: Mapping[str, Any], parents: list[str]) -> str:
    terms = [
        f"{_n(a)} sign(z) |{one}|^{_n(r)}"
        for one, a, r in zip(_z(p, parents), p["strengths"], p["exponents"], strict=True)
    ]
    return _sum([_n(p["bias"]), *terms])


def _exp_log(p: Mapping[str, Any], parents: list[str]) -> str:
    terms = [
        f"{_n(a)} {'exp' if e else 'log1p softplus'}({one})"
        for one, a, e in zip(_z(p, parents), p["strengths"], p["exponential"], strict=True)
    ]
    return _sum([_n(p["bias"]), *terms])


def _piecewise(p: Mapping[str, Any], parents: list[str]) -> str:
    terms = [
        f"{_n(a)} [{one} > {_n(t)}]" if s else f"{_n(a)} max({one} - {_n(t)}, 0)"
        for one, a, s, t in zip(_z(p, parents), p["strengths"], p["steps"], p["knots"], strict=True)
    ]
    return _sum([_n(p["bias"]), *terms])


def _neural(p: Mapping[str, Any], parents: list[str]) -> str:
    layers = "-".join(str(int(w)) for w in p["widths"])
    return f"{_n(p['bias'])} + {_n(p['gain'])} net[{layers}]({', '.join(_z(p, parents))})"


def _logistic(p: Mapping[str, Any], parents: list[str]) -> str:
    return f"expit({_line(p, parents)})"


def _shifted(p: Mapping[str, Any], parents: list[str]) -> str:
    terms = [_n(p["bias"])]
    for i, one in enumerate(_z(p, parents)):
        terms.append(f"{_n(p['weights'][i])} {one}")
        terms.append(f"{_n(p['bends'][i])} softsign({one} - {_n(p['shifts'][i])})")
    return f"expit({_sum(terms)})"


def _sharp(p: Mapping[str, Any], parents: list[str]) -> str:
    terms = [f"{_n(w)} {one}" for w, one in zip(p["weights"], _z(p, parents), strict=True)]
    return f"expit({_n(p['sharpness'])} ({_sum(terms)} - {_n(p['threshold'])}))"


def _gate(p: Mapping[str, Any], parents: list[str]) -> str:
    held = [
        f"{name} {'<=' if no else '>'} {_n(cut)}"
        for name, cut, no in zip(parents, p["cuts"], p["negated"], strict=True)
    ]
    word = " and " if p["conjunction"] else " or "
    return f"({word.join(held)}), flipped with probability {_n(p['flip'])}"


_WRITERS: Final[Mapping[str, Write]] = {
    "linear_additive": _line,
    "handcrafted": _handcrafted,
    "product": _product,
    "saturating": _response,
    "cooperative": _response,
    "rational": _rational,
    "power": _power,
    "exp_log": _exp_log,
    "piecewise": _piecewise,
    "neural": _neural,
    "logistic": _logistic,
    "shifted_logistic": _shifted,
    "sharp_threshold": _sharp,
    "noisy_or": _gate,
    "noisy_and": _gate,
    "logic_gate": _gate,
    "signed_gate": _gate,
}
