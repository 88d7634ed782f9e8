"""The attacks of a security review, on every registered solver and estimator: a new one is attacked without new code.

Audits have false-alarm rates of 1e-6 and fixed seeds.
"""

from __future__ import annotations

import copy
import math
import pickle
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import dpcheck as dp
from dpcheck import estimators
from dpcheck.audits.scores.bits import Attainable
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.privacy.laws import Gaussian, Laplace
from dpcheck.estimators.base import PrivateLinear
from dpcheck.families.bernstein import GridLosses
from dpcheck.families.em_models import SignedMixture
from dpcheck.families.pairwise import PairProblem
from dpcheck.kernels.noisy_answers import NoisyAnswers
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.problem import Problem
from dpcheck.solver import GRID_BITS, SEEDED, TRACED, Solver
from dpcheck.solvers.finding import solvers

FALSE_ALARM = 1e-6
SOLVERS = sorted(solvers())
ESTIMATORS = sorted(
    name for name, kind in vars(estimators).items() if isinstance(kind, type) and issubclass(kind, PrivateLinear)
)


def subject(name: str) -> tuple[Solver, Any, Any]:
    """A solver of small settings, a worst pair's data and a guarantee that it accepts."""
    example = solvers()[name].example()
    solver, data = example.solver, example.data if example.data is not None else example.solver.worst_pair()[0]
    relation = solver.relations[0]
    for guarantee in (example.guarantee, ApproxDP(1.0, 1e-3, relation=relation), PureDP(1.0, relation=relation)):
        if guarantee is None:
            continue
        try:
            solver.calibrated(data, guarantee)
        except InvalidInput:
            continue
        return solver, data, guarantee
    raise AssertionError(f"{name} accepts no guarantee")


def estimator(name: str, **settings: Any) -> Any:
    kind = getattr(estimators, name)
    return kind(**({"classes": (0, 1)} if "classes" in kind().get_params() else {}), **settings)


# Solvers ---------------------------------------------------------------------------------------------
def test_everything_is_found() -> None:
    assert len(SOLVERS) >= 20
    assert len(ESTIMATORS) >= 5


