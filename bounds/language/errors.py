"""Typed errors. Every one names the value, the limit and the remedy, and reads the same in another process."""

from __future__ import annotations

import pickle
from typing import Any


class DpcheckError(Exception):
    """Base of everything dpcheck raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Its parts, not a call of its constructor: errors take other arguments than they keep."""
        state = {name: _sendable(value) for name, value in vars(self).items()}
        return _restored, (type(self), tuple(_sendable(value) for value in self.args), state)


class InvalidInput(DpcheckError, ValueError):
    """A value outside its limits.

    >>> raise InvalidInput("epsilon", -1, "a finite number > 0", "Pass epsilon=1.0.")
    Traceback (most recent call last):
    ...
    dpcheck.bounds.language.errors.InvalidInput: epsilon is -1; it must be a finite number > 0. Pass epsilon=1.0.
    """

    def __init__(self, what: str, value: Any, limit: str, remedy: str) -> None:
        self.what, self.value, self.limit, self.remedy = what, value, limit, remedy
        super().__init__(what, value, limit, remedy)

    def __str__(self) -> str:
        return f"{self.what} is {shown(self.value)}; it must be {self.limit}. {self.remedy}"


class HypothesisViolated(InvalidInput):
    """A claim was used outside the hypotheses it was stated under."""

    def __str__(self) -> str:
        return f"{self.what} does not apply: {shown(self.value)} violates {self.limit}. {self.remedy}"


class UnknownName(InvalidInput, KeyError):
    """No claim, algorithm or symbol of that name."""


class MixedRelations(InvalidInput):
    """Two guarantees under different neighbouring relations were combined."""


class MissingDependency(DpcheckError, ImportError):
    """An optional package is needed for this."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        self.package, self.purpose, self.extra = package, purpose, extra
        super().__init__(f"{package} is not installed; {purpose} needs it. Run: pip install 'dpcheck[{extra}]'")


def shown(value: Any) -> str:
    """A value short enough for one line."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class Shown(str):
    """What was shown of a value that stayed behind."""

    def __repr__(self) -> str:
        return str(self)


def _sendable(value: Any) -> Any:
    """The value, or what is shown of it where it does not survive pickling."""
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return Shown(shown(value))
    return value


def _restored(kind: type[DpcheckError], args: tuple[Any, ...], state: dict[str, Any]) -> DpcheckError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
