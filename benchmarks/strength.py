"""What an audit finds: lower bounds on epsilon against goals and oracles, and trials to an early stop.

Run: python -m benchmarks.strength [--seeds 20] [--first-seed 0] [--only SVT1] [--executor processes:2]
Seeds 0 to 19 are those of docs/strength.md, which a run of all rows on them writes (an hour); some rows alone take
their places there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize, stats

from benchmarks.executors import add_executor
from benchmarks.pages import write_rows, write_section
from dpcheck.audits import audit, queries
from dpcheck.audits.statistics.event_choice import predicted_bound
from dpcheck.audits.statistics.ratio import ratio_bound
from dpcheck.audits.trials.spreading import in_order, opened
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, Guarantee, PureDP

ALPHA = 0.05
SIZES = (10**4, 10**5, 10**6, 10**8)
INTRODUCTION = """\
# Strength, measured

What `dp.audit` finds: epsilon_lower at alpha = {alpha}, the median of {seeds} audits (seeds {first} to {last}), by
trials per dataset in all stages together. The oracle is told the best event, from the exact probabilities, and spends
every trial on it, none on choosing; under `assume="gdp"` there is no such event. Medians of so few audits vary: each is
followed by its standard error.

Rerun: `python -m benchmarks.strength`

| mechanism | true epsilon | trials | found | goal | oracle | found / oracle |
|---|---|---|---|---|---|---|
"""
Rates = tuple[np.ndarray, np.ndarray]


# The mechanisms --------------------------------------------------------------------------------------
def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def noisy_max(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return (data + rng.laplace(scale=2.0, size=(trials, len(data)))).argmax(axis=1)


def comb(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Uniform on [0, 1), or with densities of 1.5 and 0.5 by turns: 500 teeth."""
    late = rng.random(trials) < (0.25 if data else 0.5)
    return (rng.integers(500, size=trials) + (late + rng.random(trials)) / 2) / 500


