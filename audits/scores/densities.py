"""The optimal attack where densities are known: the log-likelihood ratio of the two datasets (Neyman and Pearson).

A mechanism may offer its own, as a method `log_density(outputs, data)`; then `attack="auto"` tries it with the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

LogDensity = Callable[[Any, Any], Any]
CERTAIN = 1e6  # a log ratio that stands for certainty, finite so that moments exist
DIGITS = 9  # outputs that are equally telling must not be parted by rounding


@dataclass(frozen=True)
class LawDensity:
    """The log density of frozen scipy distributions; one with an axis of parameters is of independent coordinates."""

    of: Callable[[Any], Any]

    def __call__(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        law = self.of(data)
        log = getattr(law, "logpmf", None) or getattr(law, "logpdf", None)
        if log is None:
            limit = "a frozen distribution with logpdf or logpmf"
            raise InvalidInput("law(data)", law, limit, "Return scipy.stats.norm(loc, scale) for example.")
        values = np.asarray(log(outputs), float)
        return values.sum(axis=1) if values.ndim == 2 and outputs.ndim == 2 else values

    @property
    def __name__(self) -> str:
        return getattr(self.of, "__name__", "law")


@dataclass(frozen=True)
class LikelihoodRatio:
    """An attack that needs to know the pair."""

    log_density: LogDensity

    def on(self, pair: tuple[Any, Any]) -> KnownRatio:
        """The score on this pair."""
        return KnownRatio(self.log_density, pair[0], pair[1])


def likelihood_ratio(log_density: LogDensity | None = None, *, law: Callable[[Any], Any] | None = None) -> Any:
    """The attack by known densities: log f(output | first) - log f(output | second), which no other event beats.

    `log_density(outputs, data)` gives one log density (or log mass) per output; outputs are numbers, in rows of
    shape (m,) or (m, k), arrays flattened. Or `law(data)` gives a frozen scipy distribution. -inf says that an
    output cannot happen. The densities steer the attack only: if they are wrong, the bound is weaker but still valid.

    >>> from dpcheck.audits import audit
    >>> from dpcheck.bounds.language.guarantees import PureDP
    >>> def noisy(data, rng, trials):
    ...     return data + rng.laplace(scale=0.5, size=trials)      # calibrated for eps = 2
    >>> ratio = likelihood_ratio(lambda outputs, data: -abs(outputs - data) / 0.5)
    >>> audit(noisy, pair=(0.0, 1.0), guarantee=PureDP(1.0), attack=ratio, max_trials=5000, stop_early=True).violated
    True
    """
    if (log_density is None) == (law is None):
        limit = "given, or else law(data)"
        raise InvalidInput("log_density", log_density, limit, "Pass one of the two.")
    for name, function in (("log_density", log_density), ("law", law)):
        if function is not None and not callable(function):
            raise InvalidInput(name, function, "callable", "Pass the function itself.")
    if law is not None:
        return LikelihoodRatio(LawDensity(law))
    assert log_density is not None
    return LikelihoodRatio(log_density)


@dataclass(frozen=True, eq=False)
class KnownRatio:
    """Log-likelihood ratio of the first dataset against the second, from their known densities."""

    log_density: LogDensity
    first: Any = field(repr=False)
    second: Any = field(repr=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        outputs = rows[:, 0] if rows.shape[1] == 1 else rows
        ours, theirs = (checked_log_density(self.log_density(outputs, data), len(rows)) for data in self.pair)
        with np.errstate(invalid="ignore"):
            # Equal infinities: impossible (or certain) on both datasets, so the output tells nothing.
            ratio = np.where(ours == theirs, 0.0, ours - theirs)
        return np.round(np.clip(ratio, -CERTAIN, CERTAIN), DIGITS)

    @property
    def pair(self) -> tuple[Any, Any]:
        """Both datasets."""
        return self.first, self.second

    def phrase(self, name: Callable[[int], str]) -> str:
        return str(self)

    def __str__(self) -> str:
        name = getattr(self.log_density, "__name__", type(self.log_density).__name__)
        return f"log-likelihood ratio of the output by {'its density' if name == '<lambda>' else name}"


def checked_log_density(values: Any, runs: int) -> np.ndarray:
    """One number per run; -inf and inf are allowed, NaN is not."""
    values = np.asarray(values, float)
    if values.shape != (runs,):
        remedy = "One value per run: sum over coordinates."
        raise InvalidInput("shape of the log density", values.shape, f"({runs},)", remedy)
    if np.isnan(values).any():
        raise InvalidInput("a log density", "NaN", "a number", "Return -inf for an output that cannot happen.")
    return values
