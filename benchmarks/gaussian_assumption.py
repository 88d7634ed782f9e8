"""How often a bound under `assume="gdp"` exceeds the truth where the noise is not Gaussian.

Run: python -m benchmarks.gaussian_assumption [--audits 200] [--most 1e6] [--executor processes:2]
The table goes into docs/validity.md. `--most` leaves out the longer audits.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import integrate, optimize, special, stats

from benchmarks.executors import add_executor
from benchmarks.pages import write_section
from dpcheck.audits import audit
from dpcheck.audits.gaussian import FEWEST
from dpcheck.audits.trials.spreading import in_order, opened
from dpcheck.bounds.language.errors import InvalidInput

ALPHA, DELTA, EPSILON = 0.05, 1e-5, 1.0
TRIALS = (20, 60, 100, 200, 300, 1000, 3000, 10_000, 30_000, 100_000, 1_000_000)
TERMS, CLIP = 20, 3.0
LONG = 200_000  # trials from which a tenth of the audits must do

SECTION = f"""\
## If the noise is not Gaussian: `assume="gdp"`

Each law is moved so far that its true epsilon at delta = {DELTA:g} is {EPSILON:g} (computed by quadrature); the audits
measure it with `assume="gdp"`, at alpha = {ALPHA:g}. "dropped" counts audits that saw other noise and gave a bound that
assumes nothing, "too high" bounds above the truth, with the assumption kept and with it dropped. Fewer than {FEWEST}
trials are refused. A law that passes may have every bound too high: that is what "if the noise is Gaussian" means.

Rerun: `python -m benchmarks.gaussian_assumption`

"""


def laplace(shift: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return shift + rng.laplace(size=trials)


def student(shift: float, rng: np.random.Generator, trials: int, freedom: int) -> np.ndarray:
    return shift + rng.standard_t(freedom, size=trials)


def mean_of_laplaces(shift: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """A Laplace variable is the difference of two exponentials, so a sum of them is one of two gammas."""
    return shift + (rng.standard_gamma(TERMS, trials) - rng.standard_gamma(TERMS, trials)) / TERMS


def clipped(shift: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.clip(shift + rng.standard_normal(trials), -CLIP, CLIP)


def gaussian(shift: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return shift + rng.standard_normal(trials)


def log_density_of_mean(x: np.ndarray) -> np.ndarray:
    """The difference of two gammas of shape k over k: a Bessel function (variance-gamma)."""
    y = np.maximum(np.abs(x) * TERMS, 1e-9)
    nu = TERMS - 0.5
    return np.asarray(nu * np.log(y / 2) + np.log(special.kve(nu, y)) - y + math.log(TERMS)) - (
        math.log(math.pi) / 2 + math.lgamma(TERMS)
    )


@dataclass(frozen=True)
class Law:
    """A mechanism `noise` around data, its log density at 0, and where outputs are cut off."""

    noise: Callable[..., np.ndarray]
    log_density: Callable[[Any], Any]
    reach: float
    cut: float = math.inf

    def delta(self, epsilon: float, shift: float) -> float:
        """The hockey-stick divergence of the law moved by `shift` from the one that was not; the worse direction.

        A cut-off puts what lies beyond onto atoms at both ends.
        """
        ends = (-self.reach, self.reach + shift) if math.isinf(self.cut) else (-self.cut, self.cut)
        x = np.linspace(*ends, 100_001)
        plain, moved = np.exp(self.log_density(x)), np.exp(self.log_density(x - shift))
        found = []
        for p, q, from_p, from_q in ((moved, plain, shift, 0.0), (plain, moved, 0.0, shift)):
            inside = float(integrate.simpson(np.maximum(p - math.exp(epsilon) * q, 0.0), x=x))
            found.append(inside + self._atoms(epsilon, from_p, from_q))
        return max(found)

    def _atoms(self, epsilon: float, one: float, two: float) -> float:
        if math.isinf(self.cut):
            return 0.0
        tails = [(special.ndtr(side * mean - self.cut) for mean in (one, two)) for side in (1, -1)]
        return float(sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in tails))


LAWS = {
    "Laplace": Law(laplace, stats.laplace.logpdf, 40.0),
    "Student 20": Law(partial(student, freedom=20), stats.t(20).logpdf, 60.0),
    "Student 50": Law(partial(student, freedom=50), stats.t(50).logpdf, 40.0),
    "mean of 20 Laplace": Law(mean_of_laplaces, log_density_of_mean, 12.0),
    "Gaussian clipped at 3": Law(clipped, stats.norm.logpdf, 3.0, CLIP),
    "Gaussian": Law(gaussian, stats.norm.logpdf, 12.0),
}


@cache
def shift_of(name: str) -> float:
    """How far the law must be moved for its epsilon at DELTA to be EPSILON."""
    return float(optimize.brentq(lambda shift: LAWS[name].delta(EPSILON, shift) - DELTA, 1e-4, 2.0, xtol=1e-9))


def outcome(name: str, trials: int, seed: int) -> tuple[bool, bool, bool]:
    """Of one audit: refused, the assumption dropped, the bound too high."""
    asked: dict[str, Any] = {"guarantee": None, "delta": DELTA, "alpha": ALPHA, "max_trials": trials, "seed": seed}
    try:
        found = audit(LAWS[name].noise, pair=(0.0, shift_of(name)), assume="gdp", executor=1, **asked)
    except InvalidInput:
        return True, False, False
    return False, not found.assumes, found.epsilon_lower > EPSILON


def section(audits: int = 200, most: float = 1e6, executor: Any = 1) -> str:
    """The table of all laws and numbers of trials, in Markdown."""
    lines = ["| noise | trials | audits | refused | dropped | too high, kept | too high, dropped |"]
    lines.append("|" + "---|" * 7)
    for name in LAWS:
        for trials in (count for count in TRIALS if count <= most):
            many = max(10, audits // 10) if trials >= LONG else audits
            found = in_order(partial(outcome, name, trials), range(many), executor)
            refused, dropped = (sum(row[k] for row in found) for k in (0, 1))
            kept_high = sum(high for _, gone, high in found if not gone)
            dropped_high = sum(high for _, gone, high in found if gone)
            row = (f"{trials:,}", many, refused, dropped, kept_high, dropped_high)
            lines.append(f"| {name} | " + " | ".join(str(value) for value in row) + " |")
            print(lines[-1], flush=True)
    return SECTION + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--most", type=float, default=1e6)
    add_executor(parser)
    args = parser.parse_args()
    with opened(args.executor) as executor:
        write_section("validity.md", "gaussian assumption", section(args.audits, args.most, executor))


if __name__ == "__main__":
    main()
