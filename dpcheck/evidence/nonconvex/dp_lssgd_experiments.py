"""The trends of lwang21, section 5.4 and lssgd20, section 4, measured again.

Claims: bounds/library/nonconvex. Softmax regression on digits, pixels in [0, 1] and rows of norm at
most 4, l2 = 1e-4, batches of 128, steps 1/t. Digits has 1497 records to train on, on which private noise at ε ≤ 0.3
leaves nothing but chance: the noise is what each theorem says for the documents' n = 50000, and 150 steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex.dp_lssgd_experiments import BATCH, DELTA, RECORDS
from dpcheck.datasets.embedded import sklearn_data
from dpcheck.evidence.checks import RATE_ALARM
from dpcheck.families.smoothed import Document, SmoothedSolver
from dpcheck.kernels.running import Run
from dpcheck.problems.losses import Array
from dpcheck.problems.softmax import SoftmaxProblem, softmax_problem
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD

STEPS, SIGMAS, EPSILONS, ROW = 150, (1.0, 3.0), (0.1, 0.3), 4.0
SETTLED = STEPS // 2
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


@dataclass(frozen=True, eq=False)
class Fitted:
    """Of each run: test accuracy, training loss, validation loss (without the regulariser, on the test images)."""

    accuracy: Array
    training: Array
    validation: Array


@lru_cache(maxsize=64)
def fitted(document: Document, eps: float, sigma: float, rate: float, seed: int, trials: int) -> Fitted:
    """What 150 steps lead to; one seed gives all settings the same batches and noise. ε = ∞ is without noise."""
    problem, rows, labels = images()
    solver = DPLSSGD(BATCH, STEPS, sigma, rate, document=document, conditions=False)
    w = performed(solver, eps, seed, trials).w
    seen = softmax_problem(rows, labels, 10, row_bound=ROW)
    return Fitted((problem.predicted(w, rows) == labels).mean(axis=1), problem.value(w), np.asarray(seen.value(w)))


def performed(solver: SmoothedSolver, eps: float, seed: int, trials: int, *, trace: bool = False) -> Run:
    """Runs with the noise that the solver's theorem states for n = 50000; with none for ε = ∞."""
    problem, noisy = images()[0], math.isfinite(eps)
    done = solver.calibrated(problem, ApproxDP(eps if noisy else 1.0, float(DELTA)), "stated")
    factor = problem.n / RECORDS if noisy else 0.0
    scaled = replace(done, released=done.released.with_noise_times(factor))
    return solver.performed(problem, scaled, seed, trials, trace=trace)


@lru_cache(maxsize=16)
def paths(document: Document, eps: float, sigma: float, rate: float, constant: bool, seed: int, trials: int) -> Array:
    """Every iterate, (steps + 1, trials, d): steps of rate/t, or all of them `rate` if `constant`."""
    solver = DPLSSGD(BATCH, STEPS, sigma, rate, document=document, conditions=False)
    if constant:
        solver = replace(solver, rate=rate * math.sqrt(STEPS), schedule="constant")
    found = performed(solver, eps, seed, trials, trace=True).trace
    assert found is not None
    return found.points


def validation_curve(eps: float, sigma: float, rate: float, seed: int, trials: int) -> Array:
    """Test accuracy in percent after each constant step, (steps, trials)."""
    problem, rows, labels = images()
    iterates = paths("lssgd20", eps, sigma, rate, True, seed, trials)[1:]
    return np.asarray(100 * (problem.predicted(iterates, rows) == labels).mean(axis=-1))


def sway(curve: Array) -> Array:
    """How a curve (steps, trials) goes up and down: the mean absolute second difference, which no trend adds to."""
    return np.asarray(np.abs(np.diff(curve, n=2, axis=0)).mean(axis=0))


def accuracy_gain(document: Document, eps: float, sigma: float, rate: float, seed: int, trials: int) -> Array:
    """Percentage points gained by smoothing."""
    plain, smooth = (fitted(document, eps, s, rate, seed, trials).accuracy for s in (0.0, sigma))
    return 100 * (smooth - plain)


def accuracy(document: Document) -> Callable[[int, int], Gains]:
    def measure(seed: int, trials: int) -> Gains:
        return {
            f"ε = {e:g}, σ = {s:g}": accuracy_gain(document, e, s, 1.0, seed, trials) for e in EPSILONS for s in SIGMAS
        }

    return measure


def loss_gain(document: Document, eps: float, sigma: float, seed: int, trials: int, seen: bool = True) -> Array:
    """What smoothing takes off the training loss, or the validation loss."""
    plain, smooth = (fitted(document, eps, s, 1.0, seed, trials) for s in (0.0, sigma))
    return plain.training - smooth.training if seen else plain.validation - smooth.validation


def loss(document: Document, seen: bool = True) -> Callable[[int, int], Gains]:
    def measure(seed: int, trials: int) -> Gains:
        return {
            f"ε = {e:g}, σ = {s:g}": loss_gain(document, e, s, seed, trials, seen) for e in EPSILONS for s in SIGMAS
        }

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
    """At ε = 0.2, for other step sizes."""

    def measure(seed: int, trials: int) -> Gains:
        return {
            f"a = {a:g}, σ = {s:g}": accuracy_gain(document, 0.2, s, a, seed, trials)
            for a in (0.5, 3.0)
            for s in SIGMAS
        }

    return measure