@pytest.mark.parametrize("name", SOLVERS)
def test_noise_is_never_drawn_twice(name: str) -> None:
    """Selections may repeat by chance, but not forty of them."""
    solver, data, guarantee = subject(name)
    first, second = (np.vstack([solver.solve(data, guarantee).w for _ in range(40)]) for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.filterwarnings("ignore::dpcheck.solver.SeededNoiseWarning")
def test_seeds_and_traces_are_named(name: str) -> None:
    solver, data, guarantee = subject(name)
    assert SEEDED in solver.solve(data, guarantee, 0).caveats
    traced = solver.solve(data, guarantee, trace=True)
    assert traced.guarantee is None
    assert TRACED in traced.caveats


def zero_pair(data: Problem) -> tuple[Problem, Problem]:
    """Rows of zeros, and one of them as long as it may be: an answer of 0 leaves noise its bits, another does not."""
    sign = data.loss.labels == "sign"
    zero = data.with_data(np.zeros(data.X.shape), np.full(data.n, 1.0 if sign else 0.0))
    return zero, zero.replace(0, data.row_bound * np.eye(zero.X.shape[1])[0], 1.0 if sign else zero.label_bound)


def pairs_of(solver: Solver) -> list[tuple[Any, Any]]:
    """The worst pair, and that on which bits show the most, where records have rows."""
    worst = solver.worst_pair()
    return [worst, *([zero_pair(worst[0])] if isinstance(worst[0], Problem) else [])]


def flagged(mechanism: Any, pair: Any, guarantee: Any, attack: Any, trials: int = 4000) -> bool:
    return bool(
        dp.audit(
            mechanism,
            pair=pair,
            guarantee=guarantee,
            attack=attack,
            max_trials=trials,
            alpha=FALSE_ALARM,
            seed=0,
            executor=1,
        ).violated
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_bits_tell_nothing(name: str) -> None:
    solver, _, guarantee = subject(name)
    for pair in pairs_of(solver):
        assert not flagged(solver.mechanism(guarantee), pair, guarantee, "bits")


def one_answers() -> list[tuple[Solver, Any]]:
    """Solvers that add noise to one answer, under each guarantee that they take: their samplers can be inverted."""
    found: list[tuple[Solver, Any]] = []
    for name in SOLVERS:
        solver, data, _ = subject(name)
        for guarantee in (PureDP(1.0), ApproxDP(1.0, 1e-3)):
            try:
                done = solver.calibrated(data, guarantee)
            except InvalidInput:
                continue
            method = solver.method(data, done.plan, done.released)
            if isinstance(method, OneAnswer) and method.candidates is None:
                found.append((solver, guarantee))
    return found


def law_of(solver: Solver, guarantee: Any) -> Any:
    return solver.calibrated(solver.worst_pair()[0], guarantee).released.parts[0].law


def as_asked(monkeypatch: pytest.MonkeyPatch, kind: type[Solver]) -> None:
    """Lets out the noisy answer itself, of which some make their output: what is made of it hides its bits by luck."""
    method_of = kind.method

    def bare(solver: Solver, *args: Any) -> Any:
        method = method_of(solver, *args)
        return replace(method, made=lambda answer: answer) if hasattr(method, "made") else method

    monkeypatch.setattr(kind, "method", bare)


ONE_ANSWERS = one_answers()
TO_INVERT = [
    (solver, guarantee)
    for solver, guarantee in ONE_ANSWERS
    if isinstance(law_of(solver, guarantee), Gaussian | Laplace)
]
OTHERS = [pair for pair in ONE_ANSWERS if pair not in TO_INVERT]


def attainable(solver: Solver, pair: tuple[Any, Any], guarantee: Any) -> Attainable:
    """Mironov's attack, with all that it needs to know: the exact answers, the scale and the law."""
    answers = []
    for data in pair:
        done = solver.calibrated(data, guarantee)
        method = solver.method(data, done.plan, done.released)
        assert isinstance(method, OneAnswer)
        answers.append(float(method.ask(data)[0]))
    law = law_of(solver, guarantee)
    return Attainable(
        (answers[0], answers[1]), float(law.scale), "gaussian" if isinstance(law, Gaussian) else "laplace"
    )


def leave_in_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: noise in doubles, released as they are."""
    for room in ("dpcheck.solver", "dpcheck.families.precision_matrices"):
        monkeypatch.setattr(f"{room}.on_grid", lambda w, noise, data: w)
    monkeypatch.setattr(NoisyAnswers, "lattice", property(lambda self: 0.0, lambda self, value: None), raising=False)


@pytest.mark.parametrize(("solver", "guarantee"), TO_INVERT, ids=lambda x: getattr(x, "name", str(x)))
@pytest.mark.parametrize("naive", [False, True])
def test_no_output_is_out_of_reach_of_a_neighbour(
    solver: Solver, guarantee: Any, naive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the same noise in doubles, released as they are; one of the two attacks finds it."""
    as_asked(monkeypatch, type(solver))
    if naive:
        leave_in_doubles(monkeypatch)
    found = [
        flagged(solver.mechanism(guarantee), pair, guarantee, attack, trials=40_000)
        for pair in pairs_of(solver)
        for attack in ("bits", attainable(solver, pair, guarantee))
    ]
    assert any(found) == naive


@pytest.mark.parametrize(("solver", "guarantee"), OTHERS, ids=lambda x: getattr(x, "name", str(x)))
@pytest.mark.parametrize("naive", [False, True])
def test_noise_that_no_attack_inverts_is_rounded_all_the_same(
    solver: Solver, guarantee: Any, naive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wishart noise has no inverse in one coordinate: outputs are whole multiples of a billionth of its scale."""
    as_asked(monkeypatch, type(solver))
    if naive:
        leave_in_doubles(monkeypatch)
    step = math.ldexp(1.0, math.frexp(float(law_of(solver, guarantee).scale))[1] - GRID_BITS)
    outputs = solver.mechanism(guarantee)(solver.worst_pair()[0], np.random.default_rng(0), 100) / step
    assert np.array_equal(outputs, np.rint(outputs)) != naive


def test_mechanisms_of_one_answer_are_attacked_under_both_kinds_of_guarantee() -> None:
    found = {(solver.name, type(guarantee)) for solver, guarantee in ONE_ANSWERS}
    assert found >= {("laplace", PureDP), ("gaussian", ApproxDP), ("outpert_gd", PureDP), ("outpert_gd", ApproxDP)}


def outcome(solver: Solver, data: Any, guarantee: Any) -> Any:
    """The noise of a calibration, or what is said where it is refused."""
    try:
        return solver.calibrated(data, guarantee).noise_std
    except InvalidInput as refused:
        return str(refused)


def in_unit(data: Problem, unit: float) -> Problem:
    """Rows in another unit; settings of the example stay in the old one."""
    return replace(data, X=np.asarray(data.X) * unit, row_bound=data.row_bound * unit, l2=data.l2 * unit**2)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("unit", [2.0**-300, 2.0**-100, 2.0**100, 2.0**300])
def test_neighbours_are_refused_or_calibrated_alike_in_any_unit(name: str, unit: float) -> None:
    """Whatever is refused is refused for public reasons: noise and words are the same for all records."""
    solver, data, guarantee = subject(name)
    pair = solver.worst_pair()
    if isinstance(data, Problem):
        pair = tuple(in_unit(one, unit) for one in pair)
    first, second = (outcome(solver, one, guarantee) for one in pair)
    assert first == second
    assert isinstance(first, str) or 0 < first < np.inf


@pytest.mark.parametrize("name", SOLVERS)
def test_runs_end_alike_on_neighbours_in_any_unit(name: str) -> None:
    """No iterate overflows on one of two neighbours only."""
    solver, data, guarantee = subject(name)
    for unit in (2.0**-300, 2.0**300) if isinstance(data, Problem) else (1.0,):
        ends = []
        for one in solver.worst_pair():
            scaled = in_unit(one, unit) if isinstance(one, Problem) else one
            try:
                ends.append(bool(np.isfinite(solver.solve(scaled, guarantee, trials=20).w).all()))
            except InvalidInput as refused:
                ends.append(refused.what)
        assert ends[0] == ends[1]


FAR, WORD = 7777700000.0, "a secret"  # beyond any bound of these subjects; its digits survive every format


def must_not_quote(refused_call: Callable[[], object]) -> None:
    """It is refused, and neither the message nor what it was raised from has the value."""
    with pytest.raises(InvalidInput) as refused:
        refused_call()
    told = "".join(traceback.format_exception(refused.value)) + repr(vars(refused.value))
    assert "77777" not in told.replace(".", "")
    assert WORD not in told
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


@pytest.mark.parametrize("said", [FAR, str(FAR), f"{FAR:g}", f"{FAR:.4e}", WORD, np.array([FAR])])
def test_a_quoted_value_is_noticed(said: Any) -> None:
    """Seen: a secret in digits that a double rounds away, so that quoting it went unnoticed."""

    def quoting() -> None:
        raise InvalidInput("record", said, "a number in [-1, 1]", "Clip it.")

    with pytest.raises(AssertionError):
        must_not_quote(quoting)


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_refused_is_not_quoted(name: str) -> None:
    """A record that a Problem or a protocol refuses is named by its place; settings and bounds alone are shown."""
    solver, data, guarantee = subject(name)
    bad_numbers = [*([] if solver.any_size else [FAR]), *([] if solver.may_be_missing else [np.nan])]
    if isinstance(data, np.ndarray):
        for value in bad_numbers:
            bad = np.array(data, float)
            bad.flat[0] = value
            must_not_quote(lambda bad=bad: solver.solve(bad, guarantee))
        must_not_quote(lambda: solver.solve(np.full(np.shape(data), WORD), guarantee))
        return
    if isinstance(data, GridLosses):
        for value in (FAR, np.nan, WORD):
            bad = np.full(data.records.shape, value, dtype=object if value == WORD else float)
            must_not_quote(lambda bad=bad: solver.solve(replace(data, records=bad), guarantee))
        return
    if isinstance(data, SignedMixture):
        for value in (np.nan, WORD):
            bad = np.full(data.Y.shape, value, dtype=object)
            must_not_quote(lambda bad=bad: solver.solve(replace(data, Y=bad), guarantee))
        return
    rows, labels = np.array(data.X), np.array(data.y)
    rows[0, 0] = FAR
    bad_rows = [rows, np.where(rows == rows[0, 0], np.nan, rows), [[WORD] * data.X.shape[1]] * data.n]
    bounded = isinstance(data, Problem | PairProblem)
    bad_rows = bad_rows if bounded else bad_rows[1:]  # rows that are public may be of any size
    labels[0] = FAR
    bad_labels = [labels, [WORD] * data.n, np.full(data.n, np.nan)]
    bad_labels = bad_labels[1:] if solver.any_size else bad_labels
    for X, y in [*((X, data.y) for X in bad_rows), *((data.X, y) for y in bad_labels)]:
        must_not_quote(lambda X=X, y=y: solver.solve(replace(data, X=X, y=y), guarantee))


# Estimators ------------------------------------------------------------------------------------------
X, Y = np.vstack([np.eye(3)] * 8), np.arange(24) % 2


def has_pure_solver(model: Any) -> bool:
    """Over an l2 ball only where the loss has a bounded slope everywhere: output perturbation does not project."""
    return bool(model.ball == "l1" or np.isfinite(model._loss().derivative_bound(np.inf, 1.0)))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("delta", [1e-5, 0.0])
def test_models_keep_nothing_that_gives_their_noise_back(name: str, delta: float) -> None:
    """Copies of one fitted model: a generator that was kept would give all of them the same fit."""
    model = estimator(name, delta=delta)
    if delta == 0 and not has_pure_solver(model):
        with pytest.raises(InvalidInput, match="no bounded gradient"):
            model.fit(X, Y)
        return
    model.fit(X, Y)
    assert model.caveats_ == ()
    for copied in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        found = [copied(model).fit(X, Y).coef_ for _ in range(12)]
        assert len({one.tobytes() for one in found}) > 1
    assert not any(isinstance(value, np.random.Generator) for value in vars(model).values())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_record_is_named_or_stops_a_fit(name: str) -> None:
    for bad in (np.nan, np.inf, 1e300, "a secret", None):
        for place in ("row", "label"):
            rows, labels = X.astype(object), Y.astype(object)
            if place == "row":
                rows[0, 0] = bad
            else:
                labels[0] = bad
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                estimator(name).fit(rows, labels)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("unit", [1e-100, 7e-44, 1.0, 1e41, 1e100])
def test_fits_leak_no_more_in_any_unit(name: str, unit: float) -> None:
    """One record of six turned round, or all zero but one; whole fits attacked, and their low bits."""
    rows, labels = np.full((6, 1), unit), np.ones(6, int)
    other, zero, one = rows.copy(), np.zeros((6, 1)), np.zeros((6, 1))
    other[0], one[0] = -unit, unit
    model = estimator(name, data_norm=unit, fit_intercept=False, delta=1e-2)
    for attack, first, second in (("auto", rows, other), ("bits", zero, one)):
        assert not flagged(model.mechanism(), ((first, labels), (second, labels)), model.guarantee(), attack)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if has_pure_solver(estimator(name))])
def test_pure_fits_have_no_bits(name: str) -> None:
    zero, one, labels = np.zeros((6, 1)), np.zeros((6, 1)), np.ones(6, int)
    one[0] = 1.0
    model = estimator(name, fit_intercept=False, delta=0.0)
    assert not flagged(model.mechanism(), ((zero, labels), (one, labels)), model.guarantee(), "bits")
