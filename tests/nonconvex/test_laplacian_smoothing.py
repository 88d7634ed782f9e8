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
from dpcheck.bounds.library.nonconvex import laplacian_smoothing_values as values
from dpcheck.bounds.proving.proofs import PrintedCells
from dpcheck.bounds.registry import library
from dpcheck.evidence.nonconvex import laplacian_smoothing_denoising as denoising
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
    inverse = np.linalg.inv(dense(operator))
    assert theory.proposition_gamma.evaluate(**where) == pytest.approx(operator.gamma, rel=1e-7)
    assert theory.proposition_beta.evaluate(**where) == pytest.approx(operator.beta, rel=1e-6)
    assert theory.induced.evaluate(**where) == pytest.approx(np.trace(inverse), rel=1e-7)
    assert theory.smoothed.evaluate(**where) == pytest.approx(np.trace(inverse @ inverse), rel=1e-6)
    assert 1 / math.sqrt(4 * operator.sigma + 1) <= operator.gamma * (1 + 1e-12)
    assert operator.beta <= operator.gamma < 1


@given(operator=operators)
@settings(max_examples=40, deadline=None)
def test_the_condition_number_depends_on_parity(operator: LaplacianSmoothing) -> None:
    number = float(operator.eigenvalues.max() / operator.eigenvalues.min())
    stated = float(theory.condition_printed.evaluate(smoothing=operator.sigma))
    assert (number == pytest.approx(stated, rel=1e-12)) is (operator.d % 2 == 0)
    assert number <= stated * (1 + 1e-12)


@given(operator=operators, seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_corrected_identity_of_remark_5_5_6(operator: LaplacianSmoothing, seed: int) -> None:
    """‖d‖² + 2σ‖D₊d‖² + σ²‖Ld‖² = ‖A_σd‖², for every d and not only the example's."""
    v = np.random.default_rng(seed).standard_normal(operator.d)
    forward, second = np.roll(v, -1) - v, np.roll(v, -1) - 2 * v + np.roll(v, 1)
    left = v @ v + 2 * operator.sigma * forward @ forward + operator.sigma**2 * second @ second
    image = operator.apply(v)
    assert left == pytest.approx(image @ image)
    example = np.array([1.0, 0.0, 0.0])
    image = LaplacianSmoothing(operator.sigma, 3).apply(example)
    right = library["lwang21.remark5.5.6.corrected"].evaluate(ls_shift=1.0, smoothing=operator.sigma)
    assert image @ image == pytest.approx(right)


def test_a_wrong_digit_in_a_table_is_found() -> None:
    right, wrong = (
        PrintedCells(partial(values.cells, printed=row), "") for row in (values.GAMMAS, (447, 334, 277, 243, 218))
    )
    assert right.run(values.table_gamma, Effort()).verdict is Verdict.PROVED
    found = wrong.run(values.table_gamma, Effort())
    assert found.verdict is not Verdict.PROVED
    assert "0.334" in found.figure
    about = replace(values.table_gamma, states=Eq(values.table_gamma.subject, 1.01 * values.table_gamma.formula))
    assert right.run(about, Effort()).verdict is not Verdict.PROVED


@given(sigma=st.floats(0.05, 50), lag=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_fourier_coefficients_are_the_integrals(sigma: float, lag: int) -> None:
    """Lemma 5.6.2, (5.6.4) and (5.6.6), by the trapezoidal rule, exact here up to ω^4000."""
    angles = 2 * np.pi * np.arange(4096) / 4096
    value = 1 / (1 + 2 * sigma * (1 - np.cos(angles)))
    where = {"smoothing": sigma, "ls_lag": lag}
    for power, claims in ((1, ("lemma5.6.2", "equation5.6.4")), (2, ("equation5.6.6",))):
        found = np.mean(value**power * np.cos(lag * angles))
        for name in claims:
            assert library[f"lwang21.{name}"].evaluate(**where) == pytest.approx(found, rel=1e-6, abs=1e-12)


def test_random_directions_are_compressed_by_beta() -> None:
    """Remark 5.5.6: E‖A⁻¹g‖² = β‖g‖², over 20000 directions, up to six standard errors."""
    operator = LaplacianSmoothing(3.0, 12)
    g = np.random.default_rng(0).standard_normal((20_000, 12))
    left = np.sum(operator.solve(g / np.linalg.norm(g, axis=1)[:, None]) ** 2, axis=1)
    stated = library["lwang21.remark5.5.6.compression"].evaluate(beta_s=operator.beta, ls_radius2=1.0)
    assert abs(left.mean() - stated) < 6 * left.std() / math.sqrt(20_000)


# Denoising -----------------------------------------------------------------------------------------
def test_what_is_left_of_the_plane_is_bias_and_beta() -> None:
    """Figure 5.2 (b) to (d): MSE 0.04 before, bias² + 0.04β after; half of it, and the wave shrinks."""
    operator, signal = LaplacianSmoothing(100, 10_000), denoising.wave()
    lost = np.mean((operator.solve(signal) - signal) ** 2)
    gained = denoising.plane(3, 50)["σ = 100"]
    assert 0.04 - lost - 0.04 * operator.beta == pytest.approx(gained.mean(), abs=6 * gained.std() / math.sqrt(50))
    assert 0.4 < gained.mean() / 0.04 < 0.6
    assert lost > 9 * 0.04 * operator.beta


def test_more_noise_less_signal_and_smoothing_hurts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: without noise smoothing only takes signal away."""
    monkeypatch.setattr(denoising, "DEVIATION", 1e-3)
    assert (
        Gained(denoising.plane, "planted").run(library["lwang21.figure5.2.plane"], Effort()).verdict is Verdict.REFUTED
    )


def test_more_smoothing_leaves_less_of_a_difference_and_never_more_than_all() -> None:
    """Remark 5.5.6: what the check measures is half of the norm less what is left, so at most half of it."""
    found = denoising.differences(0, 50)
    assert np.all(found["σ = 3"] > found["σ = 1"])
    most = 2 * 4 * math.sqrt(2)  # of ‖∇f_i - ∇f_j‖
    assert all(np.abs(gain).max() <= most / 2 for gain in found.values())


def test_no_smoothing_is_the_identity() -> None:
    v = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(LaplacianSmoothing(0.0, 3).solve(v), v)
    assert np.array_equal(LaplacianSmoothing(7.0, 1).solve(v[:, :1]), v[:, :1])
    assert LaplacianSmoothing(7.0, 1).apply(v[:, :1]) == pytest.approx(v[:, :1])


@pytest.mark.parametrize(("sigma", "d"), [(-1.0, 3), (math.inf, 3), (math.nan, 3), (1.0, 0)])
def test_refusals(sigma: float, d: int) -> None:
    with pytest.raises(InvalidInput, match="smoothing" if d else "d is 0"):
        LaplacianSmoothing(sigma, d)
