"""The Langevin diffusion: its Gibbs law by quadrature, its spectral gap and Poisson equation on three wells.

Statistical tests have a fixed seed and a false-alarm rate of 1e-6, and see the bug planted beside them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from scipy import linalg

from dpcheck.bounds.library.nonconvex import langevin
from dpcheck.evidence.nonconvex import langevin as evidence


@pytest.mark.parametrize("seed", [1, 2])
def test_long_chains_follow_the_gibbs_law(seed: int) -> None:
    """Kolmogorov's distance; planted: the √2·dB of (4.14), which forgets the temperature."""
    case = {"seed": seed, "ridge": 0.5, "heat": 8.0}
    found, allowed = evidence.off_the_gibbs_law(case)
    assert found <= allowed
    found, allowed = evidence.off_the_gibbs_law(case, stirred=1 / 8)
    assert found > allowed


def matrix_of_three_wells(heat: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Grid, Gibbs weights (not normalised) and spacing for F = 1 - cos w + w²/40."""
    at = np.linspace(-11.0, 11.0, 1601)
    return at, np.exp(-heat * evidence.three_wells().value(at[:, None])), float(at[1] - at[0])


def relaxation(heat: float) -> float:
    """1/λ of the three wells, by finite differences."""
    _, weights, step = matrix_of_three_wells(heat)
    between = np.sqrt(weights[1:] * weights[:-1])
    diagonal = (np.r_[between, 0] + np.r_[0, between]) / weights / step**2
    off = np.full(len(between), -1 / step**2)
    return 1 / float(linalg.eigh_tridiagonal(diagonal, off, eigvals_only=True, select="i", select_range=(1, 1))[0])


def test_the_spectral_gap_falls_as_the_lemma_says() -> None:
    """The proved lower bound on 1/λ holds, and what it grows by is e to the height of the barrier."""
    slow = {heat: relaxation(heat) for heat in (2.0, 4.0, 6.0)}
    for heat, found in slow.items():
        assert found >= langevin.unavoidable.evaluate(heat=heat, c1=0.38, c2=math.exp(-0.525) / 2)
    assert math.log(slow[6.0] / slow[4.0]) / 2 == pytest.approx(float(langevin.barrier), abs=0.3)


@pytest.mark.parametrize("heat", [20.0, 40.0])
def test_the_poisson_equation_has_the_slope_of_the_counterexample(heat: float) -> None:
    """ψ'(π) by quadrature is at least what refutes Theorem 4.2.11, and far from a polynomial of β."""
    at, weights, step = matrix_of_three_wells(heat)
    values = evidence.three_wells().value(at[:, None])
    mean = (values * weights).sum() / weights.sum()
    assert mean <= float(langevin.kept) / 2
    beyond = at >= math.pi
    found = float(((values - mean) * weights)[beyond].sum() * step * math.exp(heat * (2 + math.pi**2 / 40)))
    (check,) = langevin.theorem11.checks
    claimed = float(check.value.subs(langevin.heat, heat)) * (1 + math.pi**2)  # type: ignore[attr-defined]
    assert found >= claimed > heat**5


def test_the_wells_are_as_the_proof_says() -> None:
    """F(π)-F(2π), F beyond π, F'' and the point between 3π/2 and 2π where the well is deepest."""
    F = lambda w: evidence.three_wells().value(np.atleast_1d(w)[:, None])  # noqa: E731
    assert float(F(math.pi)[0] - F(2 * math.pi)[0]) == pytest.approx(float(langevin.barrier))
    beyond = np.linspace(math.pi, 40, 4000)
    assert F(beyond).min() >= float(langevin.kept)
    bottom = beyond[F(beyond).argmin()]
    assert 1.5 * math.pi < bottom < 2 * math.pi
    assert evidence.three_wells().smoothness == float(langevin.M0)
    exits = sympy.lambdify((langevin.heat, langevin.lasting), langevin.escapes(langevin.lasting))
    assert exits(100.0, 1e9) < 1e-10 < exits(10.0, 1.0)
