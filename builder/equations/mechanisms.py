"""The table of mechanism families: what a variable is on average, given its direct causes.

A family is two functions (draw parameters; evaluate) and one row of ``MECHANISMS``; a row that is
affine in the parents also says so, which opens closed forms (``builder.equations.quantities``).
Which families make up a scene is decided by the profiles of ``builder.equations.profiles``.
"""

from collections.abc import Mapping
from typing import Final

from builder.equations import curves, switches
from builder.equations.equation import MechanismFamily

MECHANISMS: Final[Mapping[str, MechanismFamily]] = {
    "linear_additive": MechanismFamily(
        "continuous", curves.draw_linear, curves.linear_mean, curves.as_affine
    ),
    "handcrafted": MechanismFamily(
        "continuous",
        curves.draw_handcrafted,
        curves.handcrafted_mean,
        slope=curves.handcrafted_slope,
    ),
    "product": MechanismFamily("continuous", curves.draw_product, curves.product_mean),
    "saturating": MechanismFamily("continuous", curves.draw_saturating, curves.response_mean),
    "cooperative": MechanismFamily("continuous", curves.draw_cooperative, curves.response_mean),
    "rational": MechanismFamily("continuous", curves.draw_rational, curves.rational_mean),
    "power": MechanismFamily("continuous", curves.draw_power, curves.power_mean),
    "exp_log": MechanismFamily("continuous", curves.draw_exp_log, curves.exp_log_mean),
    "piecewise": MechanismFamily("continuous", curves.draw_piecewise, curves.piecewise_mean),
    "neural": MechanismFamily(
        "continuous", curves.draw_neural, curves.neural_mean, slope=curves.neural_slope
    ),
    "logistic": MechanismFamily("binary", switches.draw_logistic, switches.logistic_mean),
    "shifted_logistic": MechanismFamily(
        "binary",
        switches.draw_shifted_logistic,
        switches.shifted_logistic_mean,
        slope=switches.shifted_logistic_slope,
    ),
    "sharp_threshold": MechanismFamily(
        "binary", switches.draw_sharp_threshold, switches.sharp_threshold_mean
    ),
    "noisy_or": MechanismFamily("binary", switches.gate_draw((0.0,), 0.0), switches.gate_mean),
    "noisy_and": MechanismFamily("binary", switches.gate_draw((1.0,), 0.0), switches.gate_mean),
    "logic_gate": MechanismFamily(
        "binary", switches.gate_draw((0.0, 1.0), 0.25), switches.gate_mean
    ),
    "signed_gate": MechanismFamily(
        "binary", switches.gate_draw((0.0, 1.0), 0.75), switches.gate_mean
    ),
}
