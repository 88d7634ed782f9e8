"""The divergences that judge the lemmas of DP-SRM are exact, and the lemma's limit leaves out what the text says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcheck.bounds.library.nonconvex.dp_srm_privacy import covered
from dpcheck.evidence.nonconvex import dp_srm_privacy as checked


def test_the_divergences_are_those_of_the_accountant() -> None:
    """Order 2 in closed form: u > 0 of (1+u)^2 + 1/(1+u) - 2 - u; and no sampling gives the Gaussian's alpha/(2 s)."""
    orders = np.array([1.5, 2.0, 8.0])
    np.testing.assert_allclose(checked.divergences(1.0, 3.0, orders), orders / 6, rtol=1e-6)
    rng = np.random.default_rng(0)
    u = 0.1 * np.expm1(rng.standard_normal(4_000_000) / 2 - 1 / 8)
    mean = np.where(u > 0, (1 + u) ** 2 + 1 / (1 + u) - 2 - u, 0.0)
    sampled = math.log1p(mean.mean())
    error = 5 * mean.std() / math.sqrt(len(mean))
    assert checked.divergences(0.1, 4.0, np.array([2.0]))[0] == pytest.approx(sampled, abs=error)


@pytest.mark.parametrize(("records", "batch"), [(32_561, 50), (49_990, 50)])
def test_the_lemma_covers_neither_a9a_nor_ijcnn1(records: int, batch: int) -> None:
    """The order that log(1/delta)/(alpha-1) < eps takes at delta = 1e-5, at the least batch and the larger epsilon."""
    order = 1 + math.log(1e5) / 0.5
    assert batch / records * order * (order - 1) > 2 * float(covered.formula)
