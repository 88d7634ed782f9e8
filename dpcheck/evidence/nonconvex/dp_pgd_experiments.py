"""The experiments on DP-PGD, run again. Claims: bounds/library/nonconvex/dp_pgd_experiments.py.

The documents' own synthetic data, at their size, with their λ, δ, ε and T (200 where none is printed), and noise for
G = 1, as they have it. They do not say which projected gradient they plot, that of Theorem 2, with the noise of a step
in it, or that of equation (2): both are measured at x_R, averaged over R. The step size is Theorem 2's 1/(2L): the
printed one, a line search, is not private. Each run has a random start of its own, the same, with the same normals, in
all settings that are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict, lambdified
from dpcheck.bounds.library.nonconvex import dp_pgd as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.false_alarms import FALSE_ALARM, RATE_ALARM
from dpcheck.kernels.method import State
from dpcheck.kernels.proximal_steps import Proximal, ProximalSteps
from dpcheck.kernels.running import run
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.losses import Array, Sigmoid
from dpcheck.problems.problem import Problem

Noise = Literal["zcdp", "moments", "advanced"]
EPSILONS = (0.1, 0.5, 2.0, 5.0)
ORDERS = np.arange(1, 33)  # of the moments accountant, as its authors have them
COMPOSED = lambdified(theory.composed_noise)  # of G, T, delta, eps and n


@dataclass(frozen=True)
class Printed:
    """One setting of a document: size of the synthetic data, λ, δ, ε and T."""

    n: int
    d: int
    strength: float
    delta: float
    eps: float = 2.0
    T: int = 200
    noise: Noise = "zcdp"

    @property
    def deviation(self) -> float:
        """Of the noise on each coordinate of the mean gradient, by three ways of accounting, for G = 1."""
        if self.noise == "zcdp":
            values = {"n": self.n, "eps": self.eps, "delta": self.delta, "T": self.T, "G": 1.0}
            return float(theory.box_corrected.evaluate(**values))
        if self.noise == "advanced":
            return float(COMPOSED(1.0, self.T, self.delta, self.eps, self.n))
        # The least for which some whole order λ has λ(λ+1)μ²/2 - λε ≤ -log(1/δ), μ being all steps' shift over it.
        most = np.max(2 * (ORDERS * self.eps - math.log(1 / self.delta)) / (ORDERS * (ORDERS + 1)))
        return 2 * math.sqrt(self.T) / (self.n * math.sqrt(most)) if most > 0 else math.inf


PAPER, CHAPTER = Printed(10_000, 100, 0.01, 1e-3), Printed(50_000, 50, 1e-4, 1e-4)


@lru_cache(maxsize=4)
def problem_of(n: int, d: int) -> Problem:
    """Normal rows scaled to norm 1, labels that a random direction decides, sigmoid losses."""
    rng = np.random.default_rng(11)
    direction, X = rng.standard_normal(d), rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return Problem(X, np.where(X @ direction > 0, 1.0, -1.0), Sigmoid())


@dataclass(frozen=True, eq=False)
class Watched(ProximalSteps):
    """DP-PGD from random starts. What it puts out are the norms of the noisy and of the exact map, averaged over R."""

    starts: np.random.Generator | None = None

    def start(self, k: int) -> State:
        assert self.starts is not None
        return self.starts.standard_normal((k, self.width)), np.zeros((k, 2))

    def peek(self, data: Problem, state: State, t: int, asked: Array) -> State:
        x, norms = state
        return x, norms + np.outer(self.prox.map_norms(x, asked, self.eta), [0, 1 / self.steps])

    def update(self, state: State, answer: Array, t: int) -> State:
        x, norms = state
        (new,) = super().update((x,), answer, t)
        return new, norms + np.outer(np.linalg.norm(x - new, axis=1) / self.eta, [1 / self.steps, 0])

    def output(self, state: State) -> Array:
        return state[1]


@lru_cache(maxsize=64)
def log_norms(here: Printed, seed: int, trials: int) -> Array:
    """The logarithms of both norms, (trials, 2), one row for each start."""
    problem = problem_of(here.n, here.d)
    eta, prox = 1 / (2 * loss_smoothness(problem)), Proximal.of(problem, here.strength / 2)
    method = Watched(np.zeros(here.d), eta, here.T, prox, starts=np.random.default_rng(seed))
    released = Release(1.0, Gaussian(here.deviation), steps=here.T)
    return np.log(run(method, released, problem, seed=seed, trials=trials).w)


# Findings ------------------------------------------------------------------------------------------
Pairs = Mapping[str, tuple[Array, Array]]  # of what should be less, and of what it should be less than, (trials, 2)


@dataclass(frozen=True)
class FirstIsLess:
    """`measure(seed, trials)` gives numbers by setting, a column for either map, of which the first are less.

    Runs are compared start by start, by Student's t; limits that support hold together with 99.9%, those that speak
    against but for 1e-6. As either map may be meant, it is supported if one says so in every setting and neither the
    contrary in any, not reproduced if both say the contrary in some.
    """

    measure: Callable[[int, int], Pairs]
    where: str
    trials: int = 16
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (4 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        pairs = self.measure(seed, trials)
        gaps = np.array([first - second for first, second in pairs.values()])  # (settings, trials, 2)
        middle, error = gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / math.sqrt(trials)
        reach, farther = (error * special.stdtrit(trials - 1, 1 - a / middle.size) for a in (RATE_ALARM, FALSE_ALARM))
        less, more = middle + reach < 0, middle - farther > 0
        figure = "; ".join(
            f"{name} map: less in {less[:, i].sum()} of {len(pairs)} settings, more in {more[:, i].sum()}, "
            f"ratios {math.exp(middle[:, i].min()):.5g} to {math.exp(middle[:, i].max()):.5g}"
            for i, name in enumerate(("noisy", "exact"))
        )
        figure += f"; {self.where}; {trials} starts, seed {seed}, 99.9%"
        detail = f"settings: {', '.join(pairs)}"
        if more.any(axis=0).all():
            seen = {"seed": seed, "trials": trials}
            return Evidence(self.kind, Verdict.NOT_REPRODUCED, figure, detail, counterexample=seen, seed=seed)
        verdict = Verdict.SUPPORTED if less.all(axis=0).any() and not more.any() else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, detail, confidence=1 - RATE_ALARM, seed=seed)


def at_each(here: Printed, symbol: str, values: Sequence[float], seed: int, trials: int) -> list[Array]:
    """The logarithms of the norms at each value of a setting."""
    settings: list[dict[str, Any]] = [{symbol: value} for value in values]
    return [log_norms(replace(here, **setting), seed, trials) for setting in settings]


def along(here: Printed, symbol: str, values: Sequence[float], seed: int, trials: int) -> Pairs:
    """The norm at each value against that at the one before."""
    found = at_each(here, symbol, values, seed, trials)
    return {f"{symbol} = {v:g}": (b, a) for v, a, b in zip(values[1:], found, found[1:], strict=False)}


def correlated(here: Printed, symbol: str, values: Sequence[float], seed: int, trials: int) -> Pairs:
    """0 against the covariance of the norm with the setting, both in logarithms."""
    logs = np.log(values) - np.mean(np.log(values))
    slope = np.tensordot(logs, at_each(here, symbol, values, seed, trials), axes=1)
    return {f"log {symbol} in {list(values)}": (np.zeros_like(slope), slope)}


def length_and_eps(here: Printed, seed: int, trials: int) -> Pairs:
    """How far the norm moves, in logarithms, over half, once and twice T, and over the four ε."""
    lengths = at_each(here, "T", (here.T // 2, here.T, 2 * here.T), seed, trials)
    return {"T and ε": (np.ptp(lengths, axis=0), np.ptp(at_each(here, "eps", EPSILONS, seed, trials), axis=0))}


def against(here: Printed, noise: Noise, epsilons: Sequence[float], seed: int, trials: int) -> Pairs:
    """The norm with noise by zCDP against that with the other noise."""
    ours, theirs = (at_each(replace(here, noise=way), "eps", epsilons, seed, trials) for way in (here.noise, noise))
    return {f"eps = {eps:g}": (a, b) for eps, a, b in zip(epsilons, ours, theirs, strict=True)}


def checks(
    here: Printed, sizes: Sequence[int], longer: int, methods: Sequence[float], data: str
) -> dict[str, FirstIsLess]:
    """What both documents find, by the part of the claim's id."""
    on = f"synthetic data, d = {here.d}, δ = {here.delta:g}"
    usual, by_n = f"{on}, n = {here.n}, T = {here.T}", f"{on}, n from {sizes[0]}, T = {longer}, ε = 2"
    return {
        "eps": FirstIsLess(partial(along, here, "eps", EPSILONS), usual),
        "n": FirstIsLess(partial(along, replace(here, T=longer), "n", sizes), by_n),
        "steps": FirstIsLess(partial(length_and_eps, here), f"{usual}, halved and doubled for T, ε = 2"),
        "advanced": FirstIsLess(partial(against, here, "advanced", methods), f"{data}{usual}"),
        "moments": FirstIsLess(partial(against, here, "moments", methods), f"{data}{usual}, orders 1 to 32"),
    }


BY_D = "synthetic data, n = 50000, T = 200, ε = 2, δ = 0.0001"
PAPERS = checks(PAPER, (2500, 5000, 10_000), 400, (0.5, 2.0), "in place of Covertype, which is not at hand: ")
CHAPTERS = checks(CHAPTER, (12_500, 25_000, 50_000), 200, (1.0,), "")
CHAPTERS["d"] = FirstIsLess(partial(correlated, CHAPTER, "d", (10, 25, 50)), BY_D, trials=32)
CHECKS = {f"wangxu19.section.experiments.{part}": [check] for part, check in PAPERS.items()} | {
    f"dwang20.section4.1.5.{part}": [check] for part, check in CHAPTERS.items()
}
