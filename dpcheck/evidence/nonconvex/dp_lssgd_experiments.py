"""The findings of lwang21, section 5.4 and lssgd20, section 4, measured again.

Claims: bounds/library/nonconvex/dp_lssgd_experiments.py. Softmax regression on digits, which stands in for MNIST:
pixels in [0, 1], rows of norm at most 4, l2 = 1e-4; the documents' batches, 19531 steps of a/t, σ and ε. Digits has
1497 records to train on, and private noise for so few leaves nothing but chance: the noise is what lssgd20's Theorem 1
says for the documents' n = 50000. By default the ends of the documents' grids, `--thorough` all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex.dp_lssgd import BATCH, DELTA, RECORDS, STEPS
from dpcheck.datasets.embedded import sklearn_data
from dpcheck.evidence.false_alarms import FALSE_ALARM, MORE, RATE_ALARM
from dpcheck.problems.losses import Array
from dpcheck.problems.softmax import SoftmaxProblem, softmax_problem
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD
from dpcheck.theory import exponents

ROW = 4.0
Gains = Mapping[str, Array]  # per setting, one gain a run: positive is as the text says


@dataclass(frozen=True)
class Gained:
    """`measure(seed, trials)` gives paired gains by setting, all of which the claim says are positive.

    Each mean gets a Student interval. The claim is supported if all are above 0, together with probability 99.9%; a
    setting below 0, but for 1e-6, is not what the text says. Runs are added once where all means are above 0 and some
    not clearly. `thorough` measures more settings.
    """

    measure: Callable[[int, int], Gains]
    because: str
    trials: int = 24
    thorough: Callable[[int, int], Gains] | None = None
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        full = self.thorough is not None and effort.thorough
        return self.judge(effort.seed, self.trials, full)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]), bool(point["thorough"]))

    def judge(self, seed: int, trials: int, full: bool) -> Evidence:
        measure = self.thorough if full and self.thorough else self.measure
        gained = measure(seed, trials)
        found = intervals(gained, exponents.level(RATE_ALARM, 0))
        if any(low <= 0 for low, _ in found.values()) and all(gains.mean() > 0 for gains in gained.values()):
            again = measure(exponents.seed_of(seed, 1, {}), MORE * trials)
            gained = {name: np.concatenate([gains, again[name]]) for name, gains in gained.items()}
            found = intervals(gained, exponents.level(RATE_ALARM, 1))
        lost = [name for name, (_, high) in intervals(gained, FALSE_ALARM / 2).items() if high < 0]
        won = [name for name, (low, _) in found.items() if low > 0]
        worst = min(found, key=lambda name: sum(found[name]))
        low, high = found[worst]
        figure = f"so in {len(won)} of {len(found)} settings, the contrary in {len(lost)}"
        figure += f"; least gain {low:.3g} to {high:.3g}"
        detail = f"{self.because}; {', '.join(found)}; {len(gained[worst])} paired runs each; least in {worst}"
        verdict = Verdict.SUPPORTED if len(won) == len(found) else Verdict.UNCHECKED
        seen = {"seed": seed, "trials": trials, "thorough": int(full)} if lost else None
        verdict = Verdict.REFUTED if lost else verdict
        return Evidence(self.kind, verdict, figure, detail, None, 1 - RATE_ALARM, seen, seed)


def intervals(gained: Gains, miss: float) -> dict[str, tuple[float, float]]:
    """Of all means, one of which is missed with probability `miss` at most."""
    return {name: interval(gains, miss / len(gained)) for name, gains in gained.items()}


def interval(gains: Array, miss: float) -> tuple[float, float]:
    """Student's, missed with probability `miss` at most."""
    size = len(gains)
    reach = float(gains.std(ddof=1)) / math.sqrt(size) * float(special.stdtrit(size - 1, 1 - miss / 2))
    return float(gains.mean()) - reach, float(gains.mean()) + reach


# Runs ----------------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def images() -> tuple[SoftmaxProblem, SoftmaxProblem]:
    """1497 images to train on; 300 others, without the regulariser."""
    raw = sklearn_data("load_digits")
    pixels = raw.data / 16
    rows = pixels * np.minimum(1.0, ROW / np.linalg.norm(pixels, axis=1))[:, None]
    order = np.random.default_rng(0).permutation(len(rows))
    train, test = order[300:], order[:300]
    return (
        softmax_problem(rows[train], raw.target[train], 10, l2=1e-4, row_bound=ROW),
        softmax_problem(rows[test], raw.target[test], 10, row_bound=ROW),
    )


