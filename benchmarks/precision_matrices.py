"""Private precision matrices: which mechanism of section 6.3 errs least, beside scikit-learn's without privacy.

Normal vectors with a tridiagonal precision and E‖x‖² = 1/4, longer ones clipped to norm 1. The error is the document's,
‖Θ̂ - Θ*‖_F/‖Θ*‖_F, Θ* being scikit-learn's solution for the same records with the same penalty, ρ = 0.05/d, on the
diagonal too; beside it the share of entries off the diagonal that are zero, or not, as those of the true precision are.
Noise is certified: the methods that were published as pure DP, and are not, get (ε, δ) with δ = 1e-5, as the others do;
Laplace noise is ε-private. "No data" is the solution for S = I/(4d). Players can be no more than m: few.

python -m benchmarks.precision_matrices [--runs 10]; --record writes the table into docs/precision-matrices.md. The exit
code is 1 if certified Gaussian noise errs more than Laplace noise in the largest setting.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import numpy as np

import dpcheck as dp
from benchmarks.pages import write_section
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.families.precision_matrices import PrecisionMatrix, moments, precisions
from dpcheck.kernels.wishart import unpacked
from dpcheck.solvers.matrix.sicov_cov_gaussian import SicovCovGaussian
from dpcheck.solvers.matrix.sicov_cov_laplace import SicovCovLaplace
from dpcheck.solvers.matrix.sicov_cov_wishart_approx import SicovCovWishartApprox
from dpcheck.solvers.matrix.sicov_cov_wishart_pure import SicovCovWishartPure
from dpcheck.solvers.matrix.sicov_distributed import SicovDistributed
from dpcheck.solvers.matrix.sicov_ldp_gaussian import SicovLdpGaussian
from dpcheck.solvers.matrix.sicov_output_wishart import SicovOutputWishart

DELTA = 1e-5
SETTINGS = (
    (150, 5, 1.0),
    (1_000, 5, 1.0),
    (10_000, 5, 0.2),
    (10_000, 5, 1.0),
    (100_000, 5, 1.0),
    (10_000, 15, 1.0),
    (100_000, 15, 1.0),
)


def methods(rho: float) -> Mapping[str, PrecisionMatrix]:
    return {
        "output, Wishart": SicovOutputWishart(rho=rho),
        "Wishart, d+1": SicovCovWishartPure(rho=rho),
        "Laplace": SicovCovLaplace(rho=rho),
        "Wishart, m": SicovCovWishartApprox(rho=rho),
        "Wishart, m, centred": SicovCovWishartApprox(rho=rho, centred=True),
        "Gaussian": SicovCovGaussian(rho=rho),
        "Gaussian, isometric": SicovCovGaussian(rho=rho, isometric=True),
        "players": SicovDistributed(rho=rho, centred=True),
        "local": SicovLdpGaussian(rho=rho, isometric=True),
    }


def precision(d: int) -> np.ndarray:
    """The tridiagonal one, of a law with E‖x‖² = 1/4."""
    found = np.eye(d) + 0.4 * (np.eye(d, k=1) + np.eye(d, k=-1))
    return np.asarray(found * 4 * np.trace(np.linalg.inv(found)))


def records(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Normal vectors with that precision, clipped to norm 1."""
    X = rng.standard_normal((n, d)) @ np.linalg.cholesky(np.linalg.inv(precision(d))).T
    return np.asarray(X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True)))


def guarantee(name: str, eps: float) -> dp.Guarantee:
    if name == "Laplace":
        return dp.PureDP(eps)
    return dp.ApproxDP(eps, DELTA, relation=dp.LOCAL if name == "local" else dp.REPLACE_ONE)


def agreement(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The share of entries off the diagonal that are zero in both or in neither, by run."""
    off = ~np.eye(len(truth), dtype=bool)
    return np.asarray(((np.abs(found) > 1e-9) == (np.abs(truth) > 1e-9))[:, off].mean(axis=1))


def measured(n: int, d: int, eps: float, runs: int) -> dict[str, tuple[float, float] | None]:
    """Mean relative error and agreement of each method; None where it refuses."""
    X, rho = records(n, d, np.random.default_rng([n, d])), 0.05 / d
    truth = precisions(unpacked(moments(X)[None], d), rho, 1e-8)

    def judged(made: np.ndarray) -> tuple[float, float]:
        errors = np.linalg.norm(made - truth, axis=(1, 2)) / np.linalg.norm(truth)
        return float(errors.mean()), float(agreement(made, precision(d)).mean())

    answers: dict[str, tuple[float, float] | None] = {
        "no privacy (scikit-learn)": judged(truth),
        "no data": judged(precisions(np.eye(d)[None] / (4 * d), rho)),
    }
    for name, solver in methods(rho).items():
        try:
            made = unpacked(solver.solve(X, guarantee(name, eps), rng=1, trials=runs).w, d)
        except InvalidInput:
            answers[name] = None
            continue
        answers[name] = judged(made)
    return answers


def table(runs: int, settings: tuple[tuple[int, int, float], ...] = SETTINGS) -> tuple[str, bool]:
    """Errors and agreements, and whether Gaussian noise wins over Laplace noise where there are most records."""
    found = [measured(*setting, runs) for setting in settings]
    heads = " | ".join(f"n = {n:,}, d = {d}, ε = {eps:g}" for n, d, eps in settings)
    lines = [f"| relative error (agreement on zeros) | {heads} |", "|---|" + "---:|" * len(settings)]
    for name in found[0]:
        cells = ["refused" if (f := row[name]) is None else f"{f[0]:.2g} ({f[1]:.0%})" for row in found]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    free = ("no privacy (scikit-learn)", "no data")
    best = [min((v[0], k) for k, v in row.items() if v is not None and k not in free)[1] for row in found]
    lines.append(f"| least error with privacy | {' | '.join(best)} |")
    last = found[-1]
    gaussian, laplace = last["Gaussian"], last["Laplace"]
    return "\n".join(lines), gaussian is not None and laplace is not None and gaussian[0] <= laplace[0]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--record", action="store_true", help="write the table into docs/precision-matrices.md")
    asked = parser.parse_args(arguments)
    text, good = table(asked.runs)
    print(text)
    if asked.record:
        write_section("precision-matrices.md", "mechanisms beside one another", text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
