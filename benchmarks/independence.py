"""How often independent runs are complained of, and dependent ones are: audits/statistics/independence.py, measured.

Run: python -m benchmarks.independence [--pilots 2000] [--audits 60]
About three minutes on one core. Seeds are fixed; independent runs should be complained of once in a million pilots.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy import signal

from dpcheck.audits import audit
from dpcheck.audits.statistics.independence import NAME, complaint
from dpcheck.bounds.language.guarantees import PureDP

Law = Callable[[np.random.Generator, int], np.ndarray]

INDEPENDENT: dict[str, Law] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "pareto, no mean": lambda rng, n: rng.pareto(0.3, n),
    "coin": lambda rng, n: rng.integers(2, size=n).astype(float),
    "rare event": lambda rng, n: (rng.random(n) < 0.002).astype(float),
    "constant": lambda rng, n: np.zeros(n),
    "zero or normal": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.normal(size=n)),
    "geometric": lambda rng, n: rng.geometric(0.5, n).astype(float),
}
DEPENDENT: dict[str, Law] = {
    "normal + one normal": lambda rng, n: rng.normal(size=n) + rng.normal(),
    "normal + 0.2 one normal": lambda rng, n: rng.normal(size=n) + 0.2 * rng.normal(),
    "normal + 0.05 one normal": lambda rng, n: rng.normal(size=n) + 0.05 * rng.normal(),
    "normal * one scale": lambda rng, n: rng.normal(size=n) * rng.uniform(0.5, 2),
    "autoregressive, 0.5": lambda rng, n: signal.lfilter([1.0], [1.0, -0.5], rng.normal(size=n)),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "antithetic halves": lambda rng, n: np.outer([1, -1], rng.normal(size=-(-n // 2))).ravel()[:n],
    "a permutation": lambda rng, n: rng.permutation(n).astype(float),
}
CALLS = {"2,000 trials": [62] * 8, "20,000 trials": [625] * 8, "100,000 trials": [1875] * 8}  # of their pilots


def complained(law: Law, calls: list[int], rng: np.random.Generator) -> bool:
    """Whether a pilot of two equal datasets is complained of."""
    first, second = (np.concatenate([law(rng, size) for size in calls])[:, None] for _ in range(2))
    return complaint(first, second, calls) is not None


def main() -> None:
    """Print both tables, and what a test of the planted mechanism would have said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pilots", type=int, default=2000)
    parser.add_argument("--audits", type=int, default=60)
    args = parser.parse_args()
    rng = np.random.default_rng(20261118)
    each = -(-args.pilots // len(INDEPENDENT))
    for name, law in INDEPENDENT.items():
        print(f"{name}: {sum(complained(law, CALLS['20,000 trials'], rng) for _ in range(each))} of {each}")
    for name, law in DEPENDENT.items():
        found = [sum(complained(law, calls, rng) for _ in range(args.audits)) for calls in CALLS.values()]
        print(f"{name}: {found} of {args.audits} at {list(CALLS)}")
    for name, law in DEPENDENT.items():
        audits = [
            audit(
                lambda data, rng, n, law=law: law(rng, n),
                pair=(0, 1),
                guarantee=PureDP(0.05),
                max_trials=20_000,
                seed=k,
            )
            for k in range(args.audits)
        ]
        above = [result for result in audits if result.epsilon_lower > 0]
        silent = [result for result in above if not any(message.startswith(NAME) for message in result.health)]
        print(
            f"{name}, audited: {len(above)} bounds of {args.audits} above the truth, {len(silent)} without a complaint"
        )


if __name__ == "__main__":
    main()
