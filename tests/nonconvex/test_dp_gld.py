"""DP-GLD: a well that holds a chain, step sizes by privacy, the last iterate, refusals.

Statistical tests have a fixed seed and a false-alarm rate of 1e-6, and see the bug planted beside them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.nonconvex import dp_gld as theory
from dpcheck.bounds.library.nonconvex import langevin
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.nonconvex import langevin as evidence
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_gld import DPGLD
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPGLD(steps=8, heat=1.0)


def risk(n: int = 200, d: int = 2, l2: float = 0.5) -> Problem:
    rng = np.random.default_rng(0)
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Sigmoid(), l2=l2)


def test_privacy_sets_the_time_that_the_diffusion_runs() -> None:
    """η·T is the same for all T, and the default T makes η as small as the theorem asks, not smaller."""
    problem = risk()
    times = [solver.method(problem, T, solver.calibrated(problem, CLAIMED).released).etas.sum()
             for T in (10, 1000) for solver in [DPGLD(steps=T, heat=20.0)]]  # fmt: skip
    assert times[0] == pytest.approx(times[1], rel=1e-6)
    chosen = DPGLD().calibrated(problem, CLAIMED)
    eta = DPGLD().eta(problem, chosen.noise_std)
    limit = 0.5 / (8 * problem.smoothness**2)
    assert limit / 2 < eta <= limit * (1 + 1e-6)
    assert DPGLD().inverse_temperature(problem) == 8.0 == replace(DPGLD(), heat=8.0).inverse_temperature(problem)


def test_the_stated_step_is_that_of_the_box() -> None:
    problem = risk()
    done = DPGLD(steps=50, heat=20.0).calibrated(problem, CLAIMED, "stated")
    values = {"n": 200, "eps": 1.0, "delta": 1e-2, "L": 0.25, "T": 50, "c2": 2.0, "heat": 20.0}
    assert DPGLD(heat=20.0).eta(problem, done.noise_std) == pytest.approx(float(theory.privacy.evaluate(**values)))
    certified = DPGLD(steps=50, heat=20.0).calibrated(problem, CLAIMED)
    assert certified.noise_std < done.noise_std


def test_with_a_regulariser_the_last_iterate_tells_less() -> None:
    """w_T is normal for linear losses: its shift over its deviation, a = 1 - ηλ, by the formula and by runs."""
    first, second = (replace(p, l2=0.5) for p in SHORT.worst_pair())
    done = SHORT.calibrated(first, CLAIMED)
    eta = SHORT.eta(first, done.noise_std)
    a = 1 - eta * 0.5
    mu2 = (2 / 5) ** 2 / done.noise_std**2 * (1 - a**8) * (1 + a) / ((1 - a) * (1 + a**8))
    assert mu2 < 8 * (2 / 5) ** 2 / done.noise_std**2
    w = [SHORT.mechanism(CLAIMED)(p, np.random.default_rng(i), 20_000)[:, 0] for i, p in enumerate((first, second))]
    found = (w[0].mean() - w[1].mean()) / w[0].std()
    assert abs(found) == pytest.approx(math.sqrt(mu2), abs=5 * math.sqrt(2 / 20_000))


def test_a_random_iterate_is_uniform_on_1_to_T() -> None:
    """Chi-square; planted: a law that begins at the start itself."""
    found = DPGLD(steps=6, heat=1.0, choice="random").solve(
        SHORT.worst_pair()[0], CLAIMED, 3, trials=20_000, trace=True
    )
    counts = np.bincount(found.trace.stops, minlength=7)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 1e-6
    assert stats.chisquare(counts).pvalue < 1e-6


def test_twice_the_step_size_that_is_certified_is_flagged() -> None:
    """An audit of the last iterate; half the noise on gradients is four times the step size."""
    asked = {"pair": SHORT.worst_pair(), "guarantee": CLAIMED, "max_trials": 20_000, "alpha": 1e-6, "seed": 1}
    assert not audit(SHORT.mechanism(CLAIMED), **asked).violated
    assert audit(with_noise_times(0.5, SHORT, CLAIMED), **asked).violated


def test_refusals_name_what_fails() -> None:
    problem = risk()
    with pytest.raises(InvalidInput, match="none"):
        SHORT.solve(replace(problem, constraint=L2Ball(1.0)), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="to choose heat"):
        DPGLD().solve(replace(problem, l2=0.0), CLAIMED, 0)
    with pytest.raises(InvalidInput, match=r"from [0-9]+ on eta is at most"):
        DPGLD().solve(risk(20_000), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="to choose steps"):
        DPGLD(heat=1.0).solve(replace(problem, l2=0.0), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="pure DP"):
        SHORT.solve(problem, PureDP(1.0), 0)


def test_a_chain_in_the_wrong_well_stays_there() -> None:
    """The counterexample to Theorem 4.2.3 happens: the risk does not fall as β grows with n, and the rate does."""
    problem, rates = evidence.three_wells(), []
    for n in (1e3, 1e4):
        heat = n ** (2 / 3)
        lasting = min(30.0, n**2 / (4 * heat * math.log(1e5)))  # the rest of the time would change nothing
        ends = evidence.chains(problem, heat, 0.05, math.ceil(lasting / 0.05), 0, start=2 * math.pi, k=50)
        assert problem.value(ends[:, None]).min() >= float(langevin.kept)
        rates.append(math.log(heat) / heat)
    assert rates[1] < rates[0] / 3 < float(langevin.kept) / 10
