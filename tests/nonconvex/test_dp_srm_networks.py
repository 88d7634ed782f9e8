"""The small network of lwang21, Figure 4.2: its gradients, its clipping, and a measurement that sees the noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex.dp_srm_networks import networks_speed
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios
from dpcheck.evidence.nonconvex import dp_srm_networks as networks
from dpcheck.evidence.nonconvex.dp_srm_networks import CLASSES, HIDDEN, Layers, forward, signals

FEATURES = 5


def example(seed: int) -> tuple[Layers, Layers, np.ndarray, np.ndarray]:
    """Two networks, and four records for one run."""
    rng = np.random.default_rng(seed)
    shapes = ((1, FEATURES, HIDDEN), (1, HIDDEN + 1, CLASSES))
    one, other = (tuple(0.3 * rng.standard_normal(s) for s in shapes) for _ in range(2))
    return one, other, rng.standard_normal((1, 4, FEATURES)), rng.integers(CLASSES, size=(1, 4))  # type: ignore[return-value]


def each(layers: Layers, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradients of the records, one by one, flat."""
    alone = [signals(layers, x[:, [i]], y[:, [i]]).sums(np.ones((1, 1))) for i in range(x.shape[1])]
    return np.stack([np.concatenate([part.ravel() for part in parts]) for parts in alone])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_norms_are_those_of_the_gradients(seed: int) -> None:
    one, other, x, y = example(seed)
    now, before = signals(one, x, y), signals(other, x, y)
    np.testing.assert_allclose(now.norms()[0], np.linalg.norm(each(one, x, y), axis=1))
    apart = np.linalg.norm(each(one, x, y) - each(other, x, y), axis=1)
    np.testing.assert_allclose(now.change(before)[0], apart)
    clipped = np.stack([w * g for w, g in zip(networks.limited(now.norms(), 0.5)[0], each(one, x, y), strict=True)])
    assert np.linalg.norm(clipped, axis=1).max() <= 0.5 * (1 + 1e-12)


def test_the_gradient_is_the_derivative_of_the_loss() -> None:
    one, other, x, y = example(1)

    def loss(shift: float) -> float:
        moved = tuple(w + shift * (v - w) for w, v in zip(one, other, strict=True))
        scores = forward(moved, x)[1][0]  # type: ignore[arg-type]
        return float(np.sum(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(4), y[0]]))

    direction = np.concatenate([(v - w).ravel() for w, v in zip(one, other, strict=True)])
    assert (loss(1e-5) - loss(-1e-5)) / 2e-5 == pytest.approx(float(each(one, x, y).sum(axis=0) @ direction), rel=1e-6)


def test_the_measurement_sees_steps_and_noise() -> None:
    """Fewer steps or ten times the noise must cost accuracy, far beyond what runs differ by."""
    noise = networks.noises(45, 0.5)
    error = networks.trained(45, 4.0, 0.5, noise, 0, 2)
    assert error < 0.1
    assert networks.trained(5, 4.0, 0.5, noise, 0, 2) > 2 * error
    assert networks.trained(45, 4.0, 0.5, (10 * noise[0], 10 * noise[1]), 0, 2) > 2 * error


def test_either_verdict_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    check = networks.CHECKS[networks_speed.id][0]
    assert isinstance(check, Ratios)
    monkeypatch.setattr(networks, "plain", lambda seed, trials: 0.10)
    for error, verdict in ((0.10, Verdict.SUPPORTED), (0.12, Verdict.REFUTED)):
        monkeypatch.setattr(networks, "recursive", lambda steps, seed, trials, found=error: found)
        assert check.run(networks_speed, Effort()).verdict is verdict
