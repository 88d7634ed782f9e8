"""The recursions of zhang17's Lemmas 2 and 3 along runs on real losses, whose vectors have more than one coordinate."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.library.convex import gradient_descent as theory


@given(size=st.integers(2, 12), dim=st.integers(1, 4), mu=st.sampled_from([0.0, 0.05, 0.5]), seed=st.integers(0, 2**20))
@settings(max_examples=60, deadline=None)
def test_runs_obey_the_recursions(size: int, dim: int, mu: float, seed: int) -> None:
    """Losses log(1 + exp<a, w>) + mu/2 ||w||^2: gradients of norm at most 1 + mu ||w||, smoothness 1/4 + mu."""
    A = np.random.default_rng(seed).normal(size=(size, dim))
    A /= np.maximum(1, np.linalg.norm(A, axis=1, keepdims=True))
    B = A.copy()
    B[0] = -A[0]
    beta = 0.25 + mu
    step = 1 / (beta + mu)
    claim = theory.recursion3 if mu else theory.recursion2
    here = {"eta": step, "beta": beta, "n": size} | ({"mu": mu} if mu else {})
    w = v = np.zeros(dim)
    for _ in range(15):
        both = [M / (1 + np.exp(-M @ x))[:, None] + mu * x for M, x in ((A, w), (B, v))]
        lipschitz = float(max(np.linalg.norm(g, axis=1).max() for g in both))
        bound = float(claim.evaluate(parted=float(np.linalg.norm(w - v)), L=lipschitz, **here))
        w, v = w - step * both[0].mean(axis=0), v - step * both[1].mean(axis=0)
        assert np.linalg.norm(w - v) ** 2 <= bound * (1 + 1e-9) + 1e-15
