"""Local privacy for practice: randomisers to put on a client, and the server's side of each.

bits = local.OneBit(eps=1.0)
reports = bits.privatize(incomes)        # on the users' devices
bits.aggregate(reports)                  # on the server: an unbiased mean, of variance bits.variance(n)

A tour: docs/local.md.
"""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

from dpcheck.audits import Neighbours, one_user
from dpcheck.local.choosing import LocalChoice, which
from dpcheck.local.frequencies import (
    Frequencies,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
    best_frequencies,
)
from dpcheck.local.means import Hybrid, Laplace, Mean, OneBit, Piecewise
from dpcheck.local.randomiser import Randomiser
from dpcheck.local.vectors import L2Ball

__all__ = [
    "Frequencies",
    "HadamardResponse",
    "Hybrid",
    "KaryResponse",
    "L2Ball",
    "Laplace",
    "LocalChoice",
    "LocalHashing",
    "Mean",
    "OneBit",
    "Piecewise",
    "Randomiser",
    "SubsetSelection",
    "UnaryEncoding",
    "best_frequencies",
    "which",
]


class LocalModule(types.ModuleType):
    """`dp.local(...)` was the name of `dp.one_user(...)` before this was a module; it still answers."""

    def __call__(self, *args: Any, **options: Any) -> Neighbours:
        warnings.warn("dp.local(...) is now dp.one_user(...)", DeprecationWarning, stacklevel=2)
        return one_user(*args, **options)


sys.modules[__name__].__class__ = LocalModule
