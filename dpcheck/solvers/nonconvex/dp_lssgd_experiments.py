"""The trends of lwang21, section 5.4.1 and lssgd20, section 4.1, measured again.

Claims: bounds/nonconvex/dp_lssgd_experiments.py. Softmax regression on digits, pixels in [0, 1] and rows of norm at
most 4, l2 = 1e-4, batches of 128, steps 1/t. Digits has 1497 records to train on, on which private noise at ε ≤ 0.3
leaves nothing but chance: the noise is what each theorem says for the documents' n = 50000, and 150 steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy import special

from bounds.claim import Claim, Effort, Evidence, Verdict
from bounds.guarantees import ApproxDP
from bounds.nonconvex.dp_lssgd_experiments import BATCH, DELTA, RECORDS
from dpcheck.checks import RATE_ALARM
from dpcheck.datasets import sklearn_data
from dpcheck.losses import Array
from dpcheck.smoothed_solver import Document
from dpcheck.softmax import SoftmaxProblem, softmax_problem
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD

STEPS, SIGMAS, EPSILONS, ROW = 150, (1.0, 3.0), (0.1, 0.3), 4.0
Gains = Mapping[str, Array]  # per setting, one gain a run: positive is better with smoothing


@dataclass(frozen=True)
class Gained:
    """`measure(seed, trials)` gives paired gains by setting, all of which the claim says are positive.

    Each mean gets a Student interval; all hold together with probability 99.9%. A setting clearly below 0 refutes;
    one clearly above, and none below, supports.
    """

    measure: Callable[[int, int], Gains]
    because: str
    trials: int = 24
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (5 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        gained = self.measure(seed, trials)
        found = {name: interval(gains, RATE_ALARM / len(gained)) for name, gains in gained.items()}
        lost = [name for name, (_, high) in found.items() if high < 0]
        won = [name for name, (low, _) in found.items() if low > 0]
        worst = min(found, key=lambda name: sum(found[name]))
        low, high = found[worst]
        figure = (
            f"better in {len(won)} of {len(found)} settings, worse in {len(lost)}; least gain {low:.3g} to {high:.3g}"
        )
        detail = f"{self.because}; {trials} paired runs each; least in {worst}"
        if lost:
            seen = {"seed": seed, "trials": trials, "worst": worst}
            return Evidence(self.kind, Verdict.REFUTED, figure, detail, None, 1 - RATE_ALARM, seen, seed)
        verdict = Verdict.SUPPORTED if won else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, detail, confidence=1 - RATE_ALARM, seed=seed)


def interval(gains: Array, miss: float) -> tuple[float, float]:
    """Student's, missed with probability `miss` at most."""
    size = len(gains)
    reach = float(gains.std(ddof=1)) / math.sqrt(size) * float(special.stdtrit(size - 1, 1 - miss / 2))
    return float(gains.mean()) - reach, float(gains.mean()) + reach


@lru_cache(maxsize=1)
def images() -> tuple[SoftmaxProblem, Array, Array]:
    """1497 images to train on; 300 others, with their labels."""
    raw = sklearn_data("load_digits")
    pixels = raw.data / 16
    rows = pixels * np.minimum(1.0, ROW / np.linalg.norm(pixels, axis=1))[:, None]
    order = np.random.default_rng(0).permutation(len(rows))
    train, test = order[300:], order[:300]
    return (
        softmax_problem(rows[train], raw.target[train], 10, l2=1e-4, row_bound=ROW),
        rows[test],
        raw.target[test],
    )


@lru_cache(maxsize=64)
def fitted(document: Document, eps: float, sigma: float, rate: float, seed: int, trials: int) -> tuple[Array, Array]:
    """Test accuracies and training losses; one seed gives all settings the same batches and noise."""
    problem, rows, labels = images()
    solver = DPLSSGD(BATCH, STEPS, sigma, rate, document=document, conditions=False, noise_factor=problem.n / RECORDS)
    w = solver.solve(problem, ApproxDP(eps, float(DELTA)), seed, trials=trials, calibration="stated").w
    return (problem.predicted(w, rows) == labels).mean(axis=1), np.asarray(problem.value(w))


def accuracy(document: Document) -> Callable[[int, int], Gains]:
    """Percentage points gained."""

    def measure(seed: int, trials: int) -> Gains:
        return {
            f"ε = {e:g}, σ = {s:g}": 100
            * (fitted(document, e, s, 1.0, seed, trials)[0] - fitted(document, e, 0.0, 1.0, seed, trials)[0])
            for e in EPSILONS
            for s in SIGMAS
        }

    return measure


def loss_gain(document: Document, eps: float, sigma: float, seed: int, trials: int) -> Array:
    """What smoothing takes off the training loss."""
    plain, smooth = (fitted(document, eps, s, 1.0, seed, trials)[1] for s in (0.0, sigma))
    return plain - smooth


def loss(document: Document) -> Callable[[int, int], Gains]:
    def measure(seed: int, trials: int) -> Gains:
        return {f"ε = {e:g}, σ = {s:g}": loss_gain(document, e, s, seed, trials) for e in EPSILONS for s in SIGMAS}

    return measure


def stronger(document: Document) -> Callable[[int, int], Gains]:
    """The gain in loss at ε = 0.1 over that at 0.3."""

    def measure(seed: int, trials: int) -> Gains:
        return {
            f"σ = {s:g}": loss_gain(document, 0.1, s, seed, trials) - loss_gain(document, 0.3, s, seed, trials)
            for s in SIGMAS
        }

    return measure


def step_sizes(document: Document) -> Callable[[int, int], Gains]:
    """Percentage points gained at ε = 0.2, for other step sizes."""

    def measure(seed: int, trials: int) -> Gains:
        return {
            f"a = {a:g}, σ = {s:g}": 100
            * (fitted(document, 0.2, s, a, seed, trials)[0] - fitted(document, 0.2, 0.0, a, seed, trials)[0])
            for a in (0.5, 3.0)
            for s in SIGMAS
        }

    return measure


DATA = "softmax regression on digits, ε = 0.1 and 0.3, σ = 1 and 3 against 0, noise of n = 50000 and 150 steps"
CHECKS = {
    "lwang21.table5.2": [Gained(accuracy("lwang21"), DATA)],
    "lssgd20.table2": [Gained(accuracy("lssgd20"), DATA)],
    "lwang21.section5.4.1.loss": [Gained(loss("lwang21"), DATA, trials=12)],
    "lssgd20.section4.1.loss": [Gained(loss("lssgd20"), DATA, trials=12)],
    "lwang21.section5.4.1.stronger": [Gained(stronger("lwang21"), DATA, trials=12)],
    "lssgd20.section4.1.stronger": [Gained(stronger("lssgd20"), DATA, trials=12)],
    "lwang21.section5.4.1.steps": [Gained(step_sizes("lwang21"), f"{DATA}; here ε = 0.2")],
    "lssgd20.section4.1.steps": [Gained(step_sizes("lssgd20"), f"{DATA}; here ε = 0.2")],
}
