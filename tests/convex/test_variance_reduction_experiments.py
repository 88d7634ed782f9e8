"""The experiments of section 3.1.5: the data, the settings as printed, and a check that can tell a trend from none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.registry import library
from dpcheck.evidence.convex import variance_reduction_experiments as experiments
from dpcheck.evidence.convex.variance_reduction_experiments import CHECKS, Ratios, printed_settings, separable, strong


def test_the_synthetic_rule_is_separable_and_nested() -> None:
    data = separable(300, 4)
    assert np.linalg.norm(data.X, axis=1).max() <= 1
    assert set(data.y) == {-1.0, 1.0}
    fit = np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    direction = np.random.default_rng(11).standard_normal(4)
    assert np.all(np.sign(data.X @ direction) == data.y)
    assert np.mean(np.sign(data.X @ fit) == data.y) > 0.9
    np.testing.assert_array_equal(separable(600, 4).X[:300], data.X)


def test_settings_are_those_printed() -> None:
    problem = strong(separable(500, 4))
    assert problem.l2 == 1e-4
    plans = {name: solver.plan(problem, ApproxDP(1.0, 1e-4)) for name, solver in printed_settings(problem).items()}
    outer = math.ceil(math.log(500))
    assert plans["DP-SVRG"].lengths == (100,) * (2 * outer)
    assert plans["DP-SVRG"].step_size == 0.1
    assert plans["DP-Katyusha"].lengths == (375,) * outer


@pytest.mark.parametrize(("ratios", "verdict"), [((0.5, 0.9), Verdict.SUPPORTED), ((0.5, 1.1), Verdict.REFUTED)])
def test_one_ratio_above_1_is_seen(ratios: tuple[float, ...], verdict: Verdict) -> None:
    check = Ratios(lambda seed, trials: {str(r): r for r in ratios}, "made up")
    found = check.run(library["dwang20.section3.1.5.convex.n"], Effort(seed=3))
    assert found.verdict is verdict
    if verdict is Verdict.REFUTED:
        again = check.replay(library["dwang20.section3.1.5.convex.n"], found.counterexample)
        assert again.verdict is verdict


def test_a_trend_the_wrong_way_round_is_refuted() -> None:
    """The gap does not grow with eps: the same measurement, asked the other way, says so."""
    claim = library["dwang20.section3.1.5.strongly_convex.eps"]
    right, wrong = (
        Ratios(experiments.strong_trend("eps", (0.2, 1.0), rising=rising), "", trials=5) for rising in (False, True)
    )
    assert right.run(claim, Effort(seed=1)).verdict is Verdict.SUPPORTED
    assert wrong.run(claim, Effort(seed=1)).verdict is Verdict.REFUTED


def test_costs_of_the_source_sizes() -> None:
    """2 ceil(log n) (n + 200) and ceil(log n) (n + 3n/2) record gradients at n = 100000."""
    problem = experiments.replace(experiments.empty(100_000, 2), l2=1e-4)
    svrg, katyusha = (s.gradients(problem, ApproxDP(1.0, 1e-4)) for s in printed_settings(problem).values())
    assert svrg == 24 * (100_000 + 200)
    assert katyusha == 12 * (100_000 + 150_000)
    assert katyusha > svrg  # against dwang20.section3.1.5.katyusha.cost, counting both gradients of a step


def test_every_experiment_has_its_check() -> None:
    claims = [k for k in library if k.startswith("dwang20.section3.1.5.") and library[k].kind == "experiment"]
    assert {k for k in claims if not library[k].checks} == set(CHECKS)
