"""Promises of every solver about its error: it stays below what the theory certifies. Each fails with what it saw."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import stats

from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels.blocks import child, seed_of
from dpcheck.problems.constraints import L2Ball, WholeSpace
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.testing.movement import must
from dpcheck.testing.subjects import Subject, Untried
from dpcheck.theory.measurement import Line, MeasuredAt, SolverRun, bounds_along, run_at

RUNS = 300


def error_is_within_its_certified_bound(subject: Subject) -> None:
    """The mean error with certified noise is at most a bound with explicit constants whose claim holds."""
    tried = 0
    for at in settings(subject):
        try:
            run = run_at(at, "certified", RUNS, child(seed_of(subject.seed), 0), None)
            lines, _ = bounds_along(at.solver, [run])
        except DpcheckError:
            continue  # a problem that this solver does not take, or without a minimiser
        certified = [line for line in lines if line.role == "certified" and line.explicit]
        tried += len(certified)
        for line in certified:
            must_stay_below(run, line, subject.alpha)
    if not tried:
        raise Untried("no certified bound with explicit constants applies")


def outputs_stay_in_the_set(subject: Subject) -> None:
    """What is let out lies in the constraint set, whatever the noise."""
    tried = 0
    for at in settings(subject):
        if isinstance(at.problem.constraint, WholeSpace):
            continue
        try:
            w = at.solver.solution(at.problem, at.guarantee, subject.seed, trials=RUNS).w
        except DpcheckError:
            continue  # a problem that this solver does not take
        tried += 1
        outside = int(np.sum(~at.problem.constraint.contains(w)))
        must(outside == 0, f"{outside} of {RUNS} outputs lie outside the set")
    if not tried:
        raise Untried("it takes no problem on a bounded set")


def settings(subject: Subject) -> Iterator[MeasuredAt]:
    """The subject's own data, then logistic losses with a regulariser and in a ball, by the solver's own choices."""
    if not isinstance(subject.data, Problem) or not subject.solver.minimises:
        return
    yield MeasuredAt(subject.solver, subject.data, subject.guarantee)
    try:
        default = type(subject.solver)()
    except (TypeError, DpcheckError):
        return  # one that must be told more
    data = logistic_synthetic(100, 3, seed=0)
    for problem in (data.problem(Logistic(), l2=0.1), data.problem(Logistic(), constraint=L2Ball(1.0))):
        yield MeasuredAt(default, problem, subject.guarantee)


def must_stay_below(run: SolverRun, line: Line, alpha: float) -> None:
    """Fail where the expected error is surely above the bound."""
    mean, spread = float(run.errors.mean()), float(run.errors.std(ddof=1)) / math.sqrt(len(run.errors))
    least = mean + float(stats.t.ppf(alpha, len(run.errors) - 1)) * spread
    bound = float(line.values[0])
    must(least <= bound, f"{run.measure} is {mean:.4g} on average, {line.claim} allows {bound:.4g}")
