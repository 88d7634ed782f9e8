"""The smoothing operator against dense matrices, closed forms against sums and integrals, denoising."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.library.nonconvex import laplacian_smoothing as theory
from dpcheck.bounds.proving.proofs import PrintedCells
from dpcheck.bounds.registry import library
from dpcheck.evidence.nonconvex import laplacian_smoothing as measured
from dpcheck.evidence.nonconvex.dp_lssgd_experiments import Gained
from dpcheck.kernels.smoothing import LaplacianSmoothing

operators = st.builds(LaplacianSmoothing, st.floats(0.01, 50), st.integers(2, 40))


def dense(operator: LaplacianSmoothing) -> np.ndarray:
    """A_σ written out: 1+2σ on the diagonal, -σ for each neighbour, ends joined."""
    eye = np.eye(operator.d)
    return (1 + 2 * operator.sigma) * eye - operator.sigma * (np.roll(eye, 1, axis=0) + np.roll(eye, -1, axis=0))


@given(operator=operators, seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_fft_and_matrix_agree(operator: LaplacianSmoothing, seed: int) -> None:
    """lwang21.section5.2.fft, for several trials at once."""
    v = np.random.default_rng(seed).standard_normal((3, operator.d))
    matrix = dense(operator)
    assert operator.apply(v) == pytest.approx(v @ matrix, abs=1e-9)
    assert operator.solve(v) == pytest.approx(np.linalg.solve(matrix, v.T).T, abs=1e-9)
    assert operator.norm2(v) == pytest.approx(np.einsum("ki,ij,kj->k", v, matrix, v))
    assert operator.dual_norm2(v) == pytest.approx(np.einsum("ki,ij,kj->k", v, np.linalg.inv(matrix), v))
    assert np.sort(operator.eigenvalues) == pytest.approx(np.linalg.eigvalsh(matrix))


@given(operator=operators)
@settings(max_examples=60, deadline=None)
def test_closed_forms_are_the_means(operator: LaplacianSmoothing) -> None:
    """Propositions 5.3.5 and 5.3.8; the trace is d times the mean (Lemmas 5.5.7 and 5.5.8)."""
    where = {"smoothing": operator.sigma, "d": operator.d}
    inverse, size = np.linalg.inv(dense(operator)), operator.d
    traces = np.trace(inverse), np.trace(inverse @ inverse)
    assert theory.proposition_gamma.evaluate(**where) == pytest.approx(operator.gamma, rel=1e-7)
    assert theory.proposition_beta.evaluate(**where) == pytest.approx(operator.beta, rel=1e-6)
    assert theory.induced.evaluate(gamma_s=operator.gamma, d=size) == pytest.approx(traces[0], rel=1e-7)
    assert theory.smoothed.evaluate(beta_s=operator.beta, d=size) == pytest.approx(traces[1], rel=1e-6)
    assert 1 / math.sqrt(4 * operator.sigma + 1) <= operator.gamma * (1 + 1e-12)
    assert operator.beta <= operator.gamma < 1


@given(operator=operators)
@settings(max_examples=40, deadline=None)
def test_the_condition_number_depends_on_parity(operator: LaplacianSmoothing) -> None:
    number = float(operator.eigenvalues.max() / operator.eigenvalues.min())
    odd = 1 + 2 * operator.sigma * (1 + math.cos(math.pi / operator.d))
    stated = float(theory.even.evaluate(smoothing=operator.sigma))
    assert number == pytest.approx(odd if operator.d % 2 else stated, rel=1e-12)


@given(operator=operators, seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_corrected_identity_of_remark_5_5_6(operator: LaplacianSmoothing, seed: int) -> None:
    """‖d‖² + 2σ‖D₊d‖² + σ²‖Ld‖² = ‖A_σd‖²."""
    v = np.random.default_rng(seed).standard_normal(operator.d)
    forward, second = np.roll(v, -1) - v, np.roll(v, -1) - 2 * v + np.roll(v, 1)
    image = operator.apply(v)
    sizes = {"ls_inner2": v @ v, "ls_forward2": forward @ forward, "ls_second2": second @ second}
    right = theory.identity_right.evaluate(smoothing=operator.sigma, **sizes)
    assert image @ image == pytest.approx(right)


def test_a_wrong_digit_in_a_table_is_found() -> None:
    right, wrong = (
        PrintedCells(partial(theory.cells, printed=row), "") for row in (theory.GAMMAS, (447, 334, 277, 243, 218))
    )
    assert right.run(theory.table_gamma, Effort()).verdict is Verdict.PROVED
    found = wrong.run(theory.table_gamma, Effort())
    assert found.verdict is not Verdict.PROVED
    assert "0.334" in found.figure
    about = replace(theory.table_gamma, states=Eq(theory.table_gamma.subject, 1.01 * theory.table_gamma.formula))
    assert right.run(about, Effort()).verdict is not Verdict.PROVED


@given(sigma=st.floats(0.05, 50), lag=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_fourier_coefficients_are_the_integrals(sigma: float, lag: int) -> None:
    """Lemma 5.6.2 and (5.6.6), by the trapezoidal rule, exact here up to ω^4000."""
    angles = 2 * np.pi * np.arange(4096) / 4096
    value = 1 / (1 + 2 * sigma * (1 - np.cos(angles)))
    where = {"smoothing": sigma, "ls_lag": lag}
    for power, claim in ((1, theory.fourier), (2, theory.squared_fourier)):
        found = np.mean(value**power * np.cos(lag * angles))
        assert claim.evaluate(**where) == pytest.approx(found, rel=1e-6, abs=1e-12)


# Denoising -----------------------------------------------------------------------------------------
def test_what_is_left_of_a_signal_is_bias_and_beta() -> None:
    """Figure 5.2: of the error before, deviation², the bias² and β·deviation² are left; six standard errors."""
    gained = measured.denoised(3, 50)
    for (signal, deviation, sigma), gains in zip(measured.SIGNALS.values(), gained.values(), strict=True):
        operator = LaplacianSmoothing(sigma, len(signal))
        lost = np.mean((operator.solve(signal) - signal) ** 2)
        error = 6 * gains.std() / math.sqrt(50)
        assert (1 - operator.beta) * deviation**2 - lost == pytest.approx(gains.mean(), abs=error)


def test_less_noise_and_smoothing_hurts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: without noise smoothing only takes signal away."""
    monkeypatch.setattr(measured, "SIGNALS", {"1D": (measured.SINE, 1e-3, 10.0)})
    found = Gained(measured.denoised, "planted").run(library["lwang21.figure5.2"], Effort())
    assert found.verdict is Verdict.REFUTED


def test_a_changed_likelihood_would_be_seen() -> None:
    """The ratios of another σ's noise are other numbers by far: rounding is all that the check lets pass."""
    one, other = (measured.likelihood_ratios(2.0, (1.0, -1.0), seed) for seed in (1, 2))
    assert np.max(np.abs(one - other)) > 1e-2
    apart, allowed = measured.unchanged({"sigma": 2.0, "half": 2, "alternating": 1, "seed": 3})
    assert apart <= allowed


def test_no_smoothing_is_the_identity() -> None:
    v = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(LaplacianSmoothing(0.0, 3).solve(v), v)
    assert np.array_equal(LaplacianSmoothing(7.0, 1).solve(v[:, :1]), v[:, :1])
    assert LaplacianSmoothing(7.0, 1).apply(v[:, :1]) == pytest.approx(v[:, :1])


@pytest.mark.parametrize(("sigma", "d"), [(-1.0, 3), (math.inf, 3), (math.nan, 3), (1.0, 0)])
def test_refusals(sigma: float, d: int) -> None:
    with pytest.raises(InvalidInput, match="smoothing" if d else "d is 0"):
        LaplacianSmoothing(sigma, d)
