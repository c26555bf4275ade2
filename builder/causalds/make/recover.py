"""How well a replaced variable can be recovered from its measurements (paper A.6, Eq. 5).

Three numbers on the held-out rows, as R^2 (continuous variables) or AUC (binary ones): ``naive``,
the best single measurement with a linear or logistic fit on the calibration rows; ``single``, the
best single measurement with boosted trees and ``joint`` all of them, both fitted on training rows
that show the variable itself, which nobody taking the exam ever sees. ``single - naive`` is what
misspecification costs, ``joint - single`` what more measurements add. Private, optional, and no
criterion for anything.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from grader.errors import UsageError

Array = npt.NDArray[np.float64]

_MOST_ROWS: Final = 8000
_TREES: Final = {"max_iter": 100, "max_depth": 3, "learning_rate": 0.1, "early_stopping": False}


def need_scikit_learn(where: str) -> None:
    """Raises ``UsageError`` when scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise UsageError(
            f"{where}: recoverability needs scikit-learn; install it, or leave the key out"
        ) from None


def recoverability(
    train: Array, target: Array, calibration: Array, known: Array, held_out: Array, truth: Array
) -> Mapping[str, float]:
    """The three numbers and their differences for one variable.

    Args:
        train: measurements of training rows, (n, d), and ``target`` the variable there, (n,).
        calibration: measurements of calibration rows, (m, d), and ``known`` the variable there.
        held_out: measurements of held-out rows, (t, d), and ``truth`` the variable there.
    """
    binary = bool(np.isin(truth, (0.0, 1.0)).all())
    train, target = train[:_MOST_ROWS], target[:_MOST_ROWS]
    columns = range(train.shape[1])

    def naive(column: int) -> float:
        fitted = _linear(binary).fit(calibration[:, [column]], known)
        return _score(binary, fitted, held_out[:, [column]], truth)

    def boosted(chosen: list[int]) -> float:
        fitted = _trees(binary).fit(train[:, chosen], target)
        return _score(binary, fitted, held_out[:, chosen], truth)

    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):  # scenes are built side by side, one to a core
        lower = max(naive(column) for column in columns)
        single = max(boosted([column]) for column in columns)
        joint = boosted(list(columns))
    return {
        "naive": lower,
        "single": single,
        "joint": joint,
        "misspecification": single - lower,
        "information_gain": joint - single,
        "gap": joint - lower,
    }


def _linear(binary: bool) -> Any:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    return LogisticRegression() if binary else LinearRegression()


def _trees(binary: bool) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
    return make(random_state=0, **_TREES)


def _score(binary: bool, fitted: Any, features: Array, truth: Array) -> float:
    from sklearn.metrics import r2_score, roc_auc_score

    if binary:
        return float(roc_auc_score(truth, fitted.predict_proba(features)[:, 1]))
    return float(r2_score(truth, fitted.predict(features)))
