"""Table 1 of zhang17 and the remarks on it: against Theorems 2 and 3, and with planted variants refuted."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Claim, Effort, Rate, Verdict, judge, lambdified
from dpcheck.bounds.language.symbols import d, delta, eps, excess_risk, n
from dpcheck.bounds.library.convex import outpert_gd
from dpcheck.bounds.library.convex import smooth_erm_comparison as theory
from dpcheck.bounds.library.convex import smooth_erm_population as population

UNITS = {"L": 1.0, "beta": 1.0, "mu": 1.0, "D": 1.0}


def verdict_of(claim: Claim) -> Verdict:
    return judge([check.run(claim, Effort()) for check in claim.checks])


@given(k=st.integers(2, 10**6), dim=st.integers(1, 10**4), e=st.floats(1e-3, 10), dl=st.floats(1e-9, 0.4))
@settings(max_examples=50, deadline=None)
def test_utility_cells_are_theorem_2_at_unit_constants(k: int, dim: int, e: float, dl: float) -> None:
    here = {"n": k, "d": dim, "eps": e, "delta": dl}
    for cell, theorem in (
        (theory.table1_sc_pure, outpert_gd.theorem2_pure),
        (theory.table1_sc_approx, outpert_gd.theorem2_approx),
    ):
        assert cell.evaluate(**here) == pytest.approx(theorem.evaluate(**here, **UNITS), rel=1e-12)


@given(k=st.integers(100, 10**6), dim=st.integers(1, 50), e=st.floats(0.5, 10), dl=st.floats(1e-9, 0.4))
@settings(max_examples=50, deadline=None)
def test_run_times_are_four_times_the_cells(k: int, dim: int, e: float, dl: float) -> None:
    """nd times the T of Theorem 2 at L = beta = mu = D = 1, where (mu^2 + beta^2)/(mu beta) = 2."""
    pure = k * dim * 2 * math.log((k * e / dim) ** 2)
    assert 4 * theory.table1_time_pure.evaluate(n=k, d=dim, eps=e) == pytest.approx(pure, rel=1e-9, abs=1e-6)
    approx = k * dim * 2 * math.log((k * e) ** 2 / (dim * math.log(1 / dl)))
    corrected = theory.table1_time_approx_corrected.evaluate(n=k, d=dim, eps=e, delta=dl)
    assert 4 * corrected == pytest.approx(approx, rel=1e-9, abs=1e-6)


def test_the_printed_run_time_takes_the_root_of_a_negative_number() -> None:
    printed = theory.table1_time_approx.where(n=1000, d=5, eps=1, delta=sympy.Rational(1, 1000))
    assert not printed.is_real
    corrected = theory.table1_time_approx_corrected.where(n=1000, d=5, eps=1, delta=sympy.Rational(1, 1000))
    assert corrected.is_real


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        (theory.table1_sc_pure, d / (n**2 * eps**2)),
        (theory.table1_sc_pure, d**2 / (n**3 * eps**2)),
        (theory.table1_sc_approx, d / (n**2 * eps**2)),
        (theory.table1_sc_approx, d * sympy.log(1 / delta) / (n**2 * eps)),
    ],
    ids=str,
)
def test_planted_cells_are_not_proved(cell: Claim, wrong: sympy.Expr) -> None:
    planted = replace(cell, id="zhang17.planted", states=Rate(excess_risk, wrong))
    assert verdict_of(planted) is not Verdict.PROVED


def over_generalisation(rate: sympy.Expr, k: float, dim: float) -> float:
    """A rate of Theorem 3 at unit constants over n^(-1/2)."""
    here = UNITS | {"n": k, "d": dim, "eps": 1.0, "delta": math.exp(-1)}
    return float(lambdified(rate)(*(here[str(s)] for s in sorted(rate.free_symbols, key=str)))) * math.sqrt(k)


@given(k=st.floats(2, 1e9), share=st.floats(0, 0.999))
@settings(max_examples=60, deadline=None)
def test_when_the_convex_bound_is_below_generalisation(k: float, share: float) -> None:
    """Dimensions within the corrected remarks are, dimensions beyond are not, although d < n."""
    dim = k**share
    assert theory.remark_d_below_n.violated_by({"n": k, "d": dim}) is None
    for remark, rate in (
        (theory.remark_d_corrected, outpert_gd.approx_rate),
        (theory.remark_d_pure, outpert_gd.pure_rate),
    ):
        within = remark.violated_by({"n": k, "d": dim}) is None
        ratio = over_generalisation(rate, k, dim)
        assert ratio <= 1 + 1e-9 if within else ratio > 1 - 1e-9


def test_the_counterexample_of_the_remark() -> None:
    """n = 10^4, d = 5000: 0.037 against 0.01."""
    assert over_generalisation(outpert_gd.approx_rate, 1e4, 5000) / 100 == pytest.approx(0.037, abs=5e-4)
    evidence = theory.remark_d_below_n.checks[0].run(theory.remark_d_below_n, Effort())
    point = evidence.counterexample
    assert point is not None
    assert point["d"] < point["n"]
    assert point["d"] > math.sqrt(point["n"])


def test_population_risks_have_the_unit_of_a_risk_once_corrected() -> None:
    for stated, corrected in (
        (population.population_strong, population.population_strong_corrected),
        (population.population_convex, population.population_convex_corrected),
    ):
        assert stated.unit_gap is not None
        assert corrected.unit_gap is None
        assert corrected.corrects == stated.id


@given(A=st.floats(1e-6, 1e3), reach=st.floats(0.1, 100))
@settings(max_examples=60, deadline=None)
def test_the_balance_of_the_corrected_population_risk(A: float, reach: float) -> None:
    """The least A mu^(-3/2) + mu R^2/2 over mu is between 1.2 and 1.5 of the claim, in n like n^(-2/5)."""
    grid = [(A / reach**2) ** 0.4 * 1.02**i for i in range(-150, 250)]
    least = min(A * m**-1.5 + m * reach**2 / 2 for m in grid)
    values = {"R": reach, "L": 1.0, "beta": 1.0, "d": 1, "eps": 1 / A}
    claimed = population.population_convex_corrected.evaluate(n=1, **values)
    assert 1.2 < least / claimed <= 1.5
    assert population.population_convex_corrected.evaluate(n=32, **values) == pytest.approx(claimed / 4, rel=1e-9)