@lru_cache(maxsize=128)
def fitted(eps: float, sigma: float, rate: float, seed: int, trials: int, steps: int = STEPS) -> dict[str, Array]:
    """Losses and percents right of each run; one seed gives all settings the same batches and noise."""
    train, test = images()
    solver = DPLSSGD(BATCH, steps, sigma, rate, document="lssgd20", conditions=False)
    done = solver.calibrated(train, ApproxDP(eps, float(DELTA)), "stated")
    scaled = replace(done, released=done.released.with_noise_times(train.n / RECORDS))
    w = solver.performed(train, scaled, seed, trials).w
    right = 100 * (test.predicted(w, test.X) == test.y).mean(axis=1)
    return {"training": np.asarray(train.value(w)), "validation": np.asarray(test.value(w)), "accuracy": right}


LOSSES = ("training", "validation")


def degraded(seed: int, trials: int) -> Gains:
    """What DP-SGD's losses rise by when ε falls."""
    runs = {e: fitted(e, 0.0, 1.0, seed, trials) for e in (0.3, 0.2, 0.1)}
    return {
        f"{loss} loss, ε = {weak:g} to {strong:g}": runs[strong][loss] - runs[weak][loss]
        for weak, strong in ((0.3, 0.2), (0.2, 0.1))
        for loss in LOSSES
    }


def taken_off(eps: float, seed: int, trials: int) -> dict[str, Array]:
    """What smoothing takes off the losses at one ε."""
    runs = {s: fitted(eps, s, 1.0, seed, trials) for s in (0.0, 1.0, 3.0)}
    return {f"{loss} loss, σ = {s:g}": runs[0.0][loss] - runs[s][loss] for s in (1.0, 3.0) for loss in LOSSES}


def lower(seed: int, trials: int) -> Gains:
    """At the two ε of the figure."""
    return {f"{name}, ε = {e:g}": gain for e in (0.2, 0.1) for name, gain in taken_off(e, seed, trials).items()}


def more_at_stronger(seed: int, trials: int) -> Gains:
    """What it takes off at ε = 0.1 less what it takes off at 0.2."""
    strong, weak = (taken_off(e, seed, trials) for e in (0.1, 0.2))
    return {name: strong[name] - weak[name] for name in strong}


def more_accurate(
    epsilons: Iterable[float], sigmas: Iterable[float], rates: Iterable[float]
) -> Callable[[int, int], Gains]:
    """Percentage points that smoothing gains."""
    cases = [(e, s, a) for e in epsilons for s in sigmas for a in rates]

    def measure(seed: int, trials: int) -> Gains:
        def right(e: float, s: float, a: float) -> Array:
            return fitted(e, s, a, seed, trials)["accuracy"]

        return {f"ε = {e:g}, σ = {s:g}, a = {a:g}": right(e, s, a) - right(e, 0.0, a) for e, s, a in cases}

    return measure


WHERE = "softmax regression on digits (1497 records) for MNIST, 19531 steps, batches of 128, noise of n = 50000"
RUNS = 10
FINDINGS = {
    ("figure5.1", "figure1"): Gained(degraded, WHERE, RUNS),
    ("figure5.3", "figure3"): Gained(lower, WHERE, 2 * RUNS),  # eight settings: with ten runs the intervals are wide
    ("figure5.3.stronger", "figure3.stronger"): Gained(more_at_stronger, WHERE, RUNS),
    ("table5.2", "table2"): Gained(
        more_accurate((0.3, 0.1), (1.0, 3.0), (1.0,)), WHERE, RUNS,
        more_accurate((0.3, 0.25, 0.2, 0.15, 0.1), (1.0, 2.0, 3.0), (1.0,)),
    ),
    ("figure5.4", "figure4"): Gained(
        more_accurate((0.1,), (1.0,), (0.5, 3.0)), WHERE, RUNS,
        more_accurate((0.1, 0.2), (1.0,), (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)),
    ),
}
CHECKS = {
    f"{document}.{names[place]}": [check]
    for place, document in enumerate(("lwang21", "lssgd20"))
    for names, check in FINDINGS.items()
}
