"""Sections 4.2 and 4.3, attacked on pairs of datasets that the audit searches: one coordinate.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it: too little noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.glm_losses import Biweight
from dpcheck.problems.constraints import L1Ball, L2Ball
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver
from dpcheck.solvers.nonconvex.dp_fw_l1_glm import DPFWL1GLM
from dpcheck.solvers.nonconvex.dp_fw_l2_glm import DPFWL2GLM
from dpcheck.solvers.nonconvex.dp_gd_so_constrained import DPGDSOConstrained
from dpcheck.solvers.nonconvex.dp_gd_sosp import DPGDSOSP
from dpcheck.solvers.nonconvex.dp_gld import DPGLD
from dpcheck.solvers.nonconvex.dp_select_sosp import DPSelectSOSP
from dpcheck.solvers.nonconvex.dp_str import DPSTR
from dpcheck.solvers.nonconvex.dp_tr import DPTR
from dpcheck.solvers.nonconvex.expmech_net_erm import NetERM
from dpcheck.testing.planting import with_noise_times

FREE: dict[str, Any] = {"loss": Sigmoid(), "l2": 0.1}
BALL: dict[str, Any] = {"loss": Sigmoid(), "constraint": L2Ball(1.0)}
APPROX, PURE = dp.ApproxDP(1.0, 1e-2), dp.PureDP(1.0)
SOLVERS: list[tuple[Solver, dict[str, Any], Any]] = [
    (DPGLD(steps=2, heat=1.0), FREE, APPROX),
    (NetERM(mesh=0.5), FREE, PURE),
    (DPFWL2GLM(steps=2, step_size=0.5), {"loss": Biweight(3.0), "constraint": L2Ball(1.0)}, APPROX),
    (DPFWL1GLM(steps=2, step_size=0.5), {"loss": Biweight(3.0), "constraint": L1Ball(1.0)}, APPROX),
    (DPGDSOSP(steps=2), FREE, APPROX),
    (DPSelectSOSP(steps=2), FREE, APPROX),
    (DPGDSOConstrained(steps=2), BALL, APPROX),
    (DPTR(steps=2, radius=0.5), FREE, APPROX),
    (DPSTR(steps=2, radius=0.5, batch=2, hessian_batch=2), FREE, APPROX),
]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "settings", "claimed"), SOLVERS, ids=lambda x: getattr(x, "name", ""))
def test_no_pair_that_is_searched_breaks_the_promise(solver: Solver, settings: dict[str, Any], claimed: Any) -> None:
    """Three records x in [-1, 1] with the label 1; the output as it is let out."""

    def on_numbers(mechanism: Any) -> Any:
        def seen(data: Any, rng: np.random.Generator, trials: int) -> Any:
            return mechanism(Problem(np.asarray(data)[:, None], np.ones(3), **settings), rng, trials)

        return seen

    asked = {"neighbours": dp.replace_one(-1.0, 1.0, n=3), "guarantee": claimed, "alpha": 1e-6, "seed": 1}
    assert not dp.audit(on_numbers(solver.mechanism(claimed)), **asked, max_trials=10_000).violated
    assert dp.audit(on_numbers(with_noise_times(0.05, solver, claimed)), **asked, max_trials=10_000).violated
