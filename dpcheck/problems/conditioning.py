"""How hard a problem is, from public constants: the condition number, and by how much the start's risk must shrink."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.problems.problem import Problem


def condition(problem: Problem) -> tuple[float, float]:
    """L of the losses without the regulariser, and L over mu, that of the regulariser."""
    L = replace(problem, l2=0.0).smoothness
    if not 0 < L < math.inf:
        raise InvalidInput(
            "smoothness of the losses", L, "a finite number > 0", "Choose a smooth loss that is not linear."
        )
    return L, L / problem.l2 if problem.l2 > 0 else math.inf


def loss_smoothness(problem: Problem) -> float:
    """L of the losses without the regulariser; a linear loss counts as 1-smooth, which sets its step size only."""
    return replace(problem, l2=0.0).smoothness or 1.0


def public_gap(problem: Problem) -> float:
    """The largest loss that a record can have at 0, for losses that are never negative."""
    label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
    return max(1e-300, float(problem.loss.value(np.zeros(1), np.full(1, label))[0]))


def shrinking(problem: Problem, guarantee: ApproxDP) -> float:
    """log(n^2 eps^2 / (2 d log(1/delta))): by how much the start's risk must shrink to meet the noise; at least 0.

    It is n^2 eps^2 mu g_0 / (d G^2 log(1/delta)) of dwang20, Theorem 3.1.2, with g_0 <= G^2/(2 mu), which is public.
    """
    room = (problem.n * guarantee.eps) ** 2 / (2 * problem.d * math.log(1 / guarantee.delta))
    return max(0.0, math.log(room))


def must_be_strong(problem: Problem, *, given: bool) -> None:
    """Refuse to choose the lengths of a run without a strongly convex regulariser."""
    if problem.l2 == 0 and not given:
        raise InvalidInput("l2", 0.0, "> 0 to choose epochs and inner", "Pass epochs, inner and step_size yourself.")
