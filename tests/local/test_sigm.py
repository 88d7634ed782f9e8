"""One step of Algorithm 5.1.38 with p = 1 on (w-1)²/4: the gap by which dwang20.lemma5.1.5 is refuted."""

import numpy as np
import pytest


def gap_after_one_step(sigma):
    def gradient(w):
        return (w - 1) / 2

    a, b, R = 1.0, 2**0.75, 1.0
    alpha, steepness = 1 / a, 1 + b * sigma / R * np.sqrt(2)  # β = 1, i = 0
    y0 = z0 = np.clip(-alpha * gradient(0.0) / steepness, -R, R)
    ahead = np.clip(z0 - alpha / steepness * gradient(z0), -R, R)  # η = 1: x₁ = z₀
    y1 = (y0 + ahead) / 2  # B₁/A₁ = 1/2
    return (y1 - 1) ** 2 / 4


def test_an_exact_oracle_leaves_a_gap():
    assert gap_after_one_step(0.0) == pytest.approx(9 / 256)
    assert gap_after_one_step(1e-6) > 1 / 64
