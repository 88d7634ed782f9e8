"""Batches of DP-SGD that are not drawn as the accountant was told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from corpus.accountants import tight
from corpus.case import Case, Run
from corpus.training import DELTA, canaries
from dpcheck.audits import add_remove
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP
from dpcheck.theory.account import NoisyRelease, account

N, BATCH = 10, 2
RATE = BATCH / N
TOLD = NoisyRelease(noise=1.0, rate=RATE, steps=N // BATCH)
CLAIM = ApproxDP(tight(TOLD, DELTA), DELTA, relation=ADD_REMOVE)
Batches = Callable[[int, np.random.Generator], Iterator[np.ndarray]]


def by_coins(n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(TOLD.steps):
        yield np.flatnonzero(rng.random(n) < RATE)


def of_one_size(n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(TOLD.steps):
        yield rng.choice(n, min(n, BATCH), replace=False)


def shuffled(n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    order = rng.permutation(n)
    for i in range(TOLD.steps):
        yield order[BATCH * i : BATCH * (i + 1)]


def training(batches: Batches) -> Run:
    """Noisy sums of clipped gradients, one for each batch."""

    def steps(data: Any, rng: np.random.Generator) -> Any:
        rows = data / np.maximum(1, np.linalg.norm(data, axis=1, keepdims=True))
        width = data.shape[1]
        return np.array([rows[chosen].sum(axis=0) + rng.normal(0, 1, width) for chosen in batches(len(data), rng)])

    return steps


DOWN = np.full((N - 1, 1), -1.0)
PAIR = (np.vstack([DOWN, [[1.0]]]), DOWN)
LOOP = (PAIR[0], np.vstack([DOWN, [[-1.0]]]))
NEAR = add_remove(low=-1, high=1, n=N, d=1)
# Among records that all point the other way, taking part instead of one of them moves a sum by two.
OF_ONE_SIZE = NoisyRelease(noise=0.5, rate=RATE, steps=TOLD.steps)
CASES = (
    Case(
        "batches of one size",
        "meta-pytorch/opacus#80",
        "Batches have a fixed size, and are accounted for as if each record came by a coin of its own.",
        training(of_one_size),
        training(by_coins),
        CLAIM,
        PAIR,
        NEAR,
        account(OF_ONE_SIZE, delta=DELTA, relation=ADD_REMOVE).spent[0].low,
        leaks="sampler",
        told=TOLD,
        loop=LOOP,
        trained=canaries(100),
    ),
    Case(
        "shuffled batches",
        "arXiv 2411.10614",
        "Records are shuffled and cut into batches, and accounted for as if each came by a coin of its own.",
        training(shuffled),
        training(by_coins),
        CLAIM,
        PAIR,
        NEAR,
        None,
        leaks="sampler",
        told=TOLD,
        loop=LOOP,
        trained=canaries(100),
    ),
)
