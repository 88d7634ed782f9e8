"""Formulas at the ends of what they accept, against 60-digit arithmetic on random points."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, GaussianDP, PureDP, RenyiDP, gaussian_delta
from dpcheck.bounds.privacy import exact
from dpcheck.bounds.privacy.laws import L2Laplace, Laplace, Selected, WishartDifference
from dpcheck.bounds.privacy.release import Release

POINTS = 300
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


def log_uniform(seed: int, *ends: tuple[float, float]) -> np.ndarray:
    """POINTS rows, one column for each pair of exponents of ten."""
    rng = np.random.default_rng(seed)
    return 10.0 ** np.column_stack([rng.uniform(low, high, POINTS) for low, high in ends])


def test_sampling_has_its_digits_everywhere() -> None:
    for eps, q in log_uniform(3, (-300, 8), (-300, 0)):
        true = eps + mp.log(q + (1 - mp.mpf(q)) * mp.exp(-mp.mpf(eps)))
        with mp.workdps(700):
            true = mp.log1p(mp.mpf(q) * mp.expm1(mp.mpf(eps))) if eps < 100 else true
        assert exact.amplified_epsilon(eps, q) == pytest.approx(float(true), rel=1e-12, abs=1e-320), (eps, q)


def test_laplace_profiles_have_their_digits_everywhere() -> None:
    for share, ratio in log_uniform(4, (-16, 0.1), (-300, 3)):
        eps = share * ratio
        gap = mp.mpf(eps) - mp.mpf(ratio)
        true = -mp.expm1(gap / 2) if gap < 0 else mp.mpf(0)
        # The distance of two doubles is exact to a unit of the larger.
        off = 4 * exact.UNIT * ratio + 1e-12 * float(true)
        assert abs(exact.laplace_delta(eps, ratio) - true) <= off, (eps, ratio)


def test_compositions_have_their_digits_everywhere() -> None:
    rng = np.random.default_rng(5)
    for eps, share in log_uniform(6, (-12, 1), (-6, -0.01))[:150]:
        steps = int(rng.integers(1, 200))
        at, e = share * steps * eps, mp.mpf(eps)
        with mp.workdps(200):
            lost = [k for k in range(steps + 1) if (steps - 2 * k) * e > at]
            true = mp.fsum(
                mp.binomial(steps, k) * (mp.exp((steps - k) * e) - mp.exp(at + k * e)) / (1 + mp.exp(e)) ** steps
                for k in lost
            )
        found = exact.optimal_composition(eps, 0.0, steps).profile(at)
        assert found == pytest.approx(float(true), rel=1e-9, abs=1e-300), (eps, steps, at)


@pytest.mark.parametrize("kind", [ZCDP, RenyiDP, GaussianDP])
def test_noise_for_other_notions_keeps_them_everywhere(kind: type) -> None:
    """A Gaussian's own parameters, in 60 digits: rho = mu²/2, alpha mu²/2 and mu."""
    for value, alpha in log_uniform(7, (-100, 6), (0.01, 3)):
        guarantee = RenyiDP(alpha, value) if kind is RenyiDP else kind(value)
        mu = 1 / mp.mpf(exact.least_noise(guarantee))
        reached = {ZCDP: mu**2 / 2, RenyiDP: mp.mpf(alpha) * mu**2 / 2, GaussianDP: mu}[kind]
        assert reached <= mp.mpf(value) * (1 + 4 * mp.mpf(exact.UNIT)), guarantee
        assert reached >= mp.mpf(value) * (1 - 8 * mp.mpf(exact.UNIT)), guarantee


def test_conversions_from_zcdp_are_never_below_the_gaussian() -> None:
    """A Gaussian of mu = sqrt(2 rho) is rho-zCDP: what is promised of the notion must hold of it."""
    for rho, delta in log_uniform(8, (-20, 2), (-100, -1))[:150]:
        eps = ZCDP(rho).epsilon(delta)
        assert true_delta(eps, float(np.sqrt(2 * rho))) <= delta * (1 + 1e-9), (rho, delta)


@pytest.mark.parametrize("law", [Laplace, L2Laplace, WishartDifference])
def test_noise_for_pure_privacy_keeps_it_everywhere(law: type) -> None:
    for moved, eps in log_uniform(9, (-100, 100), (-100, 8)):
        scale = Release(moved, law(1.0)).calibrated(PureDP(eps)).law.scale
        assert mp.mpf(moved) / mp.mpf(scale) == pytest.approx(mp.mpf(eps), rel=4 * exact.UNIT), (moved, eps)


@pytest.mark.parametrize("noise", ["gumbel", "laplace"])
def test_selections_keep_pure_privacy_everywhere(noise: str) -> None:
    for moved, eps in log_uniform(10, (-100, 100), (-12, 3))[:100]:
        released = Release(moved, Selected(1.0, noise), steps=7).calibrated(PureDP(eps))
        assert 7 * 2 * mp.mpf(moved) / mp.mpf(released.law.scale) <= mp.mpf(eps) * (1 + 1e-12), (moved, eps)
