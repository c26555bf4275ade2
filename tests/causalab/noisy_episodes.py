"""A small episode whose readings have errors, made by hand."""

from typing import Any

from causalab_episodes import TARGET, make_row

from grader.laboratory.episode import Episode
from grader.laboratory.model import Crystal, Model, Product, Term
from grader.laboratory.noise import Noise

KEY = bytes(range(32))
LAW = {"moisture": [("density", 2.0)], TARGET: [("moisture", 3.0), ("density", 1.0, 0.01)]}
WEIGHTS = {"density": 0.5, "moisture": -1.0}
AMOUNTS = {"records": [10.0, -20.0], "manipulator": 30.0, "reactor": 4.0}


def noisy_row(key: bytes = KEY, spread: float = 2.0) -> dict[str, Any]:
    """density → moisture → frequency, a square and a product, and an unmeasured common cause."""
    row = make_row(LAW, family="quadratic")
    public, private = row["public"], row["private"]
    noise = Noise(spread, key)
    terms = {
        node: [Term(t["parent"], t["linear"], t["quadratic"]) for t in found]
        for node, found in private["equations"].items()
    }
    names = list(private["manipulator"])
    product = Product("density", "moisture", 0.02)
    model = Model.make(names, TARGET, terms, private["base"], [product])

    def added(amount: float) -> dict[str, float]:
        return {name: weight * amount for name, weight in WEIGHTS.items()}

    seen = model.read(private["reactor"], added(AMOUNTS["reactor"]))
    start = Crystal(model, private["manipulator"], "shift", (), added(AMOUNTS["manipulator"]))
    private |= {
        "setting": "noisy",
        "frequency": seen.pop(TARGET),
        "noise_key": key.hex(),
        "common_cause": {"weights": WEIGHTS, **AMOUNTS},
        "products": [{"first": "density", "second": "moisture", "coefficient": 0.02}],
        "accurate": 1.0,
    }
    public |= {
        "family": "interacting",
        "noise": spread,
        "common_cause": True,
        "record_bases": [0.0, 100.0],
        "records": [
            noise.of_record(k, model.read(bases, added(AMOUNTS["records"][k])))
            for k, bases in enumerate(private["records"])
        ],
        "opening": noise.after((), start.read()),
        "reactor": seen,
    }
    return row


def noisy_episode(key: bytes = KEY, spread: float = 2.0) -> Episode:
    """The same, opened."""
    return Episode.load(noisy_row(key, spread))