def degraded(document: Document) -> Callable[[int, int], Gains]:
    """What DP-SGD's losses rise by when ε falls."""

    def measure(seed: int, trials: int) -> Gains:
        runs = {e: fitted(document, e, 0.0, 1.0, seed, trials) for e in (0.3, 0.2, 0.1)}
        found = {}
        for weak, strong in ((0.3, 0.2), (0.2, 0.1)):
            found[f"training, ε = {weak:g} to {strong:g}"] = runs[strong].training - runs[weak].training
            found[f"validation, ε = {weak:g} to {strong:g}"] = runs[strong].validation - runs[weak].validation
        return found

    return measure


def without_noise(document: Document) -> Callable[[int, int], Gains]:
    """Percentage points that the noise of DP-SGD costs."""

    def measure(seed: int, trials: int) -> Gains:
        best = fitted(document, math.inf, 0.0, 1.0, seed, trials).accuracy
        return {f"ε = {e:g}": 100 * (best - fitted(document, e, 0.0, 1.0, seed, trials).accuracy) for e in EPSILONS}

    return measure


def oscillation(document: Document) -> Callable[[int, int], Gains]:
    """How much less the logarithm of the training loss goes up and down, ε = 0.1, steps 1/t, their second half."""

    def measure(seed: int, trials: int) -> Gains:
        moves = {
            s: sway(np.log(images()[0].value(paths(document, 0.1, s, 1.0, False, seed, trials)[SETTLED:])))
            for s in (0.0, *SIGMAS)
        }
        return {f"σ = {s:g}": moves[0.0] - moves[s] for s in SIGMAS}

    return measure


# In place of networks: constant steps, ε = 0.1 ------------------------------------------------------
STEP, STEPS_TRIED, EARLY = 0.15, (0.05, 0.15, 0.5), 10


def stability(rate: float) -> Callable[[int, int], Gains]:
    """How much less the validation accuracy goes up and down than DP-SGD's, in points, in the second half."""

    def measure(seed: int, trials: int) -> Gains:
        moves = {s: sway(validation_curve(0.1, s, rate, seed, trials)[SETTLED:]) for s in (0.0, *SIGMAS)}
        return {f"σ = {s:g}": moves[0.0] - moves[s] for s in SIGMAS}

    return measure


def stabler(seed: int, trials: int) -> Gains:
    """The same, σ = 3 against 1."""
    one, three = (sway(validation_curve(0.1, s, STEP, seed, trials)[SETTLED:]) for s in (1.0, 3.0))
    return {"σ = 3 against 1": one - three}


def slower(seed: int, trials: int) -> Gains:
    """Points that DP-SGD is ahead after the first steps."""
    plain, *smooth = (validation_curve(0.1, s, STEP, seed, trials)[EARLY - 1] for s in (0.0, *SIGMAS))
    return {f"σ = {s:g}": plain - one for s, one in zip(SIGMAS, smooth, strict=True)}


def rates(seed: int, trials: int) -> Gains:
    """Percentage points gained at the end."""
    end = {(s, a): validation_curve(0.1, s, a, seed, trials)[-1] for s in (0.0, *SIGMAS) for a in STEPS_TRIED}
    return {f"step {a:g}, σ = {s:g}": end[s, a] - end[0.0, a] for a in STEPS_TRIED for s in SIGMAS}


DATA = "softmax regression on digits, ε = 0.1 and 0.3, σ = 1 and 3 against 0, noise of n = 50000 and 150 steps"
CURVES = "softmax regression on digits, constant steps, ε = 0.1, σ = 1 and 3, noise of n = 50000 and 150 steps"


def trends(document: Document) -> dict[tuple[str, str], Gained]:
    """The check of each claim, by its name in lwang21 and in lssgd20, with the noise of the document's theorem."""
    return {
        ("figure5.1.loss", "figure1.loss"): Gained(degraded(document), f"{DATA}; σ = 0"),
        ("figure5.1.accuracy", "figure1.accuracy"): Gained(without_noise(document), f"{DATA}; σ = 0"),
        ("table5.2", "table2"): Gained(accuracy(document), DATA),
        ("remark5.3.6.always", "remark2.always"): Gained(accuracy(document), DATA),
        ("figure5.3.training", "figure3.training"): Gained(loss(document), DATA),
        ("figure5.3.validation", "figure3.validation"): Gained(loss(document, seen=False), DATA),
        ("figure5.3.oscillation", "figure3.oscillation"): Gained(
            oscillation(document), f"{DATA}; here ε = 0.1", trials=8
        ),
        ("figure5.3.stronger", "figure3.stronger"): Gained(stronger(document), DATA),
        ("figure5.4", "figure4"): Gained(step_sizes(document), f"{DATA}; here ε = 0.2"),
        ("figure5.5.stability", "figure5.stability"): Gained(stability(STEP), CURVES),
        ("figure5.7.stability", "figure6.stability"): Gained(stabler, CURVES),
        ("figure5.7.slower", "figure6.slower"): Gained(slower, CURVES),
        ("figure5.7.rates", "figure6.rates"): Gained(rates, CURVES),
        ("figure5.7.large", "figure6.large"): Gained(stability(max(STEPS_TRIED)), CURVES),
    }


DOCUMENTS: tuple[Document, Document] = ("lwang21", "lssgd20")
CHECKS = {
    f"{document}.{names[place]}": [check]
    for place, document in enumerate(DOCUMENTS)
    for names, check in trends(document).items()
}
