"""Noise that nobody can draw again: no seed is kept, copies draw anew, and a given seed is named in the result."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone

import dpcheck as dp
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators import PrivateHuber, PrivateLogisticRegression, PrivateRidge, SeededNoiseWarning
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.solver import INEXACT, SEEDED, TRACED, Solver
from dpcheck.solvers.finding import solvers

X, Y = np.eye(4), np.array([0, 1, 0, 1])
MODELS = [PrivateLogisticRegression(classes=(0, 1)), PrivateRidge(), PrivateHuber(delta=0.0)]
PROBLEM, CLAIMED, SOLVER = opposite_pair(5)[0], dp.ApproxDP(1.0, 1e-2), dp.solvers.DPGD(steps=3, step_size=0.5)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_fits_clones_and_copies_draw_anew(model: Any) -> None:
    found = [model.fit(X, Y).coef_.copy() for _ in range(2)]
    found += [
        other.fit(X, Y).coef_ for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)))
    ]
    assert len({one.tobytes() for one in found}) == len(found)
    assert model.caveats_ == ()


@pytest.mark.parametrize(
    "state", [np.random.RandomState(0), np.random.default_rng(0), np.random.SeedSequence(0), -1, True, 0.5, "0"]
)
def test_estimators_take_no_generator(state: Any) -> None:
    """It would be pickled with the model, and rewound it gives the noise back."""
    with pytest.raises(InvalidInput, match="random_state"):
        PrivateRidge(random_state=state).fit(X, Y)


def test_a_seed_warns_once_where_the_user_called_and_is_named() -> None:
    with pytest.warns(SeededNoiseWarning, match="random_state") as caught:
        model = PrivateLogisticRegression(classes=("a", "b", "c"), multi_class="one_vs_rest", random_state=7).fit(
            np.eye(3), ["a", "b", "c"]
        )
    assert [w.filename for w in caught] == [__file__]
    assert model.caveats_ == (SEEDED,)


@pytest.mark.filterwarnings("ignore::dpcheck.solver.SeededNoiseWarning")
def test_a_fitted_model_does_not_keep_its_seed() -> None:
    model = PrivateLogisticRegression(classes=(0, 1), random_state=1234567).fit(X, Y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.random_state is None
        assert np.array_equal(other.coef_, model.coef_)
    assert pickle.loads(pickle.dumps(clone(model))).random_state == 1234567  # not fitted: there is nothing to hide yet

    def held(value: Any) -> list[Any]:
        if isinstance(value, dict | list | tuple | set):
            return [x for part in (value.values() if isinstance(value, dict) else value) for x in held(part)]
        return [value, *(held(vars(value)) if hasattr(value, "__dict__") else [])]

    kinds = (np.random.Generator, np.random.RandomState, np.random.SeedSequence, np.random.BitGenerator)
    assert not [x for x in held(model.__getstate__()) if isinstance(x, kinds) or (type(x) is int and x == 1234567)]


def test_solvers_say_that_they_were_seeded() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fresh = SOLVER.solve(PROBLEM, CLAIMED)
        study = SOLVER.solve(PROBLEM, CLAIMED, 0, trials=2)
        SOLVER.mechanism(CLAIMED)(PROBLEM, np.random.default_rng(0), 1)
        MODELS[0].mechanism()((X, Y), np.random.default_rng(0), 1)
    assert fresh.caveats == ()
    assert study.caveats == (SEEDED,)
    for rng in (0, np.random.default_rng(0), np.random.SeedSequence(0)):
        with pytest.warns(SeededNoiseWarning, match="rng"):
            assert SOLVER.solve(PROBLEM, CLAIMED, rng).caveats == (SEEDED,)
    assert not np.array_equal(fresh.w, SOLVER.solve(PROBLEM, CLAIMED).w)


def test_a_trace_has_no_guarantee() -> None:
    found = SOLVER.solve(PROBLEM, CLAIMED, trace=True)
    assert found.guarantee is None
    assert found.caveats == (TRACED,)
    assert SOLVER.solve(PROBLEM, CLAIMED).guarantee == CLAIMED


@dataclass(frozen=True)
class InDoubles(dp.solvers.LaplaceMechanism):
    """The Laplace mechanism as textbooks have it."""

    def method(self, data: Any, plan: Any, released: Any) -> OneAnswer:
        return replace(super().method(data, plan, released), lattice=0.0)


def takes_pure_privacy(solver: Solver) -> bool:
    try:
        return bool(solver.calibrated(solver.worst_pair()[0], dp.PureDP(1.0)))
    except InvalidInput:
        return False


PURE = {name: kind.example().solver for name, kind in solvers().items() if takes_pure_privacy(kind.example().solver)}


@pytest.mark.parametrize("name", sorted({*PURE, "laplace", "exponential", "outpert_gd", "dp_fw_l1"}))
def test_whatever_promises_delta_0_draws_exactly(name: str) -> None:
    solver = PURE[name]
    data = solver.worst_pair()[0]
    done = solver.calibrated(data, dp.PureDP(1.0))
    assert solver.method(data, done.plan, done.released).lattice > 0
    assert solver.solve(data, dp.PureDP(1.0)).caveats == ()


def test_noise_in_doubles_is_no_pure_privacy() -> None:
    """Refused where it is certified; as published it is to be attacked, and says so."""
    solver = InDoubles()
    data = solver.worst_pair()[0]
    with pytest.raises(InvalidInput, match=r"delta > 0.*lattice"):
        solver.solve(data, dp.PureDP(1.0))
    assert solver.solve(data, dp.PureDP(1.0), calibration="stated").caveats == (INEXACT,)
