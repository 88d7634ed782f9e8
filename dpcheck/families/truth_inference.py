"""Truth inference from answers of users of unknown ability: majority vote and Dawid and Skene's iteration, with and
without private answers (dwang20, section 7.1).

Reports are -1, 1, or 0 where there is none, (k, users, tasks): k matrices are worked on at once.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number, one_of, whole
from dpcheck.bounds.language.guarantees import LOCAL, LOCAL_ATTRIBUTE, PureDP
from dpcheck.bounds.library.latent import private_dawid_skene as theory
from dpcheck.families.one_report import OneReport
from dpcheck.kernels.blocks import Seed
from dpcheck.kernels.method import Array
from dpcheck.kernels.running import run
from dpcheck.solver import SEEDED, warn_of_seed

Way = Literal["dawid-skene", "majority"]
Missing = Literal["private", "public"]
LEAST_EPSILON = 1e-9  # below, a report says nothing
LEAST_FLOOR = 1e-10  # of an ability, so that none is certain and its logarithm a number
STEPS = 20
HELD = 1 << 16  # reports that are gone through again and again while a processor's cache holds them
NO_LABEL = -1
REMEDY = "Give one row a user and one column a task, NaN where there is no answer."


# The server's side ------------------------------------------------------------------------------------
def majority(reports: Array) -> Array:
    """The share of ones among each task's reports, 1/2 where there are none: (k, tasks)."""
    count = np.abs(reports).sum(axis=1)
    return np.asarray((1 + reports.sum(axis=1) / np.maximum(count, 1)) / 2)


def agreement(reports: Array, y: Array) -> Array:
    """(7.6): how often each user agrees with labels y, hard or soft; 1/2 of one without reports: (k, users)."""
    agreed = np.matmul(reports, (2 * y - 1)[:, :, None])[:, :, 0]
    return np.asarray((1 + agreed / np.maximum(np.abs(reports).sum(axis=2), 1)) / 2)


def posterior(reports: Array, p: Array) -> Array:
    """(7.7) and (7.8): the chance that a task's truth is 1 if the users' abilities are p, strictly between 0 and 1."""
    return np.asarray(special.expit(np.matmul(special.logit(p)[:, None, :], reports)[:, 0, :]))


