"""The log density of a transcript: the method's own queries along the given answers, under the law of its noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.audits.scores.transcript import mixture_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import InOrder, Law
from dpcheck.bounds.privacy.release import Released
from dpcheck.kernels.blocks import block_size
from dpcheck.kernels.drawn import possible
from dpcheck.kernels.method import Array, Asked, Method
from dpcheck.kernels.noisy_answers import answer_width, part_of
from dpcheck.kernels.noisy_answers import log_density as answer_log_density

StepLaw = tuple[Law, list[tuple[float, Array | None]]]


def log_density(method: Method, released: Released, data: Any, seen: Array) -> Array:
    """Of transcripts on these data, up to a constant, (k,); which batches were drawn is not revealed.

    A row is the answers of all steps, after the public coins where there are some: their law is the same on all data.

    A trial that had stopped, by a rule that ignores the data, says nothing in the steps it did not take.
    """
    if method.peek is not None:
        limit = "a method that learns of the records only through noisy answers"
        raise InvalidInput("transcript", type(method).__name__, limit, "Audit its output.")
    seen = seen.reshape(len(seen), -1)
    first = seen.shape[1] - method.steps * answer_width(method, released)
    coins, answers = seen[:, :first] if first else None, seen[:, first:].reshape(len(seen), method.steps, -1)
    size = block_size(data)  # transcripts at once: what is asked of all records is to stay in cache
    asked, laws = method.asked_of(data, min(size, len(answers))), _laws(released, data, answers.shape[1])
    cuts = [slice(first, first + size) for first in range(0, max(1, len(answers)), size)]
    given = [None if coins is None else coins[cut] for cut in cuts]
    return np.concatenate([_block(method, laws, asked, answers[c], own) for c, own in zip(cuts, given, strict=True)])


def _laws(released: Released, data: Any, steps: int) -> list[StepLaw]:
    """The noise of each step, and the batches that it may have drawn; found once where they do not change."""
    laws: list[StepLaw] = []
    sampling: Any = InOrder()
    for t in range(steps):
        part = part_of(released, t)
        same = part.sampling == sampling and not isinstance(sampling, InOrder)
        laws.append((part.law, laws[-1][1] if same else list(possible(part.sampling, data, t))))
        sampling = part.sampling
    return laws


def _block(method: Method, laws: list[StepLaw], asked: Asked, answers: Array, coins: Array | None) -> Array:
    k = len(answers)
    state, total = method.start_with(k, coins), np.zeros(k)
    for t, (law, batches) in enumerate(laws):
        seen = answers[:, t]
        # Each batch is asked about by itself: a query may own the array that it answers in.
        logs = (
            (p, answer_log_density(law, seen, asked(state, t, None if batch is None else _repeated(batch, k))))
            for p, batch in batches
        )
        total += mixture_log_density(logs)
        state = method.update(state, seen.copy(), t)
    return total


def _repeated(batch: Array, k: int) -> Array:
    """The same records for every trial: (k,) for one, else (k, b)."""
    return np.full(k, batch[0]) if len(batch) == 1 else np.tile(batch, (k, 1))
