"""The recursions of zhang17's Lemmas 2 and 3 along runs on real losses, and planted constants that are not proved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Le

from dpcheck.bounds.language.claim import Claim, Effort, Verdict, judge
from dpcheck.bounds.language.symbols import L, eta, n
from dpcheck.bounds.library.convex import gradient_descent as theory


def verdict_of(claim: Claim) -> Verdict:
    return judge([check.run(claim, Effort()) for check in claim.checks])


def gradients(w: np.ndarray, A: np.ndarray, mu: float) -> np.ndarray:
    """Of log(1 + exp<a, w>) + mu/2 ||w||^2, each record's: norm at most 1 + mu ||w||, smoothness 1/4 + mu."""
    return A / (1 + np.exp(-A @ w))[:, None] + mu * w


@given(size=st.integers(2, 12), dim=st.integers(1, 4), mu=st.sampled_from([0.0, 0.05, 0.5]), seed=st.integers(0, 2**20))
@settings(max_examples=60, deadline=None)
def test_runs_obey_the_recursions(size: int, dim: int, mu: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size, dim))
    A /= np.maximum(1, np.linalg.norm(A, axis=1, keepdims=True))
    B = A.copy()
    B[0] = -A[0]
    beta = 0.25 + mu
    step = 1 / (beta + mu)
    claim = theory.recursion3 if mu else theory.recursion2
    here = {"eta": step, "beta": beta, "n": size} | ({"mu": mu} if mu else {})
    w = v = np.zeros(dim)
    for _ in range(15):
        both = [gradients(w, A, mu), gradients(v, B, mu)]
        lipschitz = float(max(np.linalg.norm(g, axis=1).max() for g in both))
        bound = float(claim.evaluate(parted=float(np.linalg.norm(w - v)), L=lipschitz, **here))
        w, v = w - step * both[0].mean(axis=0), v - step * both[1].mean(axis=0)
        assert np.linalg.norm(w - v) ** 2 <= bound * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("claim", [theory.recursion2, theory.recursion3], ids=lambda c: c.id)
def test_a_smaller_constant_is_not_proved(claim: Claim) -> None:
    """2ηL/n for 4ηL/n: a gradient of the differing record would count once."""
    smaller = claim.formula - 2 * eta * L / n * theory.parted
    planted = replace(claim, id="zhang17.planted", states=Le(theory.parted_next**2, smaller))
    assert verdict_of(claim) is Verdict.PROVED
    assert verdict_of(planted) is not Verdict.PROVED


@pytest.mark.parametrize("claim", [theory.to_the_minimiser, theory.ball3], ids=lambda c: c.id)
def test_ball(claim: Claim) -> None:
    assert verdict_of(claim) is Verdict.PROVED
