"""What runs of DP-GD show. Claims: bounds/library/nonconvex/dp_gd_sosp.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_gd_sosp as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.rate_checks import Trend
from dpcheck.evidence.share_checks import EnoughRecords
from dpcheck.families.second_order import constants, largest_gap, second_order_error, step_size
from dpcheck.kernels.running import run
from dpcheck.problems.losses import Array
from dpcheck.problems.saddles import NAMES, Saddle, saddle
from dpcheck.solvers.nonconvex.dp_gd_sosp import DPGDSOSP, Trajectory

CLAIMED, SHORT = ApproxDP(1.0, 1e-2), DPGDSOSP(steps=5)
FIRST, LOOKED = 4000, 50  # iterates that are run of all T, every 50th of which is looked at
PRIVATE = {"eps": 1.0, "delta": 1e-5, "gamma": 0.1}


def descents(found: Saddle, noise: float, steps: int, trials: int, seed: int) -> Array:
    """All iterates from the saddle, (trials, steps + 1, d)."""
    method = Trajectory(found.at, steps, step_size(found.problem))
    w = run(method, Release(1.0, Gaussian(noise), steps=steps), found.problem, seed=seed, trials=trials).w
    return w.reshape(trials, steps + 1, -1)


def case_of(place: int) -> dict[str, Any]:
    """α is half the level of the saddle, which so is no α-SOSP."""
    found = saddle(NAMES[place])
    problem, alpha = found.problem, found.least**2 / found.problem.hessian_lipschitz / 2
    M, B = problem.smoothness, largest_gap(problem)
    numbers = constants(problem) | {"M_second": M, "B_risk": B, "d": float(problem.d)}
    T = M * B / alpha**2
    return {**numbers, **PRIVATE, "place": place, "name": NAMES[place], "alpha_sosp": alpha, "length": math.ceil(T)}


def constant(case: Mapping[str, Any]) -> float:
    """That with which Lemma 4.3.2 has the noise of all T steps at α/20, as the proof of Lemma 4.3.3 asks, c₂ = 8."""
    return 20 * math.sqrt(2 * 8) * math.log(4 * case["length"] / case["gamma"]) / math.log(1 / case["gamma"])


def reached(case: Mapping[str, Any], n: int, trials: int, seed: int) -> int:
    """Runs of which one of the first iterates is an α-SOSP, with the printed noise."""
    found, T = saddle(NAMES[int(case["place"])]), case["length"]
    numbers = {name: case[name] for name in ("G", "eps", "delta")}
    noise = float(theory.privacy_corrected.evaluate(n=n, T=T, **numbers))
    seen = descents(found, noise, min(FIRST, T), trials, seed)[:, ::LOOKED]
    errors = second_order_error(found.problem, seen.reshape(-1, found.problem.d), found.problem.hessian_lipschitz)
    return int(np.sum(errors.reshape(trials, -1).min(axis=1) <= case["alpha_sosp"]))


def escape_steps(n: float, trials: int, seed: int) -> Array:
    """Steps with noise 1/n from the saddle of phase retrieval until F has fallen by a tenth of what it can."""
    found = saddle("phase retrieval")
    values = found.problem.value(descents(found, 1 / n, 800, trials, seed))
    fallen = values < 0.9 * found.problem.value(found.at[None])[0]  # its least value is 0
    return np.where(fallen.any(axis=1), fallen.argmax(axis=1), 800).astype(float)


def attacked() -> Any:
    """The noise of Theorem 4.3.1 with c₂ = 8, on the worst pair of five records, all iterates seen."""
    return SHORT.mechanism(CLAIMED, "stated", transcript=True), SHORT.worst_pair(), CLAIMED


CHECKS = {
    "dwang20.theorem4.3.1.privacy.corrected": [AuditCheck(
        attacked, "as published, c₂ = 8, all steps seen", 20_000, at={"n": 5.0, "T": 5.0, "G": 1.0}
    )],
    "dwang20.theorem4.3.1": [EnoughRecords(
        reached, [case_of(place) for place in range(len(NAMES))], constant,
        "from known saddle points, α half of their level; Ω̃ hides what makes the noise α/20 by Lemma 4.3.2, c₂ = 8",
        trials=96,
    )],
    "dwang20.lemma4.3.4.corrected": [Trend(
        "n", (1e2, 1e4, 1e6, 1e8, 1e10, 1e12), escape_steps, "noise 1/n at the saddle of phase retrieval", slack=0.01,
        in_log=True, trials=64,
    )],
}
