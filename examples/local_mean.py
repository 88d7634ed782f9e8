"""How many users does a private mean need? Its error against their number, as a picture: docs/local-mean.svg.

Run: python examples/local_mean.py [where to write it]. Needs matplotlib (extra `plot`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dpcheck import local

LARGEST = 200_000.0  # public: incomes above it count as this
SIZES = np.array([100, 300, 1000, 3000, 10_000, 30_000, 100_000])
PRIVATE = {"Laplace noise": local.Laplace, "one bit": local.OneBit, "hybrid": local.Hybrid}


def incomes(n: int, rng: np.random.Generator) -> np.ndarray:
    """Log-normal ones, about 41,000 on average."""
    return np.minimum(np.exp(10.4 + 0.65 * rng.standard_normal(n)), LARGEST)


def errors(eps: float = 1.0, runs: int = 400, seed: int = 0) -> dict[str, np.ndarray]:
    """The root mean squared error of each mean at each size, in money: of the users that were asked."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, kind in PRIVATE.items():
        one = kind(eps)
        rows = []
        for n in SIZES:
            scaled = 2 * incomes(int(n), rng) / LARGEST - 1  # to [-1, 1], on the device
            off = [one.aggregate(one.privatize(scaled, rng)) - scaled.mean() for _ in range(runs)]
            rows.append(LARGEST / 2 * float(np.sqrt(np.mean(np.square(off)))))
        found[name] = np.array(rows)
    # A curator who sees all incomes adds Laplace noise of scale LARGEST/(n eps) to their mean, once.
    found["a trusted curator"] = np.sqrt(2) * LARGEST / (SIZES * eps)
    return found


def main(path: str | Path = Path(__file__).parents[1] / "docs" / "local-mean.svg") -> dict[str, np.ndarray]:
    """Draw it."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "dpcheck"
    import matplotlib.pyplot as plt

    found = errors()
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for name, values in found.items():
        axes.loglog(SIZES, values, "--" if "curator" in name else "o-", label=name)
    axes.set(
        xlabel="users", ylabel="error of the mean income, root mean square", title="One report of each user, ε = 1"
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return found


if __name__ == "__main__":
    for name, values in main(*sys.argv[1:2]).items():
        print(f"{name:20}", " ".join(f"{value:10.0f}" for value in values))
