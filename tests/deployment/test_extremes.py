"""Formulas at the ends of what they accept, against 60-digit arithmetic on random points."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import gaussian_delta
from dpcheck.bounds.privacy import exact

POINTS = 400
mp = mpmath.mp.clone()
mp.dps = 60


def true_delta(eps: float, mu: float) -> mpmath.mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), through Mills' ratio where e^eps is no number."""
    with mp.workdps(60 + int(2 * abs(np.log10(mu)))):  # both terms agree in as many digits
        e, m = mp.mpf(eps), mp.mpf(mu)
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


def points(seed: int) -> np.ndarray:
    """(eps, delta), half over all that is accepted and half near what is used."""
    rng = np.random.default_rng(seed)
    wide = np.column_stack([rng.uniform(-100, 8, POINTS // 2), rng.uniform(-300, -1e-3, POINTS // 2)])
    near = np.column_stack([rng.uniform(-15, 2, POINTS // 2), rng.uniform(-40, -1, POINTS // 2)])
    return 10.0 ** np.vstack([wide, near])


def test_gaussian_noise_keeps_delta_everywhere() -> None:
    """Never above the stated delta, and below it by rounding alone."""
    for eps, delta in [(1e-12, 1e-30), (1e-9, 1e-30), (1e-100, 1e-300), (1e8, 1e-300), *points(0)]:
        mu = exact.gaussian_mu(eps, delta)
        assert true_delta(eps, mu) <= delta, (eps, delta)
        # Of a double eps/mu the distance to mu/2 is known to UNIT eps/mu, and delta falls 40 times as fast at most.
        spare = 1e-8 + 200 * exact.UNIT * eps / mu
        assert true_delta(eps, mu * (1 + 1e-12)) * (1 + spare) >= delta, (eps, delta)


def test_profiles_have_their_digits_everywhere() -> None:
    for eps, delta in points(1):
        mu = exact.gaussian_mu(eps, delta)
        off = abs(float(gaussian_delta(eps, mu)) / true_delta(eps, mu) - 1)
        assert off <= exact.SLACK / 2 + 100 * exact.UNIT * eps / mu, (eps, delta)


def test_gaussian_epsilon_is_never_too_small() -> None:
    rng = np.random.default_rng(2)
    for mu, delta in 10.0 ** np.column_stack([rng.uniform(-100, 3, POINTS), rng.uniform(-300, -1e-3, POINTS)]):
        eps = exact.gaussian_epsilon(delta, mu)
        assert true_delta(eps, mu) <= delta, (mu, delta)


@pytest.mark.parametrize(("eps", "delta"), [(1e-101, 1e-5), (1e9, 1e-5), (1.0, 1e-301)])
def test_what_doubles_do_not_tell_is_refused(eps: float, delta: float) -> None:
    with pytest.raises(InvalidInput, match="certified"):
        exact.gaussian_mu(eps, delta)


def test_composition_counts_the_smallest_deltas() -> None:
    """1 - (1 - x) is 0 for x below 1e-16: there the composition once cost nothing."""
    found = exact.optimal_composition(0.1, 0.0, 100)
    at = 9.0
    lost = [k for k in range(101) if (100 - 2 * k) * mp.mpf("0.1") > at]
    e = mp.mpf(0.1)
    truth = mp.fsum(
        mp.binomial(100, k) * (mp.exp((100 - k) * e) - mp.exp(at + k * e)) / (1 + mp.exp(e)) ** 100 for k in lost
    )
    assert 0 < truth < 1e-17
    assert found.profile(at) == pytest.approx(float(truth), rel=1e-9, abs=0)
