"""What section 3.1 of dwang20 says of rates beside its tables: how near to optimal, and two methods without noise."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.library.convex import (
    convex_comparison,
    dp_katyusha_epochs,
    strongly_convex_comparison,
)
from dpcheck.bounds.library.mechanisms.composition import negligible


@given(n=st.integers(1, 10**5), kappa=st.floats(1, 1e6), share=st.floats(1e-9, 0.5))
@settings(max_examples=80, deadline=None)
def test_katyusha_without_noise_costs_what_is_quoted(n: int, kappa: float, share: float) -> None:
    """Whole epochs of (3.41) or (3.44) until the potential has fallen to the share, n + 2m gradients each."""
    if n <= kappa:
        m = 3 * n / 4
        shrinks = m * math.log1p(math.sqrt(1 / (3 * m * kappa)))
    else:
        m, shrinks = 3 * kappa / 4, math.log(1.5)
    cost = math.ceil(math.log(1 / share) / shrinks) * (n + 2 * m)
    claim = strongly_convex_comparison.katyusha
    assert cost <= 10 * claim.evaluate(n=n, L_smooth=kappa, mu=1.0, accuracy_share=share)


@given(n=st.integers(2, 10**6), place=st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_doubling_epochs_against_acceleration(n: int, place: float) -> None:
    """At most three times as many down to an error of 1/n²; far below it, more than any constant."""
    share = max(n ** (-2 * place), n**-2.0)
    doubling = lambda e: 1 / e + n * math.log(1 / e)  # noqa: E731
    assert doubling(share) <= 3 * n / math.sqrt(share) * (1 + 1e-9)
    assert doubling(1e-6 / n**2) >= 100 * n / math.sqrt(1e-6 / n**2)


@given(seed=st.integers(0, 2**20), m=st.integers(1, 12), mu=st.floats(0.05, 0.5))
@settings(max_examples=60, deadline=None)
def test_an_epoch_with_exact_gradients_obeys_3_38(seed: int, m: int, mu: float) -> None:
    """F = L/2·x² + qx, r = μ/2·x²; η and θ of the second case. The left side is the claim's, with its sum of gaps."""
    rng = np.random.default_rng(seed)
    L, (q, x, snap) = 1.0, rng.normal(size=3)
    eta, theta = 2 / (3 * L), 0.5
    best = -q / (L + mu)
    gap = lambda z: (L + mu) / 2 * (z - best) ** 2  # noqa: E731
    w, start, total, weights = 1 + eta * mu, abs(x - best), 0.0, 0.0
    for t in range(m):
        y = theta * x + (1 - theta) * snap
        x = (x - eta * (L * y + q)) / (1 + eta * mu)
        total += w**t * gap(theta * x + (1 - theta) * snap)
        weights += w**t
    names = {"theta": theta, "eta": eta, "L_smooth": L, "inner": m, "growth": w, "weights": weights}
    bound = dp_katyusha_epochs.equation38.evaluate(
        **names, gap_snap=gap(snap), start=start, sigma_n=0, d=1
    )  # fmt: skip
    left = total / theta + w**m / (2 * eta) * (x - best) ** 2
    assert left <= bound * (1 + 1e-9)


def test_which_rows_on_objective_perturbation_outgrow_the_lower_bound() -> None:
    """[181] on strongly convex risks, by its λ‖x*‖²/(nε); the other two cells are the lower bounds."""
    found = {name: convex_comparison.outgrows(*row) for name, row in convex_comparison.OBJECTIVE.items()}
    assert found == {"[66], strongly convex": False, "[181], strongly convex": True, "[181], convex": False}
    cell, lower = convex_comparison.OBJECTIVE["[66], strongly convex"]
    assert convex_comparison.outgrows(cell, lower / convex_comparison.log(convex_comparison.n))


@given(n=st.integers(10, 10**6), root=st.floats(1, 1e3), share=st.floats(0, 1), eps=st.floats(1e-2, 10))
@settings(max_examples=60, deadline=None)
def test_dp_svrg_costs_less_than_output_perturbation_up_to_kappa_sqrt_d(
    n: int, root: float, share: float, eps: float
) -> None:
    kappa = root**share  # between 1 and √d
    if n * eps < 2 * root:
        return
    svrg, output = (n + kappa) * math.log(n * eps / root), n * kappa * math.log(n * eps / kappa)
    bound = convex_comparison.less_corrected.evaluate(mu=1 / kappa, n=n)
    assert svrg / output <= bound * (1 + 1e-9)


@given(n=st.integers(1, 10**4), delta=st.floats(1e-9, 0.5))
@settings(max_examples=60, deadline=None)
def test_publishing_records_with_probability_delta(n: int, delta: float) -> None:
    assert -math.expm1(n * math.log1p(-delta)) <= negligible.evaluate(n=n, delta=delta) * (1 + 1e-9)
