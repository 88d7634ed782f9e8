"""A delta that would pay for letting out a whole record is refused in every solver that draws batches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver
from dpcheck.solvers.finding import solvers

N = 1000
RECORDS = Problem(np.ones((N, 1)), np.ones(N), Logistic())


def sampled(solver: Solver) -> bool:
    """Whether the release of its example draws batches."""
    data, guarantee = solver.worst_pair()[0], ApproxDP(1.0, 1e-4)
    try:
        parts = solver.release(data, solver.plan(data, guarantee)).parts
    except InvalidInput:
        return False
    return any(part.sampling is not None and hasattr(part.sampling, "of") for part in parts)


SAMPLED = {name: kind.example().solver for name, kind in solvers().items() if sampled(kind.example().solver)}


def test_the_sampled_solvers_are_found() -> None:
    assert {"dp_sgd", "bassily_sgd", "dp_lssgd", "dp_srm", "dp_svrg"} <= set(SAMPLED)


@pytest.mark.parametrize("name", sorted(SAMPLED))
def test_a_delta_above_one_over_n_is_refused_unless_insisted_on(name: str) -> None:
    solver = SAMPLED[name]
    data = solver.worst_pair()[0]
    large = ApproxDP(1.0, 1.01 / data.n)
    with pytest.raises(InvalidInput, match=r"delta is .*1/n"):
        solver.calibrated(data, large)
    assert replace(solver, large_delta=True).calibrated(data, large).noise_std >= 0
    assert solver.calibrated(data, ApproxDP(1.0, 0.1 / data.n)).noise_std > 0


def test_a_record_that_is_hardly_drawn_is_still_hidden() -> None:
    """The chance of being drawn is 1e-3: with delta above it no noise is needed, and the output is a person's row."""
    solver = dp.solvers.DPSGD(batch=1, steps=1)
    for delta in (1e-2, 1e-3):
        with pytest.raises(InvalidInput, match="delta is"):
            solver.solve(RECORDS, ApproxDP(1.0, delta))
    assert replace(solver, large_delta=True).solve(RECORDS, ApproxDP(1.0, 1e-2)).noise_std < 1e-6
    assert solver.solve(RECORDS, ApproxDP(1.0, 1e-4)).noise_std > 0.1
    with pytest.raises(InvalidInput, match="ever drawn"):
        solver.solve(RECORDS, ApproxDP(1.0, 1e-3))


def test_full_batches_are_not_asked() -> None:
    """Nobody is drawn by chance: the noise is that of a full gradient."""
    pair = dp.solvers.DPGD(steps=3, step_size=0.5).worst_pair()
    assert dp.solvers.DPGD(steps=3, step_size=0.5).calibrated(pair[0], ApproxDP(1.0, 0.3)).noise_std > 0
