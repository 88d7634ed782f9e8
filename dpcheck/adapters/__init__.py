"""Mechanisms of other libraries as ours: (data, rng, trials) -> outputs.

`adapters.opendp`, `adapters.diffprivlib` (extra `adapters`), `adapters.torch`, `adapters.opacus` (extra `torch`),
`adapters.pure_ldp`, `adapters.multi_freq_ldpy` (extra `local`) and `adapters.estimator` (anything with `fit`).
"""

from __future__ import annotations

import importlib
from typing import Any

LIBRARIES = ("diffprivlib", "estimator", "multi_freq_ldpy", "opacus", "opendp", "pure_ldp", "torch")


def __getattr__(name: str) -> Any:
    """Each on first use: none is needed for the others."""
    if name in LIBRARIES:
        return importlib.import_module(f"dpcheck.adapters.{name}")
    raise AttributeError(f"module 'dpcheck.adapters' has no attribute {name!r}")