def dawid_skene(reports: Array, start: Array, steps: int, floor: float) -> tuple[Array, Array]:
    """(p, y) after so many steps from the labels `start`, abilities being held in [floor, 1 - floor]: (7.10), (7.7)."""
    (k, n, m), y = reports.shape, np.array(start, float)
    p, held = np.full((k, n), 0.5), max(1, HELD // (n * m))
    for first in range(0, k, held):
        some = slice(first, first + held)
        for _ in range(steps):
            p[some] = np.clip(agreement(reports[some], y[some]), floor, 1 - floor)
            y[some] = posterior(reports[some], p[some])
    return p, y


def rescaled(p: Array, scale: float) -> Array:
    """Abilities from the abilities of private reports, of this scale (e^ε+1)/(e^ε-1): line 7 of Algorithm 7.1.54."""
    return np.asarray(0.5 + scale * (p - 0.5))


# Answers ------------------------------------------------------------------------------------------------
def must_be_answers(labels: Any) -> Array:
    """Answers as 0, 1 and NaN, (users, tasks); the refusal names no answer."""
    found = None
    with suppress(TypeError, ValueError, OverflowError):  # numpy's own message would quote what is no number
        framed = hasattr(labels, "to_numpy")
        found = labels.to_numpy(dtype=float, na_value=math.nan) if framed else np.asarray(labels, float)
    if found is None:
        raise InvalidInput("labels", type(labels).__name__, "a matrix of 0 and 1", REMEDY)
    if isinstance(labels, np.ma.MaskedArray):
        found = np.ma.filled(labels.astype(float), math.nan)
    if found.ndim != 2 or found.size == 0:
        raise InvalidInput("labels", f"shape {found.shape}", "one row a user and one column a task", REMEDY)
    if not np.all((found == 0) | (found == 1) | np.isnan(found)):
        raise InvalidInput("labels", "some", "0 or 1, or NaN for no answer", REMEDY)
    return found


def sides(answers: Array) -> Array:
    """-1 and 1 for answers 0 and 1, and 0 for none."""
    return np.where(np.isnan(answers), 0.0, 2 * answers - 1)


def private_answers(labels: Any, epsilon: float, *, missing: Missing = "private", random_state: Any = None) -> Array:
    """Every answer through randomised response: what users send, and all that anybody else sees of them.

    `labels` has one row a user (it may be one user's alone) and one column a task: 0, 1, or NaN for no answer. An
    answer keeps its value with probability e^ε/(e^ε+1). With missing="private" a fair coin is sent for an answer that
    there is none of, so that nobody learns who answered what: any one entry is ε-private among 0, 1 and none. With
    missing="public" it stays NaN: values are protected, and everybody sees who answered. Either is about one entry; a
    user's whole row has only epsilon times the number of tasks.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> private_answers([[0, 1, float("nan")]], 1.0, missing="public", random_state=1)
    array([[ 0.,  1., nan]])
    """
    answers = must_be_answers(labels)
    guarantee = attribute_privacy(epsilon)
    one_of("missing", missing, get_args(Missing), 'Leave it out for "private".')
    if random_state is not None:
        warn_of_seed("random_state")
    reports = (1 + drawn_reports(answers, guarantee, random_state, 1)[0]) / 2
    return np.where(np.isnan(answers), math.nan, reports) if missing == "public" else reports


def drawn_reports(answers: Array, guarantee: PureDP, seed: Seed, trials: int) -> Array:
    """Reports -1 and 1, (trials, users, tasks)."""
    n, m = answers.shape
    released = theory.released_bits.calibrated(guarantee)  # privacy: dwang20.theorem7.1.1
    asked = OneReport(sides, lambda reports: reports.reshape(len(reports), -1), n, m, n * m)
    return run(asked, released, answers, seed=seed, trials=trials).w.reshape(trials, n, m)


def attribute_privacy(epsilon: Any) -> PureDP:
    """ε for one entry."""
    limit, remedy = f"a finite number from {LEAST_EPSILON:g} on", "Use 1.0 for example: it is spent on each answer."
    return PureDP(
        number("epsilon", epsilon, limit, remedy, lambda eps: LEAST_EPSILON <= eps < math.inf), relation=LOCAL_ATTRIBUTE
    )


# For practice ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Truths:
    """What is inferred: a label of each task (-1 where nobody answered; a tie is 1), the chance that it is 1 if the
    model holds, and each user's ability, the chance that her answer is right.

    `guarantee` is about one entry of the matrix, `for_a_record` about a user's whole row; None without privacy.
    """

    labels: Array
    probabilities: Array
    abilities: Array
    guarantee: PureDP | None = None
    caveats: tuple[str, ...] = ()

    @property
    def for_a_record(self) -> PureDP | None:
        """The same promise for all that a user answered: tasks times epsilon."""
        if self.guarantee is None:
            return None
        found = self.guarantee.to_relation(LOCAL, attributes=len(self.labels))
        assert isinstance(found, PureDP)
        return found


def truth_inference(
    labels: Any, *, method: Way = "dawid-skene", reported_with: float | None = None, steps: int = STEPS
) -> Truths:
    """Labels and abilities from answers, without adding privacy: the majority's, or Dawid and Skene's from there on.

    `reported_with` is the epsilon of answers that are private reports already: then no user can look better than
    e^ε/(e^ε+1), which Dawid and Skene's iteration makes use of, and abilities are those behind the reports. Where
    missing answers were sent as coins, an ability is that of an entry, a missing one counting as right half the time.
    The iteration knows neither which tasks are hard nor which answers are likelier a priori, and may be worse than the
    majority where reports are few or very private.

    >>> truth_inference([[1, 0, 1], [1, 0, 0], [1, 0, 0], [0, 1, 1]]).labels
    array([1, 0, 0])
    """
    answers = must_be_answers(labels)
    one_of("method", method, get_args(Way), 'Leave it out for "dawid-skene".')
    steps = whole("steps", steps, "a whole number >= 1", "Leave it out for the default.")
    scale, floor = 1.0, LEAST_FLOOR
    if reported_with is not None:
        eps = attribute_privacy(reported_with).eps
        scale, floor = 1 / math.tanh(eps / 2), max(float(special.expit(-eps)), LEAST_FLOOR)
    reports = sides(answers)[None]
    y = majority(reports)
    p = agreement(reports, 1.0 * (y >= 0.5))
    if method == "dawid-skene":
        p, y = dawid_skene(reports, y, steps, min(floor, 0.5 - 2.0**-53))
    answered = ~np.isnan(answers).all(axis=0)
    found = np.where(answered, y[0] >= 0.5, NO_LABEL).astype(int)
    return Truths(found, y[0], np.clip(rescaled(p[0], scale), 0.0, 1.0))


def private_truth_inference(
    labels: Any,
    epsilon: float,
    *,
    method: Way = "dawid-skene",
    missing: Missing = "private",
    steps: int = STEPS,
    random_state: Any = None,
) -> Truths:
    """Labels and abilities from answers that every user randomises by herself: `private_answers`, `truth_inference`.

    Each entry of the matrix (users, tasks) is epsilon-private, a user's row only with the number of tasks times
    epsilon: `for_a_record` says so. What may be in `labels` and what `missing` hides is said at `private_answers`.
    Coins have the operating system's entropy; `random_state` is for tests and warns.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 500)
    >>> right = rng.random((60, 500)) < np.linspace(0.5, 0.95, 60)[:, None]
    >>> found = private_truth_inference(np.where(right, truth, 1 - truth), 2.0, random_state=0)
    >>> round(float(np.mean(found.labels != truth)), 2)
    0.0
    >>> print(found.for_a_record)
    PureDP(eps=1000; local)
    """
    reports = private_answers(labels, epsilon, missing=missing, random_state=random_state)
    found = truth_inference(reports, method=method, reported_with=epsilon, steps=steps)
    caveats = () if random_state is None else (SEEDED,)
    return Truths(found.labels, found.probabilities, found.abilities, attribute_privacy(epsilon), caveats)
