"""The intermediate gradient method: the gap by which dwang20.lemma5.1.5 is refuted, and the bound that holds."""

import numpy as np
import pytest

from dpcheck.bounds.library.local import sigm as theory
from dpcheck.families.intermediate_gradient import IntermediateGradient


def quarter(w, t):
    """The slope of (w-1)²/4."""
    return (w - 1) / 2


@pytest.mark.parametrize("sigma", [0.0, 1e-6])
def test_an_exact_oracle_leaves_a_gap_after_one_step(sigma):
    y = IntermediateGradient(1.0, sigma).run(quarter, 1, 1, 1)
    assert (y - 1) ** 2 / 4 == pytest.approx(9 / 256, rel=1e-4)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_more_power_is_faster_without_noise(power):
    curves = np.array([1.0, 0.1, 0.01, 0.001])

    def gap(steps):
        y = IntermediateGradient(1.0, 0.0, power=power).run(lambda w, t: curves * (w - 0.5), steps, 1, 4)
        return float((curves * (y - 0.5) ** 2).sum() / 2)

    assert gap(100) < gap(10)
    assert gap(100) <= 2 / 100**power


def test_noise_keeps_the_corrected_bound():
    sigma, steps = 2.0, 200

    def gap(told):
        rng = np.random.default_rng(0)
        noisy = IntermediateGradient(1.0, told)
        w = noisy.run(lambda w, t: w - 0.5 + sigma * rng.standard_normal(w.shape), steps, 4000, 1)
        return ((w - 0.5) ** 2 / 2).mean()

    assert gap(sigma) < 2 * theory.lemma5_corrected.evaluate(beta=1.0, R=1.0, T=steps, sigma_g=sigma, oracle_gap=1e-9)
    assert gap(0.0) > 2 * gap(sigma)  # planted: steps that know nothing of the noise
