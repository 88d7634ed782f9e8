"""Private EM on the models of dwang20, section 7.2: from how far it finds β*, and how its error goes with n, ε and d.

Records are of the three models at ‖β*‖ = 3σ; starts lie at a distance of β*, in a random direction or straight towards
-β*, where the sign is lost first. The first table has the share of starts from which gradient EM without privacy ends
within 0.3σ of β*; the lemmas' balls have radius 1/4 of ‖β*‖ for mixtures, 1/32 for mixed regressions and a k < 1 of it
for missing covariates. The second has the exponents of the error ‖β^T - β*‖ of private EM for mixtures from starts at
‖β*‖/8 in a random direction, fitted to its logarithm, with three standard errors;
(7.78) says -1/2 in n, -1 in ε and 1 in d of robust means. δ is fixed, T = 10, and every run draws its records anew.

python -m benchmarks.latent_models [--runs 40]; --record writes the tables into docs/mixtures.md. The exit code is 1 if
from the lemmas' radii fewer than all starts are led to β*, or an exponent of robust means is off (7.78) by over 0.25.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.pages import write_section
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.families.em_models import LatentRecords, MissingCovariates, Regressions, SignedMixture, gradient_em
from dpcheck.families.em_runs import EMSolver
from dpcheck.solvers.latent.clipped_dp_gradient_em import ClippedDPGradientEM
from dpcheck.solvers.latent.dp_em import DPEM
from dpcheck.solvers.latent.dp_gradient_em import DPGradientEM

MODELS: dict[str, tuple[type[LatentRecords], float, float]] = {  # η, and the lemma's radius over ‖β*‖
    "mixture": (SignedMixture, 1.0, 0.25),
    "mixed regressions": (Regressions, 0.5, 1 / 32),
    "missing covariates": (MissingCovariates, 0.5, 0.5),
}
NORM, NEAR, DELTA, STEPS = 3.0, 0.3, 1e-6, 10
DISTANCES = (1 / 32, 0.25, 0.5, 0.75, 0.9, 1.1, 2.0)
GRID: dict[str, tuple[float, ...]] = {
    "n": (20_000, 40_000, 80_000, 160_000),
    "eps": (0.5, 1.0, 2.0),
    "d": (2, 4, 8, 16),
}
CENTRE = {"n": 80_000.0, "eps": 1.0, "d": 4.0}
CLAIMED = {"n": -0.5, "eps": -1.0, "d": 1.0}
SOLVERS: dict[str, Callable[[tuple[float, ...]], EMSolver]] = {
    "clipped_dp_gradient_em": lambda at: ClippedDPGradientEM(steps=STEPS, start=at),
    "dp_gradient_em": lambda at: DPGradientEM(steps=STEPS, start=at, second_moment=2.0),
    "dp_em": lambda at: DPEM(steps=STEPS, start=at, second_moment=NORM**2 + 1),
}


def placed(d: int, distance: float, rng: np.random.Generator, *, back: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """β* and a start so far from it, towards -β* if `back`."""
    truth, way = (v / np.linalg.norm(v) * NORM for v in rng.standard_normal((2, d)))
    return truth, truth + distance * (-truth if back else way)


def found_share(kind: type[LatentRecords], eta: float, distance: float, runs: int, back: bool) -> float:
    """Of starts at this distance over ‖β*‖, from which EM finds β*."""
    hits = 0
    for run in range(runs):
        rng = np.random.default_rng([run, 10])
        truth, start = placed(10, distance, rng, back=back)
        last = gradient_em(kind.drawn(5_000, truth, rng), start, 100, eta)[-1]
        hits += bool(np.linalg.norm(last - truth) < NEAR)
    return hits / runs


def error(name: str, at: Mapping[str, float], run: int) -> float:
    n, d = int(at["n"]), int(at["d"])
    rng = np.random.default_rng([run, n, d])
    truth, start = placed(d, 0.125, rng)
    records = SignedMixture.drawn(n, truth, rng)
    w = SOLVERS[name](tuple(map(float, start))).solution(records, ApproxDP(at["eps"], DELTA), rng).w[0]
    return float(np.linalg.norm(w - truth))


def exponent(name: str, what: str, runs: int) -> tuple[float, float]:
    """The fitted exponent and its standard error."""
    x = np.log(np.repeat(GRID[what], runs))
    y = np.log([error(name, {**CENTRE, what: value}, run) for value in GRID[what] for run in range(runs)])
    away = x - x.mean()
    slope = float(away @ y / (away @ away))
    rest = y - y.mean() - slope * away
    return slope, float(np.sqrt(rest @ rest / (len(x) - 2) / (away @ away)))


def reach(runs: int) -> tuple[str, bool]:
    lines = ["| start's distance over ‖β*‖ |" + "".join(f" {x:.3g} |" for x in DISTANCES)]
    lines, good = [*lines, "|---|" + "---:|" * len(DISTANCES)], True
    for (name, (kind, eta, radius)), back in itertools.product(MODELS.items(), (False, True)):
        shares = [found_share(kind, eta, x, runs, back) for x in DISTANCES]
        good = good and all(share == 1 for x, share in zip(DISTANCES, shares, strict=True) if x <= radius)
        lines.append(f"| {name}, {'towards -β*' if back else 'any direction'} |")
        lines[-1] += "".join(f" {share:.2f} |" for share in shares)
        print(lines[-1], flush=True)
    return "\n".join(lines), good


def rates(runs: int) -> tuple[str, bool]:
    lines, good = ["| mixtures | n | ε | d |", "|---|---:|---:|---:|"], True
    for name in SOLVERS:
        cells = {what: exponent(name, what, runs) for what in GRID}
        if name != "clipped_dp_gradient_em":
            good = good and all(abs(cells[what][0] - CLAIMED[what]) < 0.25 for what in GRID)
        lines.append(f"| {name} |" + "".join(f" {slope:.2f} ± {3 * error:.2f} |" for slope, error in cells.values()))
        print(lines[-1], flush=True)
    return "\n".join(lines), good


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--record", action="store_true", help="write the tables into docs/mixtures.md")
    asked = parser.parse_args(arguments)
    (near, found), (slopes, fitted) = reach(asked.runs), rates(asked.runs)
    if asked.record:
        write_section("mixtures.md", "reach and rates of EM", f"{near}\n\n{slopes}")
    return 0 if found and fitted else 1


if __name__ == "__main__":
    sys.exit(main())
