"""White-box attack on an iterative algorithm: the log density of all that it released, step by step.

The adversary knows the algorithm, so after each step it can work out from what law either dataset would draw the
next. The log densities of the steps, each given those before it, add up to that of the whole transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats

Steps = Callable[[np.ndarray, Any], np.ndarray]


@dataclass(frozen=True)
class Transcript:
    """Log density of transcripts, from that of each step."""

    steps: int
    log_density: Steps

    def __call__(self, outputs: Any, data: Any) -> np.ndarray:
        rows = np.asarray(outputs, float).reshape(len(outputs), -1)
        if rows.shape[1] % self.steps:
            limit = f"a multiple of steps={self.steps}"
            raise InvalidInput("width of a transcript", rows.shape[1], limit, "Release the same d numbers every step.")
        released = rows.reshape(len(rows), self.steps, -1)
        found = np.asarray(self.log_density(released, data), float)
        if found.shape != released.shape[:2]:
            limit = f"{released.shape[:2]}: one log density per run and step"
            raise InvalidInput("shape of the steps' log densities", found.shape, limit, "Sum over coordinates only.")
        return found.sum(axis=1)


@dataclass(frozen=True)
class GaussianSteps:
    """Steps that release a mean, which may depend on all released before, plus Gaussian noise."""

    means: Callable[[np.ndarray, Any], np.ndarray]
    noise_std: Any

    def __call__(self, released: np.ndarray, data: Any) -> np.ndarray:
        return gaussian_log_density(released, self.means(released, data), self.noise_std)


def transcript(
    means: Steps | None = None, *, steps: int, noise_std: Any = None, log_density: Steps | None = None
) -> Transcript:
    """The log density of transcripts of shape (m, steps, d), for `likelihood_ratio`.

    `means(released, data)`, (m, steps, d) to (m, steps, d), says what each step would release without noise; entry
    t may use released[:, :t] only. `noise_std` is one number or one a step. For other noise, or a sample that is
    drawn and not revealed, `log_density(released, data)` gives (m, steps): see `mixture_log_density`.

    Noisy gradient descent on the mean of squares, of which an attack on the last iterate sees less:

    >>> from dpcheck.audits import audit, likelihood_ratio
    >>> from dpcheck.bounds.language.guarantees import GaussianDP
    >>> T, eta, sigma = 5, 0.5, 1.0
    >>> def iterates(gradients):
    ...     return -eta * np.cumsum(gradients, axis=1)[:, :-1]
    >>> def means(released, data):
    ...     w = np.concatenate([np.zeros_like(released[:, :1]), iterates(released)], axis=1)
    ...     return np.clip(w - data, -1, 1)                          # the gradient, clipped at each step
    >>> def gradients(data, rng, trials):
    ...     released = np.zeros((trials, T, 1))
    ...     for t in range(T):
    ...         released[:, t] = means(released, data)[:, t] + sigma * rng.standard_normal((trials, 1))
    ...     return released
    >>> attack = likelihood_ratio(transcript(means, steps=T, noise_std=sigma))
    >>> far = {"pair": (-50.0, 50.0), "guarantee": GaussianDP(2.0), "max_trials": 4000, "assume": "gdp"}
    >>> whole = audit(gradients, attack=attack, **far)
    >>> whole.violated, bool(whole.epsilon_lower > GaussianDP(0.9 * 2 * T**0.5).epsilon(whole.delta))
    (True, True)
    """
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidInput("steps", steps, "an integer >= 1", "Pass the number of steps that are released.")
    if (log_density is None) == (means is None) or (means is None) != (noise_std is None):
        given = [name for name, value in (("means", means), ("noise_std", noise_std)) if value is not None]
        limit = "means with noise_std, or else log_density"
        raise InvalidInput("law of the steps", given or None, limit, "Pass means=..., noise_std=... .")
    if log_density is not None:
        return Transcript(int(steps), log_density)
    assert means is not None
    return Transcript(int(steps), GaussianSteps(means, checked_std(noise_std, int(steps))))


def checked_std(noise_std: Any, steps: int) -> np.ndarray:
    """One positive number, or one a step."""
    std = floats("noise_std", noise_std)
    if std.shape not in ((), (steps,)) or not np.all((std > 0) & np.isfinite(std)):
        raise InvalidInput("noise_std", noise_std, f"a number > 0, or {steps} of them", "Without noise nothing hides.")
    return std


def gaussian_log_density(released: np.ndarray, means: np.ndarray, noise_std: Any) -> np.ndarray:
    """Of independent N(mean, noise_std^2) in the last axis, up to the constant; noise_std per step, (...) or ()."""
    std = np.asarray(noise_std, float)
    square = np.einsum("...i,...i->...", *(released - means,) * 2)
    # The normaliser stays: it differs between datasets where the noise depends on the data.
    return -square / (2 * std**2) - released.shape[-1] * np.log(std)


def mixture_log_density(parts: Iterable[tuple[float, np.ndarray]]) -> np.ndarray:
    """log sum_i p_i f_i from (p_i, log f_i): of a step whose random batch (or coin) is not revealed.

    >>> near, far = np.array([0.0, -1.0]), np.array([-8.0, 0.0])
    >>> mixture_log_density([(0.9, near), (0.1, far)]).round(3).tolist()
    [-0.105, -0.841]
    """
    total: np.ndarray | None = None
    for probability, log_density in parts:
        part = np.log(probability) + log_density
        total = part if total is None else np.logaddexp(total, part)
    if total is None:
        raise InvalidInput("parts", "none", "at least one", "Pass [(1.0, log_density)].")
    return total
