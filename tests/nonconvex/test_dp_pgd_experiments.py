"""The experiments on DP-PGD: noise by three accountants, the data, a line search that leaks, trends both ways round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict, lambdified
from dpcheck.bounds.library.nonconvex import dp_pgd_experiments as theory
from dpcheck.bounds.registry import library
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios
from dpcheck.evidence.nonconvex import dp_pgd_experiments as experiments
from dpcheck.evidence.nonconvex.dp_pgd_experiments import CHAPTER, CHECKS, PAPER, backtracking, deviation, problem_of


@given(n=st.integers(2, 10**5), eps=st.floats(1, 5), delta=st.floats(1e-5, 1e-3), T=st.integers(1, 1000))
@settings(max_examples=30, deadline=None)
def test_noise_by_zcdp_is_least_and_that_by_moments_next_to_it(n: int, eps: float, delta: float, T: int) -> None:
    """Where the best order is below 32, whole orders cost at most 2%; advanced composition at least a factor 2."""
    by = {way: deviation(way, n, eps, delta, T) for way in ("zcdp", "moments", "advanced")}  # type: ignore[arg-type]
    assert by["zcdp"] <= by["moments"] * (1 + 1e-12) <= 1.02 * by["zcdp"]
    assert by["advanced"] > 2 * by["zcdp"]


def test_the_moments_accountant_meets_its_own_condition_and_no_less_would() -> None:
    noise = deviation("moments", 100, 1.0, 1e-4, 20)
    orders = np.arange(1, 33)
    for factor, enough in ((1.0, True), (0.999, False)):
        mu = 2 * 0.25 * math.sqrt(20) / (100 * noise * factor)
        best = np.min(orders * (orders + 1) * mu**2 / 2 - orders * 1.0)
        assert bool(best <= -math.log(1e4) + 1e-9) is enough


def test_few_orders_are_what_the_moments_accountant_lacks() -> None:
    """At ε = 0.1 the best order is beyond 32."""
    assert deviation("moments", 100, 0.1, 1e-3, 50) > 1.3 * deviation("zcdp", 100, 0.1, 1e-3, 50)


def test_data_and_settings_are_those_described() -> None:
    assert (PAPER.strength, PAPER.delta, CHAPTER.strength, CHAPTER.delta) == (0.01, 1e-3, 1e-4, 1e-4)
    for name, n, d in experiments.DATA:
        problem = problem_of(name, n, d)
        assert (problem.n, problem.d) == (n, d)
        assert problem.data_lipschitz == 0.25
        assert np.linalg.norm(problem.X, axis=1).max() <= 1 + 1e-12


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0])
def test_a_halved_step_is_seen_whatever_the_noise(eps: float) -> None:
    """Normals in the plane whose deviations are 1 and 2: P(A) - e^eps Q(A), the largest over discs A, half the time."""
    squares = np.linspace(0.0, 4.0, 4001)
    narrow, wide = stats.chi2.cdf(squares, 2), stats.chi2.cdf(squares / 4, 2)
    reached = float(np.max(narrow - math.exp(eps) * wide)) / 2
    claimed = float(lambdified(theory.halved)(eps))
    assert claimed == pytest.approx(reached, rel=1e-4)
    assert claimed > 0.03  # above the 0.01 of the counterexample


def test_a_line_search_on_exact_risks_leaks() -> None:
    """False alarms: 1e-6. The same noise with a fixed step is not flagged."""
    for adaptive in (True, False):
        mechanism, pair, guarantee = backtracking(adaptive)
        found = audit(mechanism, pair=pair, guarantee=guarantee, max_trials=20_000, alpha=1e-6, seed=1)
        assert found.violated is adaptive


@pytest.mark.parametrize(("values", "verdict"), [((0.1, 0.5), Verdict.SUPPORTED), ((0.5, 0.1), Verdict.REFUTED)])
def test_a_trend_the_wrong_way_round_is_refuted(values: tuple[float, float], verdict: Verdict) -> None:
    def measured(seed: int, trials: int) -> dict[str, float]:
        problem = problem_of("synthetic", 500, 5)
        low, high = (experiments.mean_norm(problem, PAPER, e, 10, seed, trials) for e in values)
        return {"": high / low}

    assert (
        Ratios(measured, "", trials=4).run(library["wangxu19.section.experiments.eps"], Effort(seed=1)).verdict
        is verdict
    )


def test_why_the_exact_norm_may_rise_with_eps() -> None:
    """More noise drives the iterates farther out, where sigmoids are flat."""
    problem = problem_of("synthetic", 2000, 20)
    norms = [experiments.mean_norm(problem, CHAPTER, e, 50, 0, 8, "exact") for e in (0.1, 0.5)]
    assert norms[0] < norms[1]


def test_every_experiment_has_its_check() -> None:
    places = ("wangxu19.section.experiments.", "dwang20.section4.1.5.")
    assert {k for k in library if k.startswith(places) and not library[k].checks} <= set(CHECKS)
    assert set(CHECKS) <= set(library)


def test_a_run_that_never_settles_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Norms that change more and more: the ratio is above 1."""

    class Restless:
        noisy = exact = np.linspace(1, 2, 400)[:, None] ** 4

    monkeypatch.setattr(experiments, "path_of", lambda *_: Restless())
    assert min(experiments.settling(CHAPTER)(0, 1).values()) > 1


def test_sizes_are_compared_from_the_smaller_data_set_to_the_larger() -> None:
    found = experiments.falling_with_size(PAPER)(0, 4)
    assert {name.split(",")[0] for name in found} == {"digits", "synthetic"}
    assert len(found) == 2 * len(experiments.EPSILONS)