@dataclass(frozen=True)
class FairBits:
    """Fair bits; on one dataset an odd number of those at `places` is set in a quarter of the runs only."""

    bits: int
    places: tuple[int, ...]

    def __call__(self, data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
        bits = rng.integers(2, size=(trials, self.bits), dtype=np.int8)
        if data:
            *others, last = self.places
            bits[:, last] = (bits[:, others].sum(axis=1) + (rng.random(trials) < 0.25)) % 2
        return bits


@dataclass(frozen=True)
class SparseVector:
    """Which noisy queries reach a noisy threshold; -1 after `stop` of them. Scales of Lyu, Su and Li (2017)."""

    threshold: float
    query: float
    stop: int | None

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        noisy = data + rng.laplace(scale=self.query, size=(trials, len(data)))
        above = noisy >= rng.laplace(scale=self.threshold, size=(trials, 1))
        return above.astype(np.int8) if self.stop is None else np.where(dead(above, self.stop), -1, above)

    def probabilities(self, data: np.ndarray) -> dict[tuple[int, ...], float]:
        """The exact probability of each output, by integrating over the threshold's noise."""
        x = np.linspace(-40 * self.threshold, 40 * self.threshold, 20_001)
        weight = stats.laplace.pdf(x, scale=self.threshold) * (x[1] - x[0])
        above = stats.laplace.sf(x[:, None] - data, scale=self.query)
        found: dict[tuple[int, ...], float] = {}

        def extend(seen: tuple[int, ...], probability: np.ndarray) -> None:
            i = len(seen)
            if i == len(data) or sum(seen) == self.stop:
                found[seen + (-1,) * (len(data) - i)] = float(probability @ weight)
                return
            extend((*seen, 0), probability * (1 - above[:, i]))
            extend((*seen, 1), probability * above[:, i])

        extend((), np.ones(len(x)))
        return found


def dead(above: np.ndarray, stop: int) -> np.ndarray:
    """Queries that come after the `stop`-th that reached the threshold."""
    seen = above.cumsum(axis=1)
    return (seen > stop) | ((seen == stop) & ~above)


def leaky_vector(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """SVT3: sparse vector with stop = 2 that releases the noisy queries that reached the threshold."""
    noisy = data + rng.laplace(scale=4.0, size=(trials, len(data)))
    above = noisy >= rng.laplace(scale=2.0, size=(trials, 1))
    over = dead(above, 2)
    return np.hstack([np.where(over, -1, above), np.where(above & ~over, noisy, 0.0)])


def rare_leak(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """A thousand normals; one of them, once in a thousand runs on one dataset only, is 20 higher."""
    outputs = rng.standard_normal((trials, 1000))
    outputs[:, 138] += 20.0 * data * (rng.random(trials) < 1e-3)
    return outputs


def correlated(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """A hundred normals, two of them with correlation `data`."""
    outputs = rng.standard_normal((trials, 100))
    outputs[:, 57] = data * outputs[:, 12] + np.sqrt(1 - data**2) * outputs[:, 57]
    return outputs


def vector(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal((trials, len(data)))


def walk(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Released after every step."""
    return vector(data, rng, trials).cumsum(axis=1)


# The oracle ------------------------------------------------------------------------------------------
def tails(law: Any, shift: float) -> Rates:
    """Rates of the events {output < x} on the first and on the second dataset."""
    x = np.linspace(-12, 12, 4801)
    return law.cdf(x), law.cdf(x - shift)


def leak_rates() -> list[Rates]:
    """Of the column that leaks: the other 999 say nothing."""
    x = np.linspace(-6, 26, 6401)
    return [(0.999 * stats.norm.sf(x) + 0.001 * stats.norm.sf(x - 20), stats.norm.sf(x))]


def correlation_rates(rho: float) -> list[Rates]:
    """Events of the likelihood ratio, b v^2 - a u^2 of the columns' sum u and difference v, by integrating over u."""
    a, b = rho / (1 + rho) / 2, rho / (1 - rho) / 2
    u, t = np.linspace(-9, 9, 4001), np.concatenate([np.linspace(-8, 8, 321), np.geomspace(8.05, 200, 200)])
    rates = []
    for wide, narrow in ((1.0, 1.0), (np.sqrt(1 + rho), np.sqrt(1 - rho))):
        v = np.sqrt(np.maximum((t[:, None] + a * (wide * u) ** 2) / b, 0.0))
        rates.append(2 * stats.norm.sf(v / narrow) @ stats.norm.pdf(u) * (u[1] - u[0]))
    return [(rates[0], rates[1]), (1 - rates[1], 1 - rates[0])]


def most_telling(first: np.ndarray, second: np.ndarray) -> Rates:
    """Rates of the events made of the outputs with the largest ratios: one, two, three, ... of them."""
    order = np.argsort(-first / second, kind="stable")
    return np.cumsum(first[order]), np.cumsum(second[order])


def oracle(rates: list[Rates], trials: int, delta: float) -> float:
    """The median bound of an audit that is told the best event, and its rates, and spends all trials on it."""
    rng, medians = np.random.default_rng(0), []
    for p, q in rates:
        predicted = predicted_bound(p, q, delta, trials, ALPHA)
        # The prediction is good to a few percent: the best few are simulated.
        for i in np.argsort(-predicted, kind="stable")[:2]:
            counts = rng.binomial(trials, [[p[i], q[i]]] * 201).tolist()
            medians.append(np.median([ratio_bound(k, j, trials, delta=delta, alpha=ALPHA) for k, j in counts]))
    return float(max(medians))


# The goals -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Case:
    """A mechanism on a pair, its true epsilon, the goals at 1e4, 1e5, 1e6 (and 1e8) trials, the oracle's events."""

    mechanism: Callable[..., np.ndarray]
    pair: tuple[Any, Any]
    true: float
    goals: tuple[float | None, ...]
    rates: Callable[[], list[Rates]] | None = None
    guarantee: Guarantee = field(default_factory=lambda: PureDP(1.0))
    assume: str | None = None

    def oracle(self, trials: int) -> float | None:
        """What the best event could give; None where the bound rests on a model instead."""
        return None if self.rates is None else oracle(self.rates(), trials, self.guarantee.parameters.get("delta", 0.0))


def vector_case(mechanism: SparseVector, true: float, goals: tuple[float | None, ...]) -> Case:
    pair = (np.zeros(10), np.repeat([1.0, -1.0], 5))

    def rates() -> list[Rates]:
        first, second = (np.array([*mechanism.probabilities(data).values()]) for data in pair)
        return [most_telling(first, second), most_telling(second, first)]

    return Case(mechanism, pair, true, goals, rates)


def max_rates() -> list[Rates]:
    """Noisy max of five, one up and four down: the index law by integrating over the winner's noise."""
    x = np.linspace(-80, 80, 32_001)
    laws = []
    for data in (np.zeros(5), np.array([1.0, -1, -1, -1, -1])):
        density, below = stats.laplace.pdf(x[:, None] - data, scale=2), stats.laplace.cdf(x[:, None] - data, scale=2)
        wins = [density[:, i] * np.delete(below, i, axis=1).prod(axis=1) for i in range(5)]
        laws.append(np.array([np.trapezoid(win, x) for win in wins]))
    return [most_telling(laws[0], laws[1]), most_telling(laws[1], laws[0])]


def quarter_rates() -> list[Rates]:
    """An event that one dataset meets in half of its runs and the other in a quarter, and its complement."""
    return [(np.array([0.5]), np.array([0.25])), (np.array([0.75]), np.array([0.5]))]


def one_apart() -> list[Rates]:
    """Two Gaussians a standard deviation apart, along a direction that the oracle knows."""
    return [tails(stats.norm, 1.0)]


MU = float(optimize.brentq(lambda mu: float(GaussianDP(mu).profile(1.0)) - 1e-5, 0.01, 5.0))
FINE = ApproxDP(1.0, 1e-5)
SHIFTED = float(GaussianDP(1.0).epsilon(1e-5))
SIGNS = np.random.default_rng(7).choice([-1.0, 1.0], size=1000)
CASES = {
    "Laplace": Case(laplace, (0.0, 1.0), 1.0, (0.90, 0.975, 0.992), lambda: [tails(stats.laplace, 1.0)]),
    "Gaussian": Case(gaussian, (0.0, MU), 1.0, (0.36, 0.57, 0.74, 0.93), lambda: [tails(stats.norm, MU)], FINE),
    "Gaussian, gdp": Case(gaussian, (0.0, MU), 1.0, (0.90, 0.965, 0.99), None, FINE, "gdp"),
    "noisy max": Case(noisy_max, (np.zeros(5), np.array([1.0, -1, -1, -1, -1])), 0.779, (0.68, 0.75, 0.77), max_rates),
    "SVT1": vector_case(SparseVector(2.0, 8.0, 2), 0.730, (None, 0.60, 0.69)),
    "SVT4": vector_case(SparseVector(4.0, 4 / 3, 2), 3.205, (1.6, 2.6, 3.0)),
    "SVT6": vector_case(SparseVector(2.0, 2.0, None), 4.486, (1.7, 2.7, 3.5)),
    "leak in 1 of 1,000": Case(rare_leak, (1, 0), np.inf, (None, 3.17), leak_rates, ApproxDP(1.0, 1e-4)),
    "correlation of 2 of 100": Case(correlated, (0.0, 0.5), np.inf, (None, 3.41), lambda: correlation_rates(0.5)),
    "walk of 600 steps": Case(walk, (np.zeros(600), np.eye(600)[450]), SHIFTED, (None, 2.64), one_apart, FINE),
    "shift over 1,000": Case(vector, (np.zeros(1000), SIGNS / 1000**0.5), SHIFTED, (None, 2.64), one_apart, FINE),
    "comb of 500 teeth": Case(comb, (0, 1), 0.693, (None, 0.61), quarter_rates),
    "two of 30 bits": Case(FairBits(30, (4, 21)), (0, 1), 0.693, (None, 0.61), quarter_rates),
    "parity of 14 bits": Case(FairBits(14, tuple(range(14))), (0, 1), 0.693, (None, 0.61), quarter_rates),
}


def bound(name: str, trials: int, seed: int) -> float:
    """Of one audit."""
    case = CASES[name]
    asked = {"pair": case.pair, "guarantee": case.guarantee, "assume": case.assume, "max_trials": trials}
    return audit(case.mechanism, alpha=ALPHA, seed=seed, **asked).epsilon_lower


def stop(true: float, trials: int, seed: int) -> int:
    """Trials per dataset until an audit of a claimed epsilon of 1 stops."""
    asked = {"pair": (0.0, true), "guarantee": PureDP(1.0), "max_trials": trials, "stop_early": True}
    return audit(laplace, seed=seed, **asked).trials


def measured(name: str, case: Case, seeds: range, executor: Any) -> list[str]:
    """A row of the table for each number of trials."""
    rows = []
    for trials, goal in zip(SIZES, case.goals, strict=False):
        found, best = np.array(in_order(partial(bound, name, trials), seeds, executor)), case.oracle(trials)
        middle, error = float(np.median(found)), 1.2533 * float(found.std()) / len(found) ** 0.5
        against = "- | -" if best is None else f"{best:.3f} | {middle / best:.2f}"
        size, aim = f"1e{round(np.log10(trials))}", "-" if goal is None else f"{goal:g}"
        rows.append(f"| {name} | {case.true:g} | {size} | {middle:.4f} ± {error:.4f} | {aim} | {against} |")
        print(rows[-1], flush=True)
    return rows


def early(seeds: range, executor: Any) -> list[str]:
    """Trials until an early stop, from eight times as many seeds: they vary by half of themselves."""
    rows, seeds = [], range(seeds.start, seeds.start + 8 * len(seeds))
    for true, trials, goal in ((2.0, 5000, 150), (1.5, 10_000, 350), (1.1, 40_000, 5000)):
        found = in_order(partial(stop, true, trials), seeds, executor)
        after = f"median {np.median(found):.0f} trials per dataset over {len(seeds)} seeds (goal {goal})"
        rows.append(f"- Early stop, a claimed epsilon of 1 and a true one of {true:g}: {after}.")
        print(rows[-1], flush=True)
    return rows


def search(seed: int) -> tuple[bool, float]:
    """SVT3 with a pair that the search finds: whether it is flagged, and the bound."""
    near = queries(10, sensitivity=1.0)
    result = audit(leaky_vector, neighbours=near, guarantee=PureDP(1.0), max_trials=1_000_000, seed=seed)
    return result.violated, result.epsilon_lower


def searched(seeds: range, executor: Any) -> list[str]:
    """That on the first seeds."""
    results = in_order(search, seeds[:5], executor)
    flagged, middle = sum(violated for violated, _ in results), np.median([epsilon for _, epsilon in results])
    found = f"flagged in {flagged} of {len(results)}, median epsilon >= {middle:.3f} (claimed 1)"
    row = f"- SVT3, 1e6 trials, pair found by search: {found}."
    print(row)
    return [row]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", help=f"one of {', '.join(CASES)}, stop, SVT3")
    add_executor(parser)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    with opened(given.executor) as executor:
        chosen = [name for name in CASES if given.only in (None, name)]
        table = [row for name in chosen for row in measured(name, CASES[name], seeds, executor)]
        rest = early(seeds, executor) if given.only in (None, "stop") else []
        rest += searched(seeds, executor) if given.only in (None, "SVT3") else []
    if given.only is not None and seeds == range(20):
        write_rows("strength.md", "strength", [*table, *rest], "(seeds 0 to 19)", cells=3)
    elif seeds == range(20):
        head = INTRODUCTION.format(alpha=ALPHA, seeds=len(seeds), first=seeds[0], last=seeds[-1])
        write_section("strength.md", "strength", head + "\n".join([*table, "", *rest]))


if __name__ == "__main__":
    main()
