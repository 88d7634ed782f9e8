"""Settings of a solver as data: each field says what it allows, which also generates the bad inputs of its tests.

steps: int | None = count(None)
step_size: float | None = positive(None)
choice: str = one_of("random", "last")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

KEY = "limit"


@dataclass(frozen=True)
class Limit:
    """What a setting allows, in words and as a test, and examples of what it must refuse."""

    words: str
    allows: Callable[[Any], bool]
    remedy: str
    refuses: tuple[Any, ...]


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


DEFAULT = "Leave it out for the default."
COUNT = Limit("a whole number >= 1", lambda v: _whole(v) and v >= 1, DEFAULT, (0, -1, 1.5, True, "3", math.nan))
POSITIVE = Limit(
    "a finite number > 0", lambda v: _number(v) and 0 < v < math.inf, DEFAULT, (0.0, -1.0, math.inf, math.nan, "1")
)
NOT_NEGATIVE = Limit("a number >= 0", lambda v: _number(v) and v >= 0, DEFAULT, (-1e-300, -1.0, math.nan, "1"))
FINITE_NOT_NEGATIVE = Limit(
    "a finite number >= 0", lambda v: _number(v) and 0 <= v < math.inf, DEFAULT, (-1.0, math.inf, math.nan, "1")
)
FRACTION = Limit("a number in (0, 1)", lambda v: _number(v) and 0 < v < 1, DEFAULT, (0.0, 1.0, -0.5, math.nan, "1"))
SHARE = Limit("a number in (0, 1]", lambda v: _number(v) and 0 < v <= 1, DEFAULT, (0.0, 1.5, -0.5, math.nan, "1"))
FLAG = Limit("True or False", lambda v: isinstance(v, bool | np.bool_), DEFAULT, (0, 1, "yes", math.nan))


def _setting(default: Any, limit: Limit, **how: Any) -> Any:
    return field(default=default, metadata={KEY: limit}, **how)


def count(default: int | None = None, **how: Any) -> Any:
    """A whole number from 1 on; None stands for a rule."""
    return _setting(default, COUNT, **how)


def positive(default: float | None = None, **how: Any) -> Any:
    """A finite number above 0; None stands for a rule."""
    return _setting(default, POSITIVE, **how)


def not_negative(default: float | None = 0.0, *, finite: bool = True, **how: Any) -> Any:
    """A number from 0 on."""
    return _setting(default, FINITE_NOT_NEGATIVE if finite else NOT_NEGATIVE, **how)


def fraction(default: float | None = None, **how: Any) -> Any:
    """A number strictly between 0 and 1."""
    return _setting(default, FRACTION, **how)


def share(default: float | None = None, **how: Any) -> Any:
    """A number above 0 and at most 1."""
    return _setting(default, SHARE, **how)


def flag(default: bool = False, **how: Any) -> Any:
    """True or False."""
    return _setting(default, FLAG, **how)


def one_of(default: Any, *others: Any, **how: Any) -> Any:
    """One of these values; the first is the default."""
    known = (default, *others)
    limit = Limit(
        f"one of {', '.join(map(str, known))}", lambda v: v in known, f"Use {default}.", ("?", math.nan, 7.25)
    )
    return _setting(default, limit, **how)


def allowing(
    default: Any,
    words: str,
    allows: Callable[[Any], bool],
    *,
    refuses: tuple[Any, ...],
    remedy: str = DEFAULT,
    **how: Any,
) -> Any:
    """A limit of its own."""
    return _setting(default, Limit(words, allows, remedy, refuses), **how)


def limits_of(kind: Any) -> Mapping[str, Limit]:
    """The limits of a dataclass's settings, by name."""
    return {f.name: f.metadata[KEY] for f in fields(kind) if KEY in f.metadata}


def must_be_allowed(settings: Any) -> None:
    """Refuse the first setting that its limit does not allow; None is allowed where it is the default."""
    for f in fields(settings):
        limit, value = f.metadata.get(KEY), getattr(settings, f.name)
        if limit is None or (value is None and f.default is None):
            continue
        try:
            allowed = bool(limit.allows(value))
        except (TypeError, ValueError):
            allowed = False
        if not allowed:
            raise InvalidInput(f.name, value, limit.words, limit.remedy)
