"""One training run of a digit classifier, audited by canaries: logistic regression and a small network, in numpy.

Run: python examples/audit_one_training.py (a few seconds)
A canary is a gradient of the largest norm that clipping lets through, added in every step if its coin says so. The
attacker of the theorem sees every noisy sum, knows all other records and takes away what they contributed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import load_digits

import dpcheck as dp

STEPS, CLIP, NOISE, RATE, HIDDEN, CLASSES = 25, 1.0, 6.0, 0.5, 24, 10
CLAIM = dp.GaussianDP(math.sqrt(STEPS) / NOISE, relation=dp.ADD_REMOVE)  # a record moves a sum by CLIP, STEPS times
ClippedSum = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def logistic(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sum of clipped gradients: a record's is the outer product of its pixels and its errors."""
    errors = softmax(X @ w.reshape(X.shape[1], CLASSES)) - np.eye(CLASSES)[y]
    norms = np.linalg.norm(X, axis=1) * np.linalg.norm(errors, axis=1)
    return np.asarray(X.T @ (errors / np.maximum(1.0, norms / CLIP)[:, None])).ravel()


def network(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same for one hidden layer: the norm is that of both layers' gradients together."""
    first, second = w[: X.shape[1] * HIDDEN].reshape(-1, HIDDEN), w[X.shape[1] * HIDDEN :].reshape(HIDDEN, CLASSES)
    hidden = np.tanh(X @ first)
    errors = softmax(hidden @ second) - np.eye(CLASSES)[y]
    back = (errors @ second.T) * (1 - hidden**2)
    squares = (X**2).sum(1) * (back**2).sum(1) + (hidden**2).sum(1) * (errors**2).sum(1)
    scale = (1 / np.maximum(1.0, np.sqrt(squares) / CLIP))[:, None]
    return np.concatenate([(X.T @ (scale * back)).ravel(), (hidden.T @ (scale * errors)).ravel()])


def train(
    canaries: np.ndarray, rng: np.random.Generator, *, clipped_sum: ClippedSum, start: np.ndarray, noise: float = NOISE
) -> np.ndarray:
    """Noisy descent on digits and canaries; returns what all noisy sums show beside the digits' own gradients."""
    X, y = digits()
    w, shown = start.copy(), np.zeros_like(start)
    for _ in range(STEPS):
        known = clipped_sum(w, X, y)
        noisy = known + canaries.sum(axis=0) + noise * CLIP * rng.standard_normal(len(w))
        shown += noisy - known
        w = w - RATE / len(X) * noisy
    return shown


def digits(records: int = 500) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:records] / 16, y[:records]


def main(canaries: int = 600, alpha: float = 1e-3, delta: float = 1e-5) -> list[dp.TrainingAudit]:
    """Each model as claimed, by all four bounds, then with half the noise."""
    results = []
    for clipped_sum, size in ((logistic, 64 * CLASSES), (network, (64 + CLASSES) * HIDDEN)):
        start = 0.1 * np.random.default_rng(0).standard_normal(size)
        right = partial(train, clipped_sum=clipped_sum, start=start)
        wrong = partial(right, noise=NOISE / 2)
        planted = dp.Canaries.orthogonal(canaries, size, norm=CLIP)
        for trained, assume in (
            (right, None),
            (right, "curve"),
            (right, "separate"),
            (right, "gaussian"),
            (wrong, "gaussian"),
        ):
            results.append(
                dp.audit_training(
                    trained,
                    np.zeros((0, size)),
                    canaries=planted,
                    score="dot product",
                    guarantee=CLAIM,
                    assume=assume,
                    alpha=alpha,
                    delta=delta,
                )
            )
    return results


if __name__ == "__main__":
    for result in main():
        print(result, end="\n\n")
