"""Processes that do as if this processor were an older one."""

import os
import platform
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as dispatch

ROOT = Path(__file__).resolve().parent.parent


def older_processors() -> list[dict[str, str]]:
    """Environments in which NumPy does without any of its special code, and without the newest.

    The matrix library, which makes a choice of its own, is told to take another one too.
    """
    known = [name for name in dispatch.__cpu_dispatch__ if dispatch.__cpu_features__[name]]
    if not known:
        pytest.skip("this processor has no features that NumPy could do without")
    kernels = ("Prescott", "Haswell") if platform.machine() == "x86_64" else ("", "")
    return [
        {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "NPY_DISABLE_CPU_FEATURES": " ".join(without),
            **({"OPENBLAS_CORETYPE": kernel} if kernel else {}),
        }
        for without, kernel in zip((known, known[1:]), kernels, strict=True)
        if without
    ]
