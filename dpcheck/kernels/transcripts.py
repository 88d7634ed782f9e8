"""The log density of a transcript: the method's own queries along the given answers, under the law of its noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.audits.scores.transcript import mixture_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.release import Released
from dpcheck.kernels.drawn import possible
from dpcheck.kernels.method import Array, Method
from dpcheck.kernels.noisy_answers import log_density as answer_log_density
from dpcheck.kernels.noisy_answers import part_of


def log_density(method: Method, released: Released, data: Any, answers: Array) -> Array:
    """Of answers (k, steps, width) on these data, up to a constant, (k,); which batches were drawn is not revealed.

    A trial that had stopped, by a rule that ignores the data, says nothing in the steps it did not take.
    """
    if method.peek is not None:
        limit = "a method that learns of the records only through noisy answers"
        raise InvalidInput("transcript", type(method).__name__, limit, "Audit its output.")
    k = len(answers)
    state, asked, total = method.start(k), method.asked_of(data, k), np.zeros(k)
    for t in range(answers.shape[1]):
        part, seen = part_of(released, t), answers[:, t]
        batches = list(possible(part.sampling, data, t))
        # Each batch is asked about by itself: a query may own the array that it answers in.
        logs = (
            (p, answer_log_density(part.law, seen, asked(state, t, None if batch is None else _repeated(batch, k))))
            for p, batch in batches
        )
        total += mixture_log_density(logs)
        state = method.update(state, seen.copy(), t)
    return total


def _repeated(batch: Array, k: int) -> Array:
    """The same records for every trial: (k,) for one, else (k, b)."""
    return np.full(k, batch[0]) if len(batch) == 1 else np.tile(batch, (k, 1))
