"""How often a bound exceeds the truth: thousands of audits of exactly tight mechanisms, written to docs/validity.md.

Run: python -m benchmarks.validity [--audits 2000] [--trials 2000] [--executor processes:2] [--only laplace]
All rows take about an hour on 2 cores. Some rows alone take their places in a page of as many audits.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import integrate, optimize, stats

from benchmarks.executors import add_executor
from benchmarks.pages import write_rows, write_section
from benchmarks.strength import SparseVector
from dpcheck.audits import audit, replace_one
from dpcheck.audits.trials.spreading import in_order, opened
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, Guarantee, PureDP

ALPHA = 0.05

LIMITS = """\
## What this does not show

- Rows far below alpha test the level weakly: the event an audit chooses is rarely the tight one.
- Early stopping is watched for ten times the trials of the other rows, not for ever: the proof is for ever.
- `assume="gdp"` is dropped where outputs look unlike Gaussian ones; a mildly different law can pass that gate.
"""


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def partly_shared(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Gaussian noise, nine tenths of which depends on the seed alone: the rest has its sign from the data."""
    shared, own = rng.standard_normal((2, trials))
    return data + 0.9 * shared + math.copysign(math.sqrt(0.19), data - 0.1) * own


def coordinates(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=(trials, len(data)))


def report(data: float, rng: np.random.Generator, trials: int) -> list[dict[str, Any]]:
    return [{"n": 10, "text": f"about {noisy:.6f}"} for noisy in (data + rng.laplace(size=trials)).tolist()]


