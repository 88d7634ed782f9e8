"""What solvers of local protocols ask of their users' data: numbers, or vectors, within public bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP

Array = np.ndarray


def must_be_pure(guarantee: Guarantee) -> None:
    """Refuse other notions: the reports of these protocols are calibrated to pure privacy."""
    if not isinstance(guarantee, PureDP):
        raise InvalidInput("guarantee", str(guarantee), "PureDP", "Pure privacy implies the others.")


def must_be_users(data: Any, width: int | None, held: Any, limit: str) -> None:
    """Refuse anything but one row a user, of numbers that are `held(rows)`; the refusal names no value."""
    shape = "one number a user" if width is None else "one row a user"
    good = isinstance(data, np.ndarray) and data.ndim == (1 if width is None else 2) and len(data) > 0
    if not good or not np.issubdtype(data.dtype, np.number):
        raise InvalidInput("users", type(data).__name__, f"an array with {shape}", "Use np.asarray(values, float).")
    if not np.all(np.isfinite(data)) or not np.all(held(data)):
        raise InvalidInput("users", "some", limit, "Clip them to the public bounds.")


def lattice_under(bound: float) -> float:
    """A power of two, 2^-30 of the bound or less, on which noise is drawn exactly."""
    return math.ldexp(1.0, math.frexp(bound)[1] - 31)
