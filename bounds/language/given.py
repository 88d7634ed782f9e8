"""What a caller gave, as numbers: refused with one typed error where it is none, whatever it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

NO_NUMBER = (TypeError, ValueError, OverflowError, ArithmeticError)  # what Python and numpy say of junk


def is_number(value: Any) -> bool:
    """Whether it is one real number, of whatever type; text is not, nor is an array."""
    if isinstance(value, str | bytes | bytearray | list | tuple) or (isinstance(value, np.ndarray) and value.shape):
        return False
    try:
        float(value)
    except NO_NUMBER:
        return False
    return True


def number(
    what: str, value: Any, limit: str, remedy: str, allows: Callable[[float], bool] = lambda found: found == found
) -> float:
    """One real number within its limit.

    >>> number("level", "a", "a number in (0, 1)", "Use 0.05.", lambda found: 0 < found < 1)
    Traceback (most recent call last):
    ...
    dpcheck.bounds.language.errors.InvalidInput: level is a; it must be a number in (0, 1). Use 0.05.
    """
    if not is_number(value) or not allows(float(value)):
        raise InvalidInput(what, value, limit, remedy)
    return float(value)


def whole(what: str, value: Any, limit: str, remedy: str, least: int = 1) -> int:
    """A whole number from `least` on; True and False count as none."""
    if isinstance(value, bool | np.bool_):
        raise InvalidInput(what, value, limit, remedy)
    return int(number(what, value, limit, remedy, lambda found: found >= least and found == found // 1))


def floats(what: str, value: Any, limit: str = "a number, or an array of numbers", remedy: str = "") -> np.ndarray:
    """An array of floats. What is refused stays out of the error's context, too: it may be somebody's record."""
    with suppress(*NO_NUMBER):
        if np.asarray(value).dtype.kind not in "mM":  # dates and times
            return np.asarray(value, float)
    raise InvalidInput(what, value, limit, remedy or f"Give another {what}.")


def one_of(what: str, value: Any, known: Collection[str], remedy: str) -> str:
    """A name among those that are known."""
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(what, value, f"one of {', '.join(known)}", remedy)
    return value


def listed(what: str, value: Any, limit: str, remedy: str, letters: bool = False) -> tuple[Any, ...]:
    """Several things in a row; text is none, unless its `letters` are meant."""
    if (isinstance(value, str) and letters) or (isinstance(value, Iterable) and not isinstance(value, str | bytes)):
        with suppress(TypeError):  # an array of no dimension
            return tuple(value)
    raise InvalidInput(what, value, limit, remedy)