def noisy_sum(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data.sum() + rng.laplace(size=trials)


def response(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.where(rng.random(trials) < math.e / (1 + math.e), data, 1 - data)


def noisy_max(data: tuple[float, ...], rng: np.random.Generator, trials: int) -> np.ndarray:
    return (np.array(data) + rng.laplace(scale=2.0, size=(trials, len(data)))).argmax(axis=1)


def discrete_gaussian(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    support, law = discrete_law()
    return data + rng.choice(support, size=trials, p=law)


def null(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return rng.standard_normal(trials)


def discrete_law(sigma: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    support = np.arange(-60, 61)
    law = np.exp(-(support**2) / (2 * sigma**2))
    return support, law / law.sum()


def discrete_epsilon(delta: float) -> float:
    """Exact: the law against itself moved by one."""
    _, law = discrete_law()
    p, q = np.append(law, 0.0), np.insert(law, 0, 0.0)
    return float(optimize.brentq(lambda e: np.maximum(p - math.exp(e) * q, 0).sum() - delta, 0.0, 20.0))


def noisy_max_epsilon() -> float:
    """Exact by quadrature: the first of five entries, all 0 against one up and four down."""

    def wins(data: tuple[float, ...]) -> float:
        def density(x: float) -> float:
            others = np.prod(stats.laplace.cdf(x - np.array(data[1:]), scale=2.0))
            return float(stats.laplace.pdf(x - data[0], scale=2.0) * others)

        return float(integrate.quad(density, -60, 60, points=[-1, 0, 1], limit=400)[0])

    one, two = wins(ZEROS), wins(SPLIT)
    rest = ((1 - one) / 4) / ((1 - two) / 4)
    return max(abs(math.log(one / two)), abs(math.log(rest)))


def vector_epsilon() -> float:
    """Exact: the largest ratio of the probabilities of one output."""
    one, two = (np.array([*VECTOR.probabilities(data).values()]) for data in QUERIES)
    return float(np.abs(np.log(one / two)).max())


def gaussian_mu(delta: float) -> float:
    return float(optimize.brentq(lambda mu: float(GaussianDP(mu).profile(1.0)) - delta, 0.01, 5.0))


UNIT = replace_one(low=0, high=1, n=2)
VECTOR, QUERIES = SparseVector(2.0, 2.0, 2), (np.zeros(4), np.array([1.0, 1.0, -1.0, -1.0]))
ZEROS, SPLIT = (0.0,) * 5, (1.0, -1.0, -1.0, -1.0, -1.0)


@dataclass(frozen=True)
class Case:
    """A mechanism, a worst-case pair (None: found by search), and the exact epsilon at the delta of the claim."""

    mechanism: Callable[..., Any]
    pair: tuple[Any, Any] | None
    guarantee: Guarantee
    truth: float
    options: dict[str, Any] = field(default_factory=dict)
    longer: int = 1  # times as many trials as the other rows


def cases() -> dict[str, Case]:
    """Every row of the page."""
    five, two = gaussian_mu(1e-5), gaussian_mu(1e-2)
    fine, coarse = ApproxDP(1.0, 1e-5), ApproxDP(1.0, 1e-2)
    best, vector = noisy_max_epsilon(), vector_epsilon()
    discrete = discrete_epsilon(1e-3)
    pure = PureDP(1.0)
    return {
        "Laplace": Case(laplace, (0.0, 1.0), pure, 1.0),
        "Gaussian, delta 1e-5": Case(gaussian, (0.0, five), fine, 1.0),
        "Gaussian, delta 1e-2": Case(gaussian, (0.0, two), coarse, 1.0),
        "randomised response": Case(response, (0, 1), pure, 1.0),
        "noisy max": Case(noisy_max, (ZEROS, SPLIT), PureDP(best), best),
        "discrete Gaussian, delta 1e-3": Case(discrete_gaussian, (0, 1), ApproxDP(discrete, 1e-3), discrete),
        "sparse vector": Case(VECTOR, QUERIES, PureDP(vector), vector),
        "null": Case(null, (0.0, 1.0), PureDP(1e-6), 0.0),
        "Laplace, 10 coordinates": Case(coordinates, (np.zeros(10), np.full(10, 0.1)), pure, 1.0),
        "Laplace, in a dictionary with text": Case(report, (0.0, 1.0), pure, 1.0),
        "Laplace, more trials": Case(laplace, (0.0, 1.0), pure, 1.0, longer=25),
        "Laplace, pair found by search": Case(noisy_sum, None, pure, 1.0, {"neighbours": UNIT}),
        "Gaussian, delta 1e-5, assume gdp": Case(gaussian, (0.0, five), fine, 1.0, {"assume": "gdp"}),
        "the same, noise partly shared": Case(partly_shared, (0.0, five), fine, 1.0, {"assume": "gdp"}),
        "Laplace, stop early, watched throughout": Case(laplace, (0.0, 1.0), pure, 1.0, {"stop_early": True}, 10),
        "randomised response, stop early": Case(response, (0, 1), pure, 1.0, {"stop_early": True}, 10),
    }


def one(case: Case, trials: int, seed: int) -> float:
    """One audit's bound, infinite if it cried violation (each claim here is true); a refusal counts as no bound."""
    asked: dict[str, Any] = {"guarantee": case.guarantee, "alpha": ALPHA, "seed": seed}
    try:
        result = audit(case.mechanism, pair=case.pair, max_trials=case.longer * trials, **asked, **case.options)
    except InvalidInput:
        return math.nan
    return math.inf if result.violated else result.epsilon_lower


def measure(case: Case, audits: int, trials: int, executor: Any) -> dict[str, float]:
    """Exceedances, and the mean bound."""
    started = time.perf_counter()
    bounds = np.array(in_order(partial(one, case, trials), range(audits), executor))
    known = bounds[~np.isnan(bounds)]
    over = int(np.sum(known > case.truth * (1 + 1e-9) + 1e-12))
    return {
        "over": over,
        "audits": audits,
        "refused": audits - len(known),
        "mean": float(known[np.isfinite(known)].mean()),
        "seconds": time.perf_counter() - started,
    }


def largest(audits: int) -> int:
    """A count of bounds above the truth that an exact level passes once in two hundred times."""
    return int(stats.binom.ppf(0.995, audits, ALPHA))


def page(rows: dict[str, tuple[Case, dict[str, float]]], audits: int, trials: int) -> str:
    """The measured table as a document."""
    top = largest(audits)
    lines = [
        "# Validity, measured",
        "",
        f"P(epsilon_lower > true epsilon) must be at most alpha. Each row: {audits} audits, seeds 0 to {audits - 1},",
        f"alpha = {ALPHA}, on a mechanism of exactly known epsilon and on its worst pair. Trials are per dataset,",
        f"all stages together. At an exact level of alpha a row's count exceeds {top} with probability 0.005 at most.",
        "",
        "Rerun: `python -m benchmarks.validity`",
        "",
        "| mechanism | trials | true epsilon | bounds above it | rate | mean bound | refused | within its band |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *table(rows, trials, top), "", LIMITS])


def table(rows: dict[str, tuple[Case, dict[str, float]]], trials: int, top: int) -> list[str]:
    """Its rows."""
    lines = []
    for name, (case, got) in rows.items():
        verdict = "yes" if got["over"] <= top else "**no**"
        count, rate = f"{got['over']:.0f} of {got['audits']:.0f}", f"{got['over'] / got['audits']:.4f}"
        size, truth = str(case.longer * trials), f"{case.truth:.4f}"
        cells = [name, size, truth, count, rate, f"{got['mean']:.3f}", f"{got['refused']:.0f}", verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=2000)
    add_executor(parser)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    rows: dict[str, tuple[Case, dict[str, float]]] = {}
    with opened(given.executor) as executor:
        for name, case in cases().items():
            if given.only.lower() not in name.lower():
                continue
            rows[name] = (case, measure(case, given.audits, given.trials, executor))
            print(name, rows[name][1], flush=True)
    if given.only:
        fresh = table(rows, given.trials, largest(given.audits))
        write_rows("validity.md", "validity", fresh, f"Each row: {given.audits} audits")
    else:
        write_section("validity.md", "validity", page(rows, given.audits, given.trials))


if __name__ == "__main__":
    main()
